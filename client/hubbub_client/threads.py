"""This file starts threads and lets them tell each other, with nothing held where a signal's handler raises.

Such a handler may raise between any two steps of the main thread. ``threading`` is written in Python, with
locks inside that would then stay held for ever: in an Event, and around the start of a Thread. What is used
here is one step each, done as a whole or not at all.
"""

from _thread import start_new_thread
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue


def start(act: Callable[[], object]) -> bool:
    """Let a thread do something, of which no exit waits for the end; False if none can be started any more.

    What it raises is not told: a thread of ours must not speak on an app's stderr.
    """
    try:
        start_new_thread(_quietly, (act,))
    except RuntimeError:  # the interpreter is shutting down, or there are too many
        return False
    return True


def within(seconds: float, act: Callable[[], object]) -> bool:
    """Do something in a thread of its own, and tell whether it was done in time; the thread may go on.

    >>> within(5, lambda: 6 * 7)
    True
    """
    is_done = Flag()

    def do() -> None:
        try:
            act()
        finally:
            is_done.set()

    if not start(do):
        act()
        return True
    return is_done.wait(seconds)


class Flag:
    """Something that is so or not, and that may be waited for.

    >>> is_over = Flag()
    >>> is_over.wait(0.01)
    False
    >>> is_over.set()
    >>> is_over.wait(5), is_over.is_set()
    (True, True)
    """

    def __init__(self) -> None:
        self._said: SimpleQueue[None] = SimpleQueue()  # of C, and anything in it says yes

    def set(self) -> None:
        """Say that it is so."""
        if self._said.empty():
            self._said.put(None)

    def clear(self) -> None:
        """Say that it is not."""
        with suppress(Empty):
            while True:
                self._said.get_nowait()

    def is_set(self) -> bool:
        """Tell whether it is so."""
        return not self._said.empty()

    def wait(self, seconds: float) -> bool:
        """Wait until it is so, for some seconds at most, and tell whether it is."""
        try:
            self._said.get(timeout=seconds)
        except Empty:
            return False
        self._said.put(None)  # for others who wait
        return True


def _quietly(act: Callable[[], object]) -> None:
    with suppress(BaseException):
        act()
