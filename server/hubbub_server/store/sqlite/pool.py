"""This file shares out the connections to one SQLite file, of which none stays open over a fork.

In WAL mode whoever closes the file and finds no lock of another on it deletes the log, and a child inherits
SQLite's belief that its process has that lock, but never the lock: the log of a child that lives would go.
"""

import os
import sqlite3
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hubbub.errors import StorageError

FORK_WAIT = 5.0  # seconds that a fork waits for what is lent


class Pool:
    """The connections of one process."""

    __slots__ = ("__weakref__", "_idle", "_lent", "_open", "_path", "_process", "_sides", "_turn")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle = deque[sqlite3.Connection]()
        self._lent = 0  # some of which may not be open yet
        self._open = 0
        self._sides: tuple[object, ...] = ()  # which files log and index are, while a connection is open
        self._process = os.getpid()
        self._turn = threading.Condition()
        _around_forks(self)

    @contextmanager
    def lent(self, open_one: Callable[[], sqlite3.Connection]) -> Iterator[sqlite3.Connection]:
        """Lend a connection; it is closed if anything is raised, which undoes what was begun.

        open_one: gives a new one, which has read something.

        Raises StorageError if what was written may be lost.
        """
        connection, is_clean = self._take(), True
        try:
            if connection is None:
                connection = self._opened(open_one)
            self._check_sides()
            is_clean = False
            yield connection
            is_clean = True
            self._check_sides()
        finally:
            if not is_clean and connection is not None and self._process == os.getpid():
                self._close(connection)
                connection = None
            self._give_back(connection)

    def close(self) -> None:
        """Close what is idle in this process; the file is complete without its side files then."""
        with self._turn:
            while self._idle and self._process == os.getpid():
                self._close(self._idle.pop())

    def before_fork(self) -> None:
        """Wait for what is lent, shortly, and close all; nothing is lent until the fork is done."""
        self._turn.acquire()
        self._turn.wait_for(lambda: not self._lent, FORK_WAIT)
        self.close()

    def after_fork_in_parent(self) -> None:
        """Lend again."""
        with suppress(RuntimeError):  # if this was made while the fork waited
            self._turn.release()

    def after_fork_in_child(self) -> None:
        """Lend again, by a lock that no thread of the parent holds."""
        self._turn = threading.Condition()

    def _take(self) -> sqlite3.Connection | None:
        """Count one as lent, and return it if one is idle."""
        with self._turn:
            if self._process != os.getpid():
                if self._lent or self._idle:
                    raise StorageError(
                        f"the database {self._path} was in use while this process was forked; open it after"
                    )
                self._process, self._open, self._sides = os.getpid(), 0, ()
            self._lent += 1
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: sqlite3.Connection | None) -> None:
        with self._turn:
            self._lent -= 1
            if connection:
                self._idle.append(connection)
            self._turn.notify_all()

    def _opened(self, open_one: Callable[[], sqlite3.Connection]) -> sqlite3.Connection:
        connection = open_one()
        with self._turn:
            self._open += 1
        return connection

    def _close(self, connection: sqlite3.Connection) -> None:
        """Close one; the last takes log and index along, and whoever opens another makes new ones."""
        with self._turn:
            connection.close()
            self._open -= 1
            if not self._open:
                self._sides = ()

    def _check_sides(self) -> None:
        """Raise StorageError if the log or its index is another file by now than SQLite has open."""
        now = tuple(_identity(f"{self._path}{end}") for end in ("-wal", "-shm"))
        if not self._sides and all(now):
            with self._turn:
                self._sides = self._sides or now
        if self._sides and self._sides != now:
            raise StorageError(
                f"the log {self._path}-wal or its index {self._path}-shm was moved, deleted or replaced; "
                "stop every process that has the database open, then start the collector again"
            )


def _identity(path: str) -> tuple[int, int] | None:
    with suppress(OSError):
        found = os.stat(path)  # noqa: PTH116 - twice for each request
        return found.st_dev, found.st_ino
    return None


def _around_forks(pool: Pool) -> None:
    """Have the methods of a pool called around each fork, for as long as it lives."""
    if not hasattr(os, "register_at_fork"):
        return
    reference = weakref.ref(pool)

    def call(act: Callable[[Pool], None]) -> None:
        alive = reference()
        if alive is not None:
            act(alive)

    os.register_at_fork(
        before=lambda: call(Pool.before_fork),
        after_in_parent=lambda: call(Pool.after_fork_in_parent),
        after_in_child=lambda: call(Pool.after_fork_in_child),
    )
