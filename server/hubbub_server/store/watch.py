"""This file keeps threads from waiting together for the server of a database that is known to be away."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from hubbub.errors import DatabaseAwayError

LOOK = 5.0  # seconds for one that looks again, before another may


class Watch:
    """What is known of a server: once it is away, one thread at a time finds out whether it still is."""

    __slots__ = ("_fault", "_until")

    def __init__(self) -> None:
        self._fault, self._until = "", 0.0

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Let a thread try.

        Raises DatabaseAwayError at once while another one tries where it was away.
        """
        if self._fault:
            now = time.monotonic()
            if now < self._until:
                raise DatabaseAwayError(self._fault)
            self._until = now + LOOK
        try:
            yield
            self._fault = ""
        except DatabaseAwayError as error:
            self._fault = str(error)
            raise
        finally:
            self._until = 0.0
