"""This file makes the keys of reports: a cell's number above, random bits below.

So the reports of one cell lie together, and an export, a check or a deletion walks through a range, without
any index. Within the cell they lie in an order that says nothing about their arrival.
"""

import secrets

RANDOM_BITS = 36  # of 63: a cell of 10 million reports uses one key in 6,900, and a key in use is drawn again
MOST_CELLS = 2 ** (63 - RANDOM_BITS)


def draw_key(number: int) -> int:
    """Return a random key for a report of a cell.

    >>> number_of(draw_key(17))
    17
    """
    return number << RANDOM_BITS | secrets.randbits(RANDOM_BITS)


def number_of(key: int) -> int:
    """Return the number of the cell that a key belongs to."""
    return key >> RANDOM_BITS


def span_of(number: int) -> tuple[int, int]:
    """Return the first and the last key of a cell.

    >>> span_of(1) == (2**36, 2**37 - 1)
    True
    """
    return number << RANDOM_BITS, (number + 1 << RANDOM_BITS) - 1
