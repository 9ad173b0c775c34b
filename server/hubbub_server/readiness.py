"""This file tells whether the collector can take a batch right now, by writing something."""

import logging
import threading
import time
from collections.abc import Callable

from hubbub.errors import BusyError, DatabaseAwayError, StorageError, StorageFullError
from hubbub_server.logs import tell
from hubbub_server.store.protocol import Upkeep

FRESH = 1.0  # seconds that an answer serves everybody who asks, so that asking often costs nothing
PATIENCE = 2.0  # seconds for a write that another asked for: only one hangs with a database that does
STUCK = 10.0  # seconds that a change may wait for the writer
_WORDS = {
    BusyError: "another process holds the database",
    DatabaseAwayError: "the server of the database can't be reached",
    StorageFullError: "the disk of the database is full",
}


class Readiness:
    """What a proxy asks before it sends requests here.

    least_room: bytes that must be free. longest_wait: for how long the writer keeps someone waiting.
    """

    __slots__ = ("_asked", "_fault", "_least_room", "_lock", "_longest_wait", "_stopping", "_upkeep")

    def __init__(self, upkeep: Upkeep, *, least_room: int, longest_wait: Callable[[], float]) -> None:
        self._upkeep, self._least_room, self._longest_wait = upkeep, least_room, longest_wait
        self._asked, self._fault, self._stopping = float("-inf"), "", False
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Be ready no more: the collector ends once the requests in work are answered."""
        self._stopping = True

    def fault(self) -> str:
        """Return why no batch can be taken, or nothing if one can."""
        if self._stopping:
            return "the collector is stopping"
        if self._longest_wait() > STUCK:
            return f"the writer has kept a batch waiting for over {STUCK:.0f} seconds"
        if not self._lock.acquire(timeout=PATIENCE):
            return f"the database has kept a write waiting for over {PATIENCE:.0f} seconds"
        try:
            if time.monotonic() - self._asked > FRESH:
                fault, cause = self._probe()
                if fault and fault != self._fault:
                    tell("not ready", level=logging.ERROR, fault=cause)
                elif self._fault and not fault:
                    tell("ready again")
                self._fault, self._asked = fault, time.monotonic()
            return self._fault
        finally:
            self._lock.release()

    def _probe(self) -> tuple[str, str]:
        """Return why no batch can be taken, for whoever asks and for the log; nothing if one can."""
        try:
            free = self._upkeep.usage().free
            if free is not None and free < self._least_room:
                return (f"less than {self._least_room} bytes are free on the disk",) * 2
            self._upkeep.probe()
        except StorageError as error:  # whose own words name the database
            return _WORDS.get(type(error), "the database does not work"), str(error)
        return "", ""
