"""This file waits for a fact that another thread brings about."""

import threading
from collections.abc import Callable


def wait_until(fact: Callable[[], bool]) -> None:
    """Return once a fact is true; fail after half a minute."""
    pause = threading.Event()
    for _ in range(3000):
        if fact():
            return
        pause.wait(0.01)
    raise AssertionError("it never came true")
