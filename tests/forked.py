"""This file runs work in a forked child, for tests of what a fork must not copy."""

import os
from collections.abc import Callable


def in_a_child(work: Callable[[], bytes]) -> bytes:
    """Return what the work returns there."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, work())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.wait()
    return data
