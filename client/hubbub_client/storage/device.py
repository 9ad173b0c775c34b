"""This file holds the device's one SQLite file, and the only way to change it: an IMMEDIATE transaction.

A rollback journal and FULL synchronisation, since a lost write-ahead log would give spent budget back.
Whatever is wrong with the file, it is refused and kept: a fresh one would be a fresh budget.
"""

import os
import shlex
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from hubbub.errors import BusyError, StorageError
from hubbub.spending import WINDOW
from hubbub_client.holding import holding, is_held_here
from hubbub_client.last_moment import LAST_WAIT
from hubbub_client.location import DATABASE, MARKER, holds_device, in_the_way, make_private
from hubbub_client.storage import chain, ledger, provenance, schema
from hubbub_client.storage.marker import Mark, read_mark, write_mark
from hubbub_client.storage.transaction import immediately

T = TypeVar("T")
_MARKER = "UPDATE device SET marker = :marker WHERE marker != :marker"


@dataclass(frozen=True, slots=True)
class _Opened:
    """A connection, the number of its file, and what closes it at the latest when its device is forgotten."""

    connection: sqlite3.Connection
    file: int
    marker_dir: Path | None  # as the database says
    close: "weakref.finalize[..., Device]"


class Device:
    """The files of one device, for any threads and processes, and across the forks that it is told of.

    lock_wait: seconds to wait for another thread or process. clock: Unix time. marker_dir: where the marker
    is kept, if not where it was, nor beside the database. lock: held by whichever thread uses the connection.
    """

    def __init__(
        self,
        directory: Path,
        *,
        lock_wait: float = 0.25,
        clock: Callable[[], float] = time.time,
        marker_dir: Path | None = None,
    ) -> None:
        self.directory, self._path, self._lock_wait = directory, directory / DATABASE, lock_wait
        self._clock, self._marker_dir = clock, marker_dir
        self.lock = threading.RLock()
        self._opened: _Opened | None = None
        self._inherited: _Opened | None = None

    @property
    def exists(self) -> bool:
        """Whether this device has ever kept anything."""
        return holds_device(self.directory) or self.marker.exists()

    @property
    def marker(self) -> Path:
        """The marker: where we were told, or where the database says, or beside it."""
        stored = self._opened.marker_dir if self._opened is not None else None
        return (self._marker_dir or stored or self.directory) / MARKER

    @property
    def _file(self) -> int:
        """The number of the file that is at this device's place now; 0 for none."""
        with suppress(OSError):
            return provenance.file_number(self._path)
        return 0

    @property
    def _way_out(self) -> str:
        elsewhere = self.marker.parent
        told = "" if elsewhere == self.directory else f" --marker-dir {shlex.quote(str(elsewhere))}"
        return f"put it back, or run: hubbub-client --data-dir {shlex.quote(str(self.directory))} reset{told}"

    def transact(self, act: Callable[[sqlite3.Connection], T], *, create: bool = True) -> T:
        """Do something as one durable all-or-nothing change, and return what it returns.

        create: whether to create the device if there is none.

        Raises BusyError if another holds the lock for too long, and StorageError if the files can't be
        written or trusted.
        """
        return self._held(lambda: self._transacted(act, create=create))

    def read(self, act: Callable[[sqlite3.Connection | None], T]) -> T:
        """Read from a connection, or from None while there is no device; it creates nothing.

        Raises BusyError and StorageError.
        """
        return self._held(lambda: act(self._trustworthy()))

    def close(self, seconds: float = LAST_WAIT) -> None:
        """Close the connection, unless a thread uses it for so long; the next use opens it again."""
        with suppress(BusyError):
            holding(self.lock, self.drop, seconds=seconds, busy="another thread uses it")

    def _held(self, act: Callable[[], T]) -> T:
        if is_held_here(self.lock):
            raise BusyError("this thread is in the middle of a record; try again")
        busy = f"another thread holds {self._path}; try again"
        return holding(self.lock, lambda: self._told(act), seconds=self._lock_wait, busy=busy)

    def _told(self, act: Callable[[], T]) -> T:
        """Do something, and tell in words of ours what is wrong with the files."""
        try:
            return act()
        except (sqlite3.Error, OSError) as error:
            if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in (
                sqlite3.SQLITE_BUSY,
                sqlite3.SQLITE_LOCKED,
            ):
                raise BusyError(f"another process holds {self._path}; try again") from error
            self.drop()
            raise StorageError(f"{self._path} can't be used: {error}") from error

    def _transacted(self, act: Callable[[sqlite3.Connection], T], *, create: bool) -> T:
        connection = self._connection(create=create)

        def work() -> tuple[T, Mark | None, Mark]:
            mark = self._trusted(connection)
            return act(connection), mark, self._mark(connection)

        done, mark, after = immediately(connection, work)
        if after != mark:
            with suppress(OSError, sqlite3.Error):  # or else the next one does
                immediately(connection, lambda: write_mark(self.marker, self._mark(connection)))
        return done

    def _trustworthy(self) -> sqlite3.Connection | None:
        connection = self._connection(create=False) if self.exists else None
        if connection is not None:
            self._check(connection, read_mark(self.marker))
        return connection

    def _mark(self, connection: sqlite3.Connection) -> Mark:
        return provenance.mark_of(connection, provenance.file_number(self._path))

    def _connection(self, *, create: bool) -> sqlite3.Connection:
        """Return the connection, opened if need be: anew where a reset or a copy put another file here."""
        stranger = in_the_way(self.directory)  # at each transaction, since SQLite looks for its journal then
        if stranger:
            raise StorageError(stranger)
        if self._opened is not None and self._opened.file != self._file:
            self.drop()
        if self._opened is None:
            if not self._path.exists():
                if not create or (self.marker.exists() and not self._path.exists()):
                    raise StorageError(
                        f"{self._path} is missing, though {self.marker} is there; {self._way_out}"
                    )
                make_private(self.directory)
                make_private(self.marker.parent)
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            self._opened = self._open()
        return self._opened.connection

    def _open(self) -> _Opened:
        connection = sqlite3.connect(
            self._path, timeout=self._lock_wait, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA synchronous = FULL")
            self._create_or_check(connection)
            row = connection.execute("SELECT marker FROM device").fetchone()
        except BaseException:
            connection.close()
            raise
        place, file = Path(row[0]) if row and row[0] else None, self._file
        close = weakref.finalize(self, connection.close)
        close.atexit = False  # a thread may still be at work then
        return _Opened(connection, file, place, close)

    def _create_or_check(self, connection: sqlite3.Connection) -> None:
        """Make the tables in a new file, or read the whole file once, for whether it can be trusted."""
        if schema.version_of(connection) == 0:
            immediately(connection, lambda: self._create(connection))
        schema.check_version(connection, self._path)
        if not (schema.is_sound(connection) and chain.is_whole(connection)):
            raise StorageError(f"{self._path} is damaged and kept; {self._way_out}")

    def _create(self, connection: sqlite3.Connection) -> None:
        if schema.version_of(connection) == 0:  # or another process was quicker
            if self.marker.exists():
                raise StorageError(f"{self._path} is empty, though {self.marker} is there; {self._way_out}")
            schema.create(connection)

    def _trusted(self, connection: sqlite3.Connection) -> Mark | None:
        """Return what the marker says, if this is its database; otherwise settle it, and return None."""
        mark = read_mark(self.marker)
        happened = self._check(connection, mark, raises=False)
        if happened:
            provenance.settle(connection, happened, mark, ledger.latest(connection, self._clock()))
            return None
        if mark is None or mark.generation < chain.head(connection)[0]:  # at most one row is ahead of it
            write_mark(self.marker, self._mark(connection))
        if self._marker_dir is not None:
            connection.execute(_MARKER, {"marker": str(self._marker_dir)})
        return mark

    def _check(self, connection: sqlite3.Connection, mark: Mark | None, *, raises: bool = True) -> str:
        """Say what happened to the database since the marker was read, or raise if told to.

        The marker is read first, since another process may commit in between.
        """
        if connection.execute("SELECT identity FROM device").fetchone() is None:
            raise StorageError(f"{self._path} has lost its identity and is kept; {self._way_out}")
        schema.check_version(connection, self._path)  # once more: it was right when it was opened
        happened = provenance.doubt(connection, mark, provenance.file_number(self._path))
        if happened and raises:
            reason = provenance.REASONS[happened]
            raise StorageError(
                f"{self._path}: {reason}; from the next record on it is silent for {WINDOW} days"
            )
        return happened

    def drop(self) -> None:
        """Close the connection, whose lock this thread holds."""
        if self._opened is not None:
            opened, self._opened = self._opened, None
            opened.close()

    def in_child(self) -> None:
        """Start anew after a fork; a connection that came along is the parent's, and never closed here."""
        self.lock = threading.RLock()
        if self._opened is not None:
            self._opened.close.detach()
            self._inherited, self._opened = self._opened, None
