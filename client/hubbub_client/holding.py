"""This file does something while a lock is held, and gives it back whatever a signal's handler raises.

Such a handler runs between two steps of this thread, and may raise there: Ctrl-C, or a time-out by alarm.
CPython looks for one where a function begins, where a call has returned and where a loop goes round, and
nowhere else. So what a call returns is lost if it is not kept within that call, and what follows on no call
can't be kept from being done.

What such a handler raises keeps the frames that it ended for as long as its traceback is kept, in a notebook
for ever, and with a cursor among their variables SQLite's lock: rows are fetched in one call.
"""

from collections.abc import Callable
from operator import methodcaller
from typing import TYPE_CHECKING, TypeVar

from hubbub.errors import BusyError

if TYPE_CHECKING:
    from _thread import RLock

T = TypeVar("T")


def is_held_here(lock: "RLock") -> bool:
    """Tell whether this very thread holds a lock."""
    return lock._is_owned()  # type: ignore[attr-defined, no-any-return]  # noqa: SLF001 - no other way to ask


def holding(lock: "RLock", act: Callable[[], T], *, seconds: float, busy: str) -> T:
    """Do something while this thread holds a lock, and return what it returns.

    It is no generator: one that a handler leaves hanging holds its lock until its traceback is forgotten, and
    may then be ended by another thread, which can't release it.

    seconds: to wait for other threads. busy: what to say if one of them holds the lock for longer.

    Raises BusyError, and what ``act`` raises.

    >>> import threading
    >>> holding(threading.RLock(), lambda: 6 * 7, seconds=0.25, busy="another thread holds it; try again")
    42
    """
    if is_held_here(lock):
        return act()
    taken: list[bool] = []
    try:
        taken.extend(map(lock.acquire, (True,), (seconds,)))  # one call: it is taken and noted, or neither
        if True not in taken:
            raise BusyError(busy)
        return act()
    finally:
        if True in taken:  # no call comes before the release
            lock.release()


def hold(lock: "RLock", held: "list[RLock]") -> None:
    """Wait for a lock that this thread does not hold, however long, and note it for ``release``."""
    if not is_held_here(lock):
        held.extend(filter(methodcaller("acquire"), (lock,)))  # one call, as above


def release(held: "list[RLock]") -> None:
    """Give back every lock that was noted, the last one first, but none that another thread noted since."""
    while held and is_held_here(held[-1]):
        lock = held[-1]
        del held[-1]
        lock.release()  # no call comes before
