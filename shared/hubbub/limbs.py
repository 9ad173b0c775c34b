"""This file adds up 10**12 integers below 2**40, and their squares, without overflow of 64-bit cells.

Everything is cut into limbs of 20 bits, one cell each: of a number a + 2**20 b, first a and b, then two limbs
each of aa, ab and bb. Numbers below 2**20 have no b.
"""

from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

BITS = 20
_LOW = (1 << BITS) - 1


def cut(numbers: Ints, parts: int) -> Ints:
    """Return the limbs of numbers of one or two parts, and of their squares, shape (cells, numbers).

    >>> cut(np.array([3, 5]), parts=1).tolist()
    [[3, 5], [9, 25], [0, 0]]
    """
    limbs = [numbers >> BITS * part & _LOW for part in range(parts)]
    for one, other in _pairs(parts):
        product = limbs[one] * limbs[other]
        limbs += [product & _LOW, product >> BITS]
    return np.stack(limbs)


def whole(cells: Ints) -> tuple[int, int]:
    """Return the sum of the numbers and of their squares from the sums of their limbs.

    >>> whole(cut(np.array([3, 5 << 20]), parts=2).sum(axis=1)) == (3 + (5 << 20), 9 + (25 << 40))
    True
    """
    parts = 1 if cells.size == 3 else 2
    sums = cells.tolist()
    squares = 0
    for (one, other), low, high in zip(_pairs(parts), sums[parts::2], sums[parts + 1 :: 2], strict=True):
        squares += (low + (high << BITS)) * (1 if one == other else 2) << BITS * (one + other)
    return sum(limb << BITS * part for part, limb in enumerate(sums[:parts])), squares


def _pairs(parts: int) -> list[tuple[int, int]]:
    return list(combinations_with_replacement(range(parts), 2))
