"""This file holds the worker: one thread for the calls that an event loop must not wait for.

The thread lives while there is something to do. What it was handed it does once, whether or not anyone still
waits for the result. A fork takes neither it nor its calls along, since they are the parent's to make.
"""

from _thread import allocate_lock
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from hubbub_client.last_moment import wait_until
from hubbub_client.outcome import Skipped
from hubbub_client.threads import Flag, start

MOST = 64  # calls in line: each may wait for a lock, and an exit waits for them
_FULL = Skipped("busy", f"{MOST} records wait already; try again when they are made")


class Worker:
    """Makes calls in a thread of its own, in the order in which they came."""

    def __init__(self) -> None:
        self.begin()

    def submit(self, call: Callable[[], object]) -> Skipped | None:
        """Put a call in line, or say that too many are, or that no thread can be started any more."""
        if len(self._calls) >= MOST:
            return _FULL
        self._is_at_rest.clear()
        self._calls.append(call)
        if self._turn.locked() or start(self._run):
            return None
        self._calls.remove(call)
        self._is_at_rest.set()
        return _FULL

    def begin(self) -> None:
        """Start without a thread or anything in line, and with a turn that nobody has."""
        self._turn = allocate_lock()  # its thread's, and no other's
        self._calls: deque[Callable[[], object]] = deque()
        self._is_at_rest = Flag()
        self._is_at_rest.set()

    def finish(self) -> None:
        """Make what is in line, at the end of the process, as far as there is time."""
        wait_until(self._is_at_rest)

    def _run(self) -> None:
        while self._calls and self._turn.acquire(blocking=False):
            self._is_at_rest.clear()
            while self._calls:
                with suppress(BaseException):  # as in every thread of ours
                    self._calls.popleft()()  # no name here holds what the call was given
            self._is_at_rest.set()
            self._turn.release()  # and look again: a call may have come that saw the turn taken
