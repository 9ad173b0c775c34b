"""This file holds the worker: one thread for the calls that an event loop must not wait for.

The thread lives while there is something to do. What it was handed it does once, whether or not anyone still
waits for the result. A fork takes neither it nor its calls along, since they are the parent's to make.
"""

import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from hubbub_client.last_moment import wait_at_exit
from hubbub_client.outcome import Skipped

MOST = 64  # calls in line: each may wait for a lock, and an exit waits for them
FULL = Skipped("busy", f"{MOST} records wait already; try again when they are made")


class Worker:
    """Makes calls in a thread of its own, in the order in which they came."""

    def __init__(self) -> None:
        self._at_exit: weakref.finalize[..., object] | None = None
        self.begin()

    def submit(self, call: Callable[[], object]) -> bool:
        """Put a call in line; False if too many are, or no thread can be started any more."""
        with self._state:
            if len(self._calls) >= MOST or not (self._is_running or self._start()):
                return False
            self._calls.append(call)
            return True

    def begin(self) -> None:
        """Start without a thread or anything in line, and with locks that nobody holds."""
        self._state = threading.Lock()
        self._calls: deque[Callable[[], object]] = deque()
        self._is_running = False
        self._is_at_rest = threading.Event()
        self._is_at_rest.set()
        if self._at_exit is not None:
            self._at_exit.detach()
        self._at_exit = wait_at_exit(self, self._is_at_rest)

    def _start(self) -> bool:
        try:
            threading.Thread(target=self._run, name="hubbub-worker", daemon=True).start()
        except RuntimeError:  # the interpreter is shutting down
            return False
        self._is_running = True
        self._is_at_rest.clear()
        return True

    def _run(self) -> None:
        while True:
            with self._state:
                if not self._calls:
                    self._is_running = False
                    self._is_at_rest.set()
                    return
                call = self._calls.popleft()
            with suppress(Exception):  # a thread of ours must not speak on an app's stderr
                call()
