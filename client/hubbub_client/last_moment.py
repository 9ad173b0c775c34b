"""This file lets the end of a process wait for what is being done: one moment for all clients together."""

import time
import weakref

from hubbub_client.threads import Flag

LAST_WAIT = 0.5  # seconds
_began: list[float] = []  # when the first client began to wait; a process ends once, so all of them share it


def seconds_left() -> float:
    """Return for how long the end of this process may still wait; the first to ask begins that moment."""
    if not _began:
        _began.append(time.monotonic())
    return max(0.0, _began[0] + LAST_WAIT - time.monotonic())


def wait_at_exit(owner: object, is_at_rest: Flag) -> "weakref.finalize[..., object]":
    """Let the end of the process wait until a thread of the owner is at rest.

    The thread keeps its owner alive: an owner that is forgotten before the end is at rest.
    """
    return weakref.finalize(owner, _wait, is_at_rest)


def _wait(is_at_rest: Flag) -> None:
    if not is_at_rest.is_set():
        is_at_rest.wait(seconds_left())
