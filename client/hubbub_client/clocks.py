"""This file reads a clock that an app gave us, which may fail or show what is no time."""

from collections.abc import Callable
from math import isfinite, nan

from hubbub.errors import StorageError
from hubbub_client.interruption import bare

Clock = Callable[[], float]


def read(clock: Clock) -> float:
    """Return what a clock shows, or NaN if it fails."""
    try:
        return float(clock())
    except Exception as error:
        bare(error)  # the app may keep it, and it must not keep what is being recorded
        return nan


def careful(clock: Clock) -> Clock:
    """Return a clock that shows the same, and raises StorageError where that is no time."""

    def now() -> float:
        at = read(clock)
        if not isfinite(at):
            raise StorageError("the clock that the app gave fails, or shows no time")
        return at

    return now
