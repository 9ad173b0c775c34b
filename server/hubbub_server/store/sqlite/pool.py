"""This file shares out the connections to one SQLite file, of which none stays open over a fork.

In WAL mode whoever closes the file and finds no lock of another on it deletes the log, and a child inherits
SQLite's belief that its process has that lock, but never the lock: the log of a child that lives would go.
"""

import os
import sqlite3
import threading
import weakref
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from hubbub.errors import StorageError
from hubbub_server.store.sqlite.place import Place

OpenOne = Callable[[int], sqlite3.Connection]
FORK_WAIT = 5.0  # seconds that a fork waits for what is lent


class Pool:
    """The connections of one process, kept apart by the sizes of their caches."""

    __slots__ = ("__weakref__", "_idle", "_lent", "_open", "_place", "_process", "_turn")

    def __init__(self, place: Place) -> None:
        self._place = place
        self._idle = defaultdict[int, deque[sqlite3.Connection]](deque)  # by cache
        self._lent = 0  # some of which may not be open yet
        self._open = 0
        self._process = os.getpid()
        self._turn = threading.Condition()
        _around_forks(self)

    @contextmanager
    def lent(self, cache: int, open_one: OpenOne) -> Iterator[sqlite3.Connection]:
        """Lend a connection; it is closed if anything is raised, which undoes what was begun.

        open_one: gives a new one with such a cache, which has read something.

        Raises StorageError if what was written may be lost.
        """
        self._place.check()
        connection, is_clean = self._take(cache), True
        try:
            if connection is None:
                connection = self._opened(open_one(cache))
            is_clean = False
            yield connection
            is_clean = True
            self._place.check()
        finally:
            if not is_clean and connection is not None and self._process == os.getpid():
                self._close(connection)
                connection = None
            self._give_back(connection, cache)

    def close(self) -> None:
        """Close what is idle in this process; the file is complete without its side files then."""
        with self._turn:
            for idle in self._idle.values():
                while idle and self._process == os.getpid():
                    self._close(idle.pop())

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

    def _take(self, cache: int) -> sqlite3.Connection | None:
        """Count one as lent, and return it if one is idle."""
        with self._turn:
            if self._process != os.getpid():
                if self._lent or any(self._idle.values()):
                    raise StorageError(
                        f"the database {self._place.path} was in use while this process was forked; "
                        "open it after"
                    )
                self._process, self._open = os.getpid(), 0
                self._place.forget_sides()
            self._lent += 1
            return self._idle[cache].pop() if self._idle[cache] else None

    def _give_back(self, connection: sqlite3.Connection | None, cache: int) -> None:
        with self._turn:
            self._lent -= 1
            if connection:
                self._idle[cache].append(connection)
            self._turn.notify_all()

    def _opened(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Count a new one, and take note of the log that it opened."""
        with self._turn:
            self._open += 1
        try:
            self._place.check()
        except StorageError:
            self._close(connection)
            raise
        self._place.learn_sides()
        return connection

    def _close(self, connection: sqlite3.Connection) -> None:
        """Close one; the last takes log and index along, and whoever opens another makes new ones."""
        with self._turn:
            connection.close()
            self._open -= 1
            if not self._open:
                self._place.forget_sides()


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
