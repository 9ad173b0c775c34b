"""This file holds the device's one SQLite file, and the only way to change it: an IMMEDIATE transaction.

A rollback journal and FULL synchronisation, since a lost write-ahead log would give spent budget back.
Whatever is wrong with the file, it is refused and kept: a fresh one would be a fresh budget.
"""

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hubbub.errors import BusyError, StorageError
from hubbub_client.forks import around_fork
from hubbub_client.location import DATABASE, MARKER, holds_device, make_private
from hubbub_client.marker import raise_mark, read_mark, write_mark

VERSION = 2
SCHEMA = (
    "CREATE TABLE device (identity BLOB NOT NULL)",
    # One row is one report: its charge, the bytes that leave, and how far they got. No row is ever deleted.
    """CREATE TABLE journal (
        number INTEGER PRIMARY KEY,
        at INTEGER NOT NULL, source TEXT NOT NULL, metric TEXT NOT NULL,
        starts INTEGER NOT NULL, ends INTEGER NOT NULL,
        cost INTEGER NOT NULL CHECK (cost > 0),
        delta INTEGER NOT NULL DEFAULT 0 CHECK (delta >= 0),
        batch BLOB NOT NULL,
        status TEXT NOT NULL DEFAULT 'waiting', code TEXT NOT NULL DEFAULT '',
        due INTEGER NOT NULL, leased INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX charges ON journal (source, at, cost)",
    "CREATE INDEX answers ON journal (metric, ends)",
    "CREATE INDEX waiting ON journal (due) WHERE status = 'waiting'",
    "CREATE TABLE seen (metric BLOB, period INTEGER, PRIMARY KEY (metric, period)) WITHOUT ROWID",
    f"PRAGMA user_version = {VERSION}",
)
_IDENTITY = """SELECT identity, (SELECT ifnull(max(number), 0) FROM journal), user_version
    FROM device, pragma_user_version"""


@dataclass(frozen=True, slots=True)
class _Opened:
    """A connection, and what closes it, at the latest at exit."""

    connection: sqlite3.Connection
    close: "weakref.finalize[..., Device]"


class Device:
    """The files of one device; shared by threads, safe beside other processes and across forks.

    lock_wait: seconds to wait for another thread or process.
    """

    def __init__(self, directory: Path, *, lock_wait: float = 0.25) -> None:
        self.directory, self._path, self._lock_wait = directory, directory / DATABASE, lock_wait
        self._lock = threading.RLock()
        self._opened: _Opened | None = None
        around_fork(self, before=Device._before_fork, in_parent=Device._in_parent, in_child=Device._in_child)

    @property
    def exists(self) -> bool:
        """Whether this device has ever kept anything."""
        return holds_device(self.directory)

    @contextmanager
    def transaction(self, *, create: bool = True) -> Iterator[sqlite3.Connection]:
        """Run the body as one durable all-or-nothing change.

        create: whether to create the device if there is none.

        Raises BusyError if another holds the lock for too long, and StorageError if the files can't be
        written or trusted.
        """
        with self._held():
            connection = self._connection(create=create)
            with _immediate(connection):
                before = self._charges(connection, may_mark=True)
                yield connection
                (after,) = connection.execute("SELECT ifnull(max(number), 0) FROM journal").fetchone()
            if after > before:
                with suppress(OSError, sqlite3.Error, StorageError), _immediate(connection):
                    self._charges(connection, may_mark=True)  # or else the next transaction catches up

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Give a connection to read from, or None while there is no device; it creates nothing.

        Raises BusyError and StorageError.
        """
        with self._held():
            connection = self._connection(create=False) if self.exists else None
            if connection is not None:
                self._charges(connection, may_mark=False)
            yield connection

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._lock:
            self._drop()

    @contextmanager
    def _held(self) -> Iterator[None]:
        if not self._lock.acquire(timeout=self._lock_wait):
            raise BusyError(f"another thread holds {self._path}; try again")
        try:
            if self._opened is not None and self._opened.connection.in_transaction:
                raise BusyError("this thread is in the middle of a record; try again")
            yield
        except (sqlite3.Error, OSError) as error:
            if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in (
                sqlite3.SQLITE_BUSY,
                sqlite3.SQLITE_LOCKED,
            ):
                raise BusyError(f"another process holds {self._path}; try again") from error
            self._drop()
            raise StorageError(f"{self._path} can't be used: {error}") from error
        finally:
            self._lock.release()

    def _connection(self, *, create: bool) -> sqlite3.Connection:
        """Return the connection, opened if need be; SQLite itself refuses to write to a moved file."""
        if self._opened is None:
            if not self._path.exists():
                if not create or ((self.directory / MARKER).exists() and not self._path.exists()):
                    raise StorageError(
                        f"{self._path} is missing, though {MARKER} says what it spent; put it back"
                    )
                make_private(self.directory)
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = self._open()
            self._opened = _Opened(connection, weakref.finalize(self, _close, connection, self._lock))
        return self._opened.connection

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=self._lock_wait, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA synchronous = FULL")
            self._create_or_check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _create_or_check(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            connection.execute("BEGIN IMMEDIATE")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                    raise StorageError(f"{self._path} is not a device's database")
                if read_mark(self.directory) is not None:
                    raise StorageError(f"{self._path} is empty, though {MARKER} says what it spent")
                for statement in SCHEMA:
                    connection.execute(statement)
                connection.execute("INSERT INTO device VALUES (?)", (os.urandom(32),))
            connection.execute("COMMIT")
        (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise StorageError(f"{self._path} is damaged; it is kept and nothing is recorded")

    def _charges(self, connection: sqlite3.Connection, *, may_mark: bool) -> int:
        """Count the charges, after making sure that this is the database the marker means.

        may_mark: whether to let the marker catch up, which takes the database's lock.
        """
        row = connection.execute(_IDENTITY).fetchone()
        if row is None:
            raise StorageError(f"{self._path} has lost its identity; it is kept and nothing is recorded")
        identity, charges, version = row
        if version != VERSION:  # by now, though it was right when it was opened
            raise StorageError(f"{self._path} has version {version}, this hubbub knows {VERSION}")
        mark = read_mark(self.directory)
        if mark is None and charges:
            raise StorageError(f"{self.directory / MARKER} is missing; put it back")
        if mark is None and may_mark:
            write_mark(self.directory, identity)
        if mark is not None and (mark.identity != identity or mark.charges > charges):
            raise StorageError(f"{self._path} was replaced or restored: charges are missing in it")
        if may_mark and charges > (mark.charges if mark else 0):
            raise_mark(self.directory, charges)
        return int(charges)

    def _drop(self) -> None:
        if self._opened is not None:
            opened, self._opened = self._opened, None
            opened.close()

    def _before_fork(self) -> None:
        """Wait for the transaction of any thread, and let no connection pass into the child."""
        self._lock.acquire()
        self._drop()

    def _in_parent(self) -> None:
        self._lock.release()

    def _in_child(self) -> None:
        self._lock = threading.RLock()


@contextmanager
def _immediate(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold the database's write lock for the body, and keep all of its changes or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.rollback()
        raise


def _close(connection: sqlite3.Connection, lock: "threading.RLock") -> None:
    """Close a connection, unless another thread is using it even now, while the interpreter exits."""
    if lock.acquire(timeout=0.1):
        connection.close()
        lock.release()
