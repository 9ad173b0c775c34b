"""This file checks a SQLite store: damage, reports without a batch's word, tallies that are not their sum.

It reads cell by cell, each as of one moment, so that a long check holds up neither writers nor the log.
"""

import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import closing

import numpy as np

from hubbub.tally import Tally
from hubbub_server.store.cells import MOST_CELLS, number_of, span_of
from hubbub_server.store.records import AddUp, Fault
from hubbub_server.store.sqlite.database import Database
from hubbub_server.store.sums import tally_of

_TOGETHER = 2**23  # bytes of reports that are added up at once
_CELL = "SELECT metric, period, n, sums, unfolded, raw FROM cell WHERE number = ?"
_STRAYS = """SELECT count(*) FROM reports WHERE key BETWEEN ? AND ?
    AND NOT EXISTS (SELECT 1 FROM cell WHERE number = key >> 36)"""
_BATCHES = "SELECT id_hash, keys FROM batch WHERE id_hash > ? AND state = 'kept' ORDER BY id_hash LIMIT 1000"


def faults(database: Database, add_up: AddUp) -> Iterator[Fault]:
    """Yield what is wrong.

    Raises StorageError if the file can't be read at all.
    """
    with database.reading() as connection:
        found = [text for (text,) in connection.execute("PRAGMA integrity_check") if text != "ok"]
        numbers = [number for (number,) in connection.execute("SELECT number FROM cell ORDER BY number")]
    yield from (Fault("file", text) for text in found)
    last = -1
    for number in numbers:
        with database.reading() as connection:
            connection.execute("BEGIN")
            yield from _of_gap(connection, last, number)
            try:
                yield from _of_cell(connection, number, add_up)
            except ValueError:
                yield Fault(f"cell {number}", "its reports or sums can't be read")
            connection.execute("COMMIT")
        last = number
    with database.reading() as connection:
        yield from _of_gap(connection, last, MOST_CELLS)
    yield from _of_batches(database)


def skim(database: Database, seconds: float) -> bool | None:
    """Tell whether the file is whole, but for its indices; None if that was not found out in time.

    Raises StorageError if it can't be read.
    """
    end = time.monotonic() + seconds
    with database.reading() as connection:
        connection.set_progress_handler(lambda: time.monotonic() > end, 1000)
        try:
            return connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            return None
        finally:
            connection.set_progress_handler(None, 0)


def _of_gap(connection: sqlite3.Connection, last: int, number: int) -> Iterator[Fault]:
    """Look for reports between two cells that followed each other, and those of no new cell."""
    between = (span_of(last)[1] + 1, span_of(number)[0] - 1)
    (count,) = connection.execute(_STRAYS, between).fetchone()
    if count:
        yield Fault("reports", f"{count:,} rows belong to no metric and period")


def _of_cell(connection: sqlite3.Connection, number: int, add_up: AddUp) -> Iterator[Fault]:
    row = connection.execute(_CELL, (number,)).fetchone()
    if row is None:  # all of it was withdrawn meanwhile
        return
    metric, period, n, sums, unfolded, raw = row
    place = f"metric {metric.hex()[:16]} period {period}"
    folded = connection.execute("SELECT n, sums FROM folded WHERE cell = ?", (number,)).fetchone()
    waiting = _added(connection, number, metric, add_up, only="unfolded")
    whole = _added(connection, number, metric, add_up, only="TRUE")
    if waiting[1] != unfolded:
        yield Fault(place, f"{waiting[1]:,} bytes wait to be added up, {unfolded:,} are noted")
    if raw != "kept":
        return
    kept = tally_of(n, sums) if sums else _plus(folded and tally_of(*folded), waiting[0])
    if (whole[0].n if whole[0] else 0) != n:
        yield Fault(place, f"{whole[0].n if whole[0] else 0:,} reports are kept, the tally counts {n:,}")
    elif kept != whole[0]:
        yield Fault(place, "the tally is not the sum of its reports")


def _added(
    connection: sqlite3.Connection, number: int, metric: bytes, add_up: AddUp, *, only: str
) -> tuple[Tally | None, int]:
    """Add up the raw reports of a cell; return their tally, None without any, and their bytes."""
    total: Tally | None = None
    waiting, size, whole = list[bytes](), 0, 0
    query = f"SELECT bytes FROM reports WHERE {only} AND key BETWEEN ? AND ?"  # noqa: S608 - ours
    with closing(connection.execute(query, span_of(number))) as rows:
        for (reports,) in rows:
            waiting.append(reports)
            size, whole = size + len(reports), whole + len(reports)
            if size >= _TOGETHER:
                total, waiting, size = _plus(total, add_up(metric, b"".join(waiting))), [], 0
    return (_plus(total, add_up(metric, b"".join(waiting))) if waiting else total), whole


def _plus(one: Tally | None, other: Tally | None) -> Tally | None:
    return one + other if one and other else one or other


def _of_batches(database: Database) -> Iterator[Fault]:
    """Look for batches that name reports of another, or reports that should be there and are not."""
    named = bytearray()
    for connection, id_hash, keys in _batches(database):
        missing = sum(not _is_there(connection, key) for key in keys)
        if missing:
            yield Fault(f"batch {id_hash.hex()[:16]}", f"{missing:,} of its reports are missing")
        named += struct.pack(f"<{len(keys)}q", *keys)  # 8 bytes each: a set would take ten times as much
    every = np.sort(np.frombuffer(named, "<i8"))
    twice = set(every[1:][every[1:] == every[:-1]].tolist())
    for _, id_hash, keys in _batches(database) if twice else ():
        if not twice.isdisjoint(keys):
            yield Fault(f"batch {id_hash.hex()[:16]}", "it names reports of another batch")


def _batches(database: Database) -> Iterator[tuple[sqlite3.Connection, bytes, list[int]]]:
    """Yield batches that are kept, with the keys of their reports, a thousand as of one moment."""
    rows: list[tuple[bytes, bytes]] = [(b"", b"")]
    while rows:
        with database.reading() as connection:
            connection.execute("BEGIN")
            rows = connection.execute(_BATCHES, (rows[-1][0],)).fetchall()
            for id_hash, packed in rows:
                keys = struct.unpack(f"<{len(packed) // 8}q", packed)
                yield connection, id_hash, [key for key in keys if key]  # 0: gone before version 4
            connection.execute("COMMIT")


def _is_there(connection: sqlite3.Connection, key: int) -> bool:
    """Whether a row of reports is there, or may be gone by rights."""
    if connection.execute("SELECT 1 FROM reports WHERE key = ?", (key,)).fetchone():
        return True
    raw = connection.execute("SELECT raw FROM cell WHERE number = ?", (number_of(key),)).fetchone()
    return raw is not None and raw[0] != "kept"
