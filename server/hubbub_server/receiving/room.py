"""This file bounds what large bodies take in memory, all together: who finds no room has to come back."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hubbub.errors import BusyError

SMALL = 2**20  # bytes of a body for which no room is needed: how many there are at once, the threads bound

Cover = Callable[[int], None]  # called with the size that a body has grown to; raises BusyError


class Room:
    """So many bytes for large bodies. small: bytes of each body that don't count."""

    __slots__ = ("_free", "_lock", "_small")

    def __init__(self, size: int, *, small: int = SMALL) -> None:
        self._free, self._small, self._lock = size, small, threading.Lock()

    @contextmanager
    def opened(self) -> Iterator[Cover]:
        """Lend room for one body and all that is made of it, as far as it turns out to need some.

        >>> with Room(2**20).opened() as cover:
        ...     cover(2**21)
        ...     cover(2**21 + 1)
        Traceback (most recent call last):
        hubbub.errors.BusyError: other large bodies are being read
        """
        taken = 0

        def cover(size: int) -> None:
            nonlocal taken
            more = size - self._small - taken
            if more <= 0:
                return
            with self._lock:
                if more > self._free:  # nobody waits here: a thread that waits serves nobody
                    raise BusyError("other large bodies are being read")
                self._free -= more
            taken += more

        try:
            yield cover
        finally:
            with self._lock:
                self._free += taken
