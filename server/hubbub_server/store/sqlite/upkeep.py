"""This file keeps a SQLite store small, quick and whole."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkstemp

from hubbub.errors import StorageError, StorageFullError
from hubbub_server.store.cells import span_of
from hubbub_server.store.records import MISSING, AddUp, Fault, Usage
from hubbub_server.store.sqlite import checking
from hubbub_server.store.sqlite.database import Database
from hubbub_server.store.sqlite.presence import Presence
from hubbub_server.store.sqlite.rows import SqliteRows

FOLDED_FROM = 2**20  # bytes of reports of a cell: fewer are quicker read than their sums written
FOLDED_AT_ONCE = 2**23  # bytes of reports
ROWS_AT_ONCE = 10_000  # that are deleted in one transaction
BYTES_AT_ONCE = 2**24  # of them, or one row: each goes through the log

_FORGET = """DELETE FROM batch WHERE id_hash IN (
    SELECT id_hash FROM batch INDEXED BY batch_by_day WHERE forget_after < ? LIMIT ?)"""
_MOST_UNFOLDED = """SELECT number, metric FROM cell INDEXED BY cell_unfolded
    WHERE unfolded AND unfolded >= ? ORDER BY unfolded DESC LIMIT 1"""
_UNFOLDED = """SELECT key, bytes FROM reports INDEXED BY reports_unfolded
    WHERE unfolded AND key BETWEEN ? AND ?"""
_ENDED = """SELECT number, metric, unfolded FROM cell INDEXED BY cell_by_end
    WHERE raw != 'gone' AND ends < ? LIMIT 1"""
_PROBE = "INSERT INTO noted VALUES ('probe', 1) ON CONFLICT DO UPDATE SET value = 1 - value"
_DELETE = """DELETE FROM reports WHERE key IN (
    SELECT key FROM (SELECT key, sum(size) OVER (ORDER BY key) - size AS before FROM (
        SELECT key, length(bytes) AS size FROM reports WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?
    )) WHERE before < ?)"""
_SHORTEN = "PRAGMA wal_checkpoint(TRUNCATE)"  # the log, once all of it is in the database
_LEFT = "SELECT iif(EXISTS (SELECT 1 FROM reports WHERE key BETWEEN ? AND ?), 'going', 'gone')"


class SqliteUpkeep:
    """The ``Upkeep`` of one SQLite file."""

    __slots__ = ("_database", "_presence")

    def __init__(self, database: Database) -> None:
        self._database = database
        path = database.path.resolve()
        self._presence = Presence(path.with_name(f"{path.name}-servers"))

    def forget(self, today: int) -> bool:
        """Forget some of the ids whose day has passed, and empty the log."""
        with self._database.writing() as connection:
            forgotten = connection.execute(_FORGET, (today, ROWS_AT_ONCE)).rowcount
        self._database.empty_log()
        return forgotten == ROWS_AT_ONCE

    def fold(self, add_up: AddUp) -> bool:
        """Add up some of the reports that wait for it, of the cell where most do."""
        with self._database.writing() as connection:
            cell = connection.execute(_MOST_UNFOLDED, (FOLDED_FROM,)).fetchone()
            if cell:
                number, metric = cell
                _fold(connection, number, metric, add_up)
        return cell is not None

    def expire(self, before: int, add_up: AddUp) -> bool:
        """Delete some raw reports of periods that ended before a Unix day, once they are added up."""
        with self._database.writing() as connection:
            cell = connection.execute(_ENDED, (before,)).fetchone()
            if cell is None:
                return False
            number, metric, unfolded = cell
            if unfolded:
                _fold(connection, number, metric, add_up)
                return True
            connection.execute(_DELETE, (*span_of(number), ROWS_AT_ONCE, BYTES_AT_ONCE))
            (state,) = connection.execute(_LEFT, span_of(number)).fetchone()
            connection.execute("UPDATE cell SET raw = ? WHERE number = ?", (state, number))
        return True

    def compact(self) -> None:
        """Write the database anew: SQLite does it in the order of keys, which are random."""
        path = self._database.path.resolve()
        with self._database.reading() as connection:
            connection.execute(_SHORTEN)  # or a log that takes the whole disk could never be emptied
            if shutil.disk_usage(path.parent).free < _size(path):
                raise StorageFullError("the disk of the database has no room for another copy of it")
            try:
                connection.execute("VACUUM")
            finally:
                connection.execute(_SHORTEN)

    def check(self, add_up: AddUp) -> Iterator[Fault]:
        """Yield what is wrong: damage, and tallies that are not the sum of their reports."""
        return checking.faults(self._database, add_up)

    def backup(self, path: Path) -> None:
        """Write a copy of the whole as of one moment, durable and readable by its owner only."""
        try:
            if path.exists():
                raise StorageError(f"the backup {path} exists already")
            file, name = mkstemp(prefix=f"{path.name}.", suffix=".part", dir=path.parent)
            os.close(file)
            part = Path(name)
            try:
                with self._database.reading() as connection:
                    connection.execute("VACUUM INTO ?", (name,))  # which takes an empty file
                _sync(part)
                part.rename(path)  # a backup that was cut off has not this name
                _sync(path.parent)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        except StorageFullError:
            raise StorageFullError(
                f"there is no room for the backup {path} on its disk, or on that of temporary files"
            ) from None
        except OSError as error:
            raise StorageError(f"the backup {path} can't be written: {error.strerror}") from None

    def probe(self) -> None:
        """Write something durably, to see whether it can be done."""
        with self._database.writing() as connection:
            connection.execute(_PROBE)

    def usage(self) -> Usage:
        """Return how much room is taken and left."""
        return usage_of(self._database.path)

    def latest_end(self) -> int | None:
        """Return the Unix day on which the newest period with reports ends."""
        ((latest,),) = self._database.select("SELECT max(ends) FROM cell")
        return None if latest is None else int(latest)

    def oldest_raw(self) -> int | None:
        """Return the Unix day on which the oldest period ended that has raw reports, None without any."""
        ((oldest,),) = self._database.select("SELECT min(ends) FROM cell WHERE raw != 'gone'")
        return None if oldest is None else int(oldest)

    def skim(self, seconds: float) -> bool | None:
        """Tell whether the file is whole, but for its indices; None if that was not found out in time."""
        return checking.skim(self._database, seconds)

    def instances(self) -> int:
        """Return how many processes serve on this store and asked this, which makes a file beside it."""
        return self._presence.count()

    def leave(self) -> None:
        """Be counted no more."""
        self._presence.leave()

    def noted(self, name: str) -> int:
        """Return a number that was noted, 0 if none was."""
        rows = self._database.select("SELECT value FROM noted WHERE name = ?", name)
        return int(rows[0][0]) if rows else 0

    def note(self, name: str, value: int) -> None:
        """Keep a number over restarts."""
        with self._database.writing() as connection:
            connection.execute("REPLACE INTO noted VALUES (?, ?)", (name, value))


def usage_of(path: Path) -> Usage:
    """Return how much room a database takes, and how much is left where it is.

    Raises StorageError.
    """
    path = path.resolve()  # beside which the log is, and whose disk counts
    files = [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))]
    try:
        return Usage(sum(map(_size, files)), shutil.disk_usage(path.parent).free)
    except OSError as error:
        raise StorageError(f"the directory of {path} can't be read: {error.strerror}") from None


def _fold(connection: sqlite3.Connection, number: int, metric: bytes, add_up: AddUp) -> None:
    """Add up some of the unfolded reports of a cell."""
    keys, waiting, size = [], [], 0
    for key, reports in connection.execute(_UNFOLDED, span_of(number)):
        keys.append((key,))
        waiting.append(reports)
        size += len(reports)
        if size >= FOLDED_AT_ONCE:
            break
    if not keys:
        raise StorageError(MISSING)
    SqliteRows(connection).add_to_folded(number, add_up(metric, b"".join(waiting)))
    connection.executemany("UPDATE reports SET unfolded = 0 WHERE key = ?", keys)
    connection.execute("UPDATE cell SET unfolded = unfolded - ? WHERE number = ?", (size, number))


def _size(path: Path) -> int:
    """Return the bytes of a file, which may go at any moment."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
