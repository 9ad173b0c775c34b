"""This file holds what mechanisms share whose report is one of so many numbers, counted one by one."""

from typing import Any

import numpy as np

from hubbub.coins import slices
from hubbub.errors import DomainError
from hubbub.mechanism import Mask, Reports
from hubbub.tally import Tally

_AT_ONCE = 1 << 20


def layout(count: int) -> "np.dtype[Any]":
    """Return the narrowest unsigned type that tells so many numbers apart."""
    return np.dtype(next(f"<u{width}" for width in (1, 2, 4, 8) if count <= 256**width))


def check(reports: Reports, count: int) -> Mask:
    """Tell which reports are among so many numbers."""
    return (reports >= 0) & (reports < count)


def tally(reports: Reports, count: int) -> Tally:
    """Count the reports of each number.

    Raises DomainError for a report that is none of them.
    """
    cells = np.zeros(count, dtype=np.int64)
    for some in slices(len(reports), _AT_ONCE):
        if not check(reports[some], count).all():
            raise DomainError(f"a report must be from 0 to {count - 1}")
        if reports[some].size * 8 < count:
            np.add.at(cells, reports[some], 1)
        else:
            cells += np.bincount(reports[some], minlength=count)
    return Tally(len(reports), cells)


def every(count: int) -> Reports:
    """List all numbers.

    Raises DomainError if they are over 2**20.
    """
    if count > 1 << 20:
        raise DomainError(f"{count} reports are too many to list")
    return np.arange(count).astype(layout(count))
