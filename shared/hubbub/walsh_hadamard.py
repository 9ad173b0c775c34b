"""This file multiplies rows by the Walsh-Hadamard matrix, whose order is a power of two.

Its entry in row l and column y is +1 if l & y has an even number of bits, else -1.
"""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def walsh_hadamard(rows: Ints) -> Ints:
    """Return each row times the matrix; their length is a power of two.

    >>> walsh_hadamard(np.array([[3, 1, 0, 0]])).tolist()
    [[4, 2, 4, 2]]
    """
    height, size = rows.shape
    reach = 1
    while reach < size:
        pairs = rows.reshape(height, -1, 2, reach)
        rows = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        reach *= 2
    return rows.reshape(height, size)
