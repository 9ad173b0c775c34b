"""This file holds the worker: one thread for the calls that an event loop must not wait for.

The thread lives while there is something to do. What it was handed it does once, whether or not anyone still
waits for the result. A fork takes neither it nor its calls along, since they are the parent's to make.
"""

import time
from _thread import allocate_lock, get_ident
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from hubbub_client.last_moment import LAST_WAIT, seconds_left
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
        self._calls.append(call)
        if self._turn.locked() or start(self._run):
            return None
        self._calls.remove(call)
        return _FULL

    def settle(self, seconds: float) -> float | None:
        """Wait for what was put in line until now; return how many seconds are left, or None if none are.

        The worker does not wait for itself.
        """
        if not (self._calls or self._turn.locked()) or self._thread == get_ident():
            return seconds
        began, is_done = time.monotonic(), Flag()
        self._calls.append(is_done.set)
        if not self._turn.locked():  # it may have come to its end meanwhile
            start(self._run)
        if is_done.wait(seconds):
            return max(0.0, began + seconds - time.monotonic())
        with suppress(ValueError):
            self._calls.remove(is_done.set)
        return None

    def begin(self) -> None:
        """Start without a thread or anything in line, and with a turn that nobody has."""
        self._turn = allocate_lock()  # its thread's, and no other's
        self._thread = 0  # whose turn it is
        self._calls: deque[Callable[[], object]] = deque()

    def close(self) -> None:
        """Wait for a moment for what is in line."""
        self.settle(LAST_WAIT)

    def finish(self) -> None:
        """Make what is in line, at the end of the process, as far as there is time."""
        self.settle(seconds_left())

    def _run(self) -> None:
        while self._calls and self._turn.acquire(blocking=False):
            self._thread = get_ident()
            while self._calls:
                with suppress(BaseException):  # as in every thread of ours
                    self._calls.popleft()()  # no name here holds what the call was given
            self._thread = 0
            self._turn.release()  # and look again: a call may have come that saw the turn taken
