"""This file counts, for each bit position, how many of many packed rows have it set."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import CHUNK, slices

Ints = NDArray[np.int64]


def count_bits(rows: NDArray[Any]) -> Ints:
    """Return how often each bit is set in rows of bytes, lowest bit of each byte first, shape (8 * width,).

    >>> count_bits(np.array([[0b0101], [0b0001]], dtype=np.uint8)).tolist()
    [2, 0, 1, 0, 0, 0, 0, 0]
    """
    counts = np.zeros(8 * rows.shape[1], dtype=np.int64)
    for some in slices(len(rows), max(1, CHUNK // counts.size)):
        counts += np.unpackbits(rows[some], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return counts
