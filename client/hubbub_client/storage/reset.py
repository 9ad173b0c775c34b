"""This file starts a device's files anew where they can't be used any more, and gives nothing back.

The old database is kept beside the new one. What can be read of it is carried over: the journal, with all
that was spent, and the permanent answers. What only the marker remembers is charged to every source. Then the
device is silent for a whole window, after which nothing that is gone could count any more but for life.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from hubbub.errors import BusyError, StorageError
from hubbub_client.location import DATABASE, ENDINGS, MARKER, in_the_way, make_private
from hubbub_client.storage import chain, provenance, schema
from hubbub_client.storage.chain import Row
from hubbub_client.storage.marker import Mark, read_mark, write_mark

_NOTHING = Mark(0, 0, 0, 0, b"")  # what a marker remembers that is missing, or can't be read
_ABOUT = "SELECT secret, marker FROM device"
_ROWS = """SELECT at, source, metric, starts, ends, cost, delta, batch, due, status, code, leased
    FROM journal ORDER BY number"""
_GO_ON = (
    "UPDATE journal SET status = ?, code = ?, leased = ? WHERE number = (SELECT max(number) FROM journal)"
)
_TYPES = (int, str, str, int, int, int, int, bytes, int, str, str, int)
_MEMOS = "SELECT number, metric, state, memo FROM memo"
_QUERIES = {"device": _ABOUT, "journal": _ROWS, "memo": _MEMOS}
_KEEP = "INSERT INTO memo (number, metric, state, memo) VALUES (?, ?, ?, ?)"
_BESIDE = ENDINGS[1:]  # the old one's journal would be rolled back into the new one


@dataclass(frozen=True, slots=True)
class _Carried:
    """What could be read of an old database, as rows of its tables."""

    secret: bytes | None
    marker_dir: str
    rows: list[Any]
    memos: list[Any]


def reset(directory: Path, *, now: int, marker_dir: Path | None = None, patience: float = 5.0) -> Path | None:
    """Put a new database in the place of a device's, and return where the old one is kept, if there was one.

    now: Unix time, at which the device's time goes on. marker_dir: where the marker is, if not where the old
    database says, nor beside it. patience: seconds to wait for the app.

    Raises StorageError if there is no device, or no room for another, BusyError if an app holds it, OSError
    if it can't write.
    """
    try:
        return _reset(directory, now=now, marker_dir=marker_dir, patience=patience)
    except sqlite3.Error as error:
        raise StorageError(f"{directory} can't be reset: {error}") from error


def _reset(directory: Path, *, now: int, marker_dir: Path | None, patience: float) -> Path | None:
    database, draft = directory / DATABASE, directory / f"{DATABASE}.new"
    with _held(database, patience) as old:
        carried = _read(old, marker_dir)
        marker = Path(carried.marker_dir or directory) / MARKER
        if not database.exists() and not marker.exists():
            raise StorageError(f"there is no device in {directory}")
        make_private(directory)
        for ending in ENDINGS:
            _named(draft, ending).unlink(missing_ok=True)
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        remembered = _remembered(marker)
        is_certain = _is_certain(old, remembered)
        with closing(sqlite3.connect(draft, isolation_level=None)) as new:
            _fill(new, carried, remembered or _NOTHING, now, is_certain=is_certain)
            mark = provenance.mark_of(new, provenance.file_number(draft))
        kept = _put_aside(database, now)
        draft.replace(database)
        write_mark(marker, mark)
    return kept


@contextmanager
def _held(database: Path, patience: float) -> Iterator[sqlite3.Connection | None]:
    """Hold the old database's write lock, if it is a database at all that can be opened without harm."""
    if not database.exists() or in_the_way(database.parent):
        yield None
        return
    with closing(sqlite3.connect(database, timeout=patience, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise BusyError(f"an app holds {database}; close it and try again") from error
            yield None
        else:
            yield connection


def _read(old: sqlite3.Connection | None, marker_dir: Path | None) -> _Carried:
    """Read what can be read; memos all or none, since one that is missing would be drawn unpaid."""
    (about, _), (rows, _), (memos, is_whole) = (_rows(old, table, query) for table, query in _QUERIES.items())
    secret, stored = about[0] if about else (None, "")
    is_known = is_whole and secret is not None
    return _Carried(secret, str(marker_dir or stored), rows, memos if is_known else [])


def _rows(old: sqlite3.Connection | None, table: str, query: str) -> tuple[list[Any], bool]:
    """Return rows up to the first that can't be read, and whether those are all."""
    rows: list[Any] = []
    with suppress(sqlite3.Error):
        if old is not None and schema.has(old, table):
            rows.extend(old.execute(query))
            return rows, True
    return rows, False


def _remembered(marker: Path) -> Mark | None:
    with suppress(OSError):
        return read_mark(marker)
    return None


def _is_certain(old: sqlite3.Connection | None, mark: Mark | None) -> bool:
    """Tell whether an old journal has every row as it was written, and the marker knows of no other."""
    with suppress(sqlite3.Error):
        return (
            old is not None
            and schema.is_sound(old)
            and chain.link_at(old, 0) is not None
            and chain.is_whole(old)
            and not provenance.doubt(old, mark, 0)
        )
    return False


def _fill(new: sqlite3.Connection, carried: _Carried, mark: Mark, now: int, *, is_certain: bool) -> None:
    new.execute("BEGIN IMMEDIATE")
    schema.create(new, secret=carried.secret)
    new.execute("UPDATE device SET marker = ?", (carried.marker_dir,))
    for row in carried.rows:
        if all(isinstance(value, kind) for value, kind in zip(row, _TYPES, strict=True)):
            _carry(new, row, now)
        else:  # whose it was is not known
            cost, delta = (max(amount, 0) if isinstance(amount, int) else 0 for amount in (row[5], row[7]))
            chain.append(new, Row(at=now, cost=cost, delta=delta, note=provenance.LOST))
    new.executemany(_KEEP, carried.memos)
    provenance.charge_missing(new, mark, now, is_certain=is_certain)
    chain.append(new, Row(at=now, note="reset"))
    new.execute("COMMIT")


def _carry(new: sqlite3.Connection, row: Any, now: int) -> None:
    """Add a row of the old journal; one from the future, of a clock that was wrong, counts from now on."""
    at, source, metric, starts, ends, cost, delta, batch, due, status, code, leased = row
    note = code if status == "note" else ""
    fixed = Row(
        at=min(at, now),
        source=source,
        metric=metric,
        starts=starts,
        ends=ends,
        cost=max(cost, 0),
        delta=max(delta, 0),
        batch=batch,
        due=due,
        note=note,
    )
    chain.append(new, fixed)
    if not note:
        new.execute(_GO_ON, (status, code, leased))


def _put_aside(database: Path, now: int) -> Path | None:
    """Give the old database a second name, and what is beside it another one, and return the name.

    So there is a database under its own name at any moment, old or new.
    """
    if not database.exists():
        return None
    names = (database.with_name(f"{database.name}.kept-{now}{'-again' * turn}") for turn in count())
    kept = next(name for name in names if not name.exists())
    for ending in _BESIDE:
        with suppress(FileNotFoundError):
            _named(database, ending).rename(_named(kept, ending))
    try:
        os.link(database, kept)
    except OSError:  # a file system without second names
        database.rename(kept)
    return kept


def _named(database: Path, ending: str) -> Path:
    return database.with_name(database.name + ending)
