"""This file holds the connection on which one process commits, and with it a slot: a number of its own.

A slot is an advisory lock of that very session. So whoever holds a slot is alive, no clock is needed to tell,
and a slot is free again exactly when the last transaction that was begun under it has ended.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hubbub_server.store.postgres.patience import Connection

LOCKS = 0x48424242  # "HBBB": the first of the two numbers of our advisory locks
_TAKE = f"SELECT pg_try_advisory_lock({LOCKS}, %s)"
_HELD = """SELECT count(DISTINCT objid) FROM pg_locks
    WHERE locktype = 'advisory' AND granted AND classid = %s AND objid > 0 AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


class Seat:
    """The seat of one process, taken by one thread at a time. open: gives a new connection."""

    __slots__ = ("_connection", "_lock", "_open", "_slot")

    def __init__(self, open: Callable[[], Connection]) -> None:  # noqa: A002 - the plainest word
        self._open = open
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._slot = 0

    @contextmanager
    def taken(self) -> Iterator[tuple[Connection, int]]:
        """Lend connection and slot, both new if the connection is lost."""
        with self._lock:
            if self._connection is None or self._connection.closed:
                connection = self._open()
                self._connection, self._slot = connection, _free_slot(connection)
            yield self._connection, self._slot

    @property
    def stands(self) -> bool:
        """Whether it is taken, and its connection not lost."""
        return self._connection is not None and not self._connection.closed

    def leave(self) -> None:
        """Give the slot back."""
        with self._lock:
            if self._connection:
                self._connection.close()


def slots_held(connection: Connection) -> int:
    """Return how many processes have a slot."""
    return int(connection.execute(_HELD, (LOCKS,)).fetchall()[0][0])


def _free_slot(connection: Connection) -> int:
    """Take the lowest slot that is free, so that after a restart the same ones are used."""
    slot = 1
    while not connection.execute(_TAKE, (slot,)).fetchall()[0][0]:
        slot += 1
    return slot
