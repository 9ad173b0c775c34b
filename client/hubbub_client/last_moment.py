"""This file lets the end of a process wait for what is being done: one moment for all clients together."""

import time

from hubbub_client.threads import Flag

LAST_WAIT = 0.5  # seconds
_began: list[float] = []  # when the first client began to wait; a process ends once, so all of them share it


def seconds_left() -> float:
    """Return for how long the end of this process may still wait; the first to ask begins that moment."""
    if not _began:
        _began.append(time.monotonic())
    return max(0.0, _began[0] + LAST_WAIT - time.monotonic())


def wait_until(is_at_rest: Flag) -> None:
    """Let the end of the process wait until a thread is at rest."""
    if not is_at_rest.is_set():
        is_at_rest.wait(seconds_left())
