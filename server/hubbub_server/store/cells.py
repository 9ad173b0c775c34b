"""This file makes the keys of reports: a cell's number above, random bits below.

So the reports of one cell lie together, and an export, a check or a deletion walks through a range, without
any index. Within the cell they lie in an order that says nothing about their arrival.
"""

import secrets
import struct
from collections.abc import Sequence

RANDOM_BITS = 36  # of 63: a cell of 10 million reports uses one key in 6,900, and a key in use is drawn again
MOST_CELLS = 2 ** (63 - RANDOM_BITS)


def draw_keys(numbers: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return a random key for a report of each cell, by batch.

    The system is asked once for all, since each time lets other threads go first.

    >>> [[number_of(key) for key in keys] for keys in draw_keys([[17], [], [18, 17]])]
    [[17], [], [18, 17]]
    """
    count = sum(map(len, numbers))
    words = iter(struct.unpack(f"<{count}Q", secrets.token_bytes(8 * count)))
    return [[number << RANDOM_BITS | next(words) >> 64 - RANDOM_BITS for number in each] for each in numbers]


def number_of(key: int) -> int:
    """Return the number of the cell that a key belongs to."""
    return key >> RANDOM_BITS


def span_of(number: int) -> tuple[int, int]:
    """Return the first and the last key of a cell.

    >>> span_of(1) == (2**36, 2**37 - 1)
    True
    """
    return number << RANDOM_BITS, (number + 1 << RANDOM_BITS) - 1
