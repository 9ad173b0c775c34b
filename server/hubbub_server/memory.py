"""This file sees to it that the memory of a large request goes back to the system after it."""

import ctypes
from contextlib import suppress

LARGE = 2**20  # bytes of a block
_THRESHOLD = -3  # M_MMAP_THRESHOLD


def return_large_blocks() -> None:
    """Have the C library map each large block by itself and return it when freed.

    glibc does so at first, but raises its threshold with every such block up to 32 MiB, and what threads then
    keep for later adds up. Other libraries are left alone.
    """
    with suppress(AttributeError, OSError, TypeError):  # no such function, or no such library
        ctypes.CDLL(None).mallopt(_THRESHOLD, LARGE)
