"""This file opens the one SQLite file: a write is one IMMEDIATE transaction."""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from hubbub.errors import BusyError, StorageError, StorageFullError
from hubbub_server.store.sqlite.place import Place
from hubbub_server.store.sqlite.pool import Pool
from hubbub_server.store.tables import Execute

LOCK_WAIT = 10.0  # seconds
LEAST_ROOM = 2**20  # bytes; an I/O error with less room than this means a full disk
CACHE = 2048  # KiB of a connection that reads, of which each thread may have one
WRITERS_CACHE = 16_384  # KiB of one that writes
PAGE = 2048  # bytes, of a new file: larger ones waste up to a fifth on batches of 10 kB
MOST_HELD = 2**14  # bytes of a value that may stay bound
PAGES_OF_LOG = 8000  # 16 MiB: how long the write-ahead log gets before it is emptied
_PRAGMAS = (
    f"page_size = {PAGE}",
    "synchronous = FULL",
    f"wal_autocheckpoint = {PAGES_OF_LOG}",
    "secure_delete = ON",  # a withdrawn report does not linger in free pages
)
_CLOSED = "or its directory can't be written to; both must be writable for the user of the collector"
_DAMAGED = "is damaged; put a backup that is whole in its place: hubbub-server restore FILE"
_MENDS = {
    sqlite3.SQLITE_READONLY: _CLOSED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}

Row = tuple[object, ...]


class Database:
    """A SQLite file in WAL mode with ``synchronous=FULL``.

    It is created if it is missing, readable by its owner only. Raises StorageError if that fails.
    """

    __slots__ = ("_pool", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._pool = Pool(Place(path))
        except OSError as error:
            raise StorageError(
                f"the database {path} can't be opened: {error.strerror}; it must belong to the user of the "
                "collector, who gives every command"
            ) from None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for one or a few SELECTs.

        Raises StorageError if the database fails.
        """
        with self._lent(CACHE) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection inside one transaction: committed and on disk at the end, or undone.

        Raises StorageFullError, BusyError or StorageError.
        """
        with self._lent(WRITERS_CACHE) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.commit()  # which lets others take the interpreter once, and a statement twice

    def select(self, query: str, *values: object) -> list[Any]:
        """Return the rows that a query finds."""
        with self.reading() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def changing(self, *, alone: bool = False) -> Iterator[Execute]:  # noqa: ARG002 - who writes is alone
        """Lend what executes statements in one transaction."""
        with self.writing() as connection:
            yield lambda statement, *values: connection.execute(statement, values)

    def close(self) -> None:
        """Close the connections of this process; the file stays complete without its side files."""
        self._pool.close()

    def use_log(self) -> None:
        """Switch the file to WAL mode, for good.

        Raises StorageError.
        """
        deadline = time.monotonic() + LOCK_WAIT
        while True:  # SQLite does not wait for the lock that this needs
            try:
                with self.reading() as connection:
                    connection.execute("PRAGMA journal_mode = WAL")
                return
            except BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def grow_log(self) -> None:
        """Make the log as long as it gets: commits that overwrite it in place are 10 times faster."""
        with self.reading() as connection:
            connection.execute("PRAGMA cache_size = 10")  # so that the rows spill into the log,
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("CREATE TABLE ballast(bytes)")
            connection.execute("INSERT INTO ballast VALUES (zeroblob(?))", (PAGES_OF_LOG * PAGE,))
            connection.execute("ROLLBACK")  # where they stay as room
            connection.execute(f"PRAGMA cache_size = -{CACHE}")

    def empty_log(self) -> None:
        """Copy the log into the database, as far as readers let it."""
        with self.reading() as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @contextmanager
    def _lent(self, cache: int) -> Iterator[sqlite3.Connection]:
        with _named_errors(self.path), self._pool.lent(cache, self._open) as connection:
            yield connection

    def _open(self, cache: int) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=LOCK_WAIT, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in (f"cache_size = -{cache}", *_PRAGMAS):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("SELECT 1 FROM sqlite_master").fetchall()  # which opens the log
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def write_rows(connection: sqlite3.Connection, verb: str, table: str, rows: Sequence[Row]) -> None:
    """Write rows in one statement; their first column is never NULL.

    verb: INSERT fails if a key is there already, REPLACE puts the new row in its place.
    """
    write(connection, f"{verb} INTO {table} SELECT * FROM (VALUES {{}}) WHERE column1 NOT NULL", rows)  # noqa: S608 - ours


def write(connection: sqlite3.Connection, statement: str, rows: Sequence[Row]) -> None:
    """Run a statement on rows, which take the place of {}; it passes over those whose first column is NULL.

    SQLite holds on to what was bound until something else is: NULLs are, so that large rows leave the memory.
    """
    if rows:
        places, values = padded(rows)
        connection.execute(statement.format(places), values)
        if any(isinstance(value, bytes) and len(value) > MOST_HELD for value in values):
            connection.execute(statement.format(places), [None] * len(values))


def padded(rows: Sequence[Row]) -> tuple[str, list[object]]:
    """Return the places and values of rows, padded with NULLs to a power of two: few statements are compiled.

    >>> padded([(1, 2), (3, 4), (5, 6)])
    ('(?, ?), (?, ?), (?, ?), (?, ?)', [1, 2, 3, 4, 5, 6, None, None])
    """
    size, width = 1 << (len(rows) - 1).bit_length(), len(rows[0])
    place = f"({', '.join('?' * width)})"
    filler = [None] * (width * (size - len(rows)))
    return ", ".join([place] * size), [*chain.from_iterable(rows), *filler]


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise BusyError("another process holds the database; try again") from error
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _room(path) < LEAST_ROOM):
            raise StorageFullError("the disk of the database is full") from error
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        if code in _MENDS:
            raise StorageError(f"the database {path} {_MENDS[code]} ({name})") from error
        raise StorageError(f"the database {path} failed: {name}") from error


def _room(path: Path) -> int:
    return shutil.disk_usage(path.resolve().parent).free
