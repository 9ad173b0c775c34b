"""This file runs work in forked children."""

import os
from collections.abc import Callable


def fork(work: Callable[[], None]) -> int:
    """Run work in a child and return its process id; the child's status is 0 if nothing was raised."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child
