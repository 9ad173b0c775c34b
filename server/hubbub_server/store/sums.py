"""This file writes the numbers of a tally as bytes, and reads them."""

import numpy as np

from hubbub.tally import Tally


def bytes_of(tally: Tally) -> bytes:
    """Return the numbers, little-endian, 64 bits each."""
    return tally.cells.astype("<i8").tobytes()


def tally_of(n: int, sums: bytes) -> Tally:
    """Return the tally of n reports with these numbers."""
    return Tally(n, np.frombuffer(sums, dtype="<i8"))
