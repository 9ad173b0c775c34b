"""This file holds the tally: the sum of reports, and all that a collector must keep of them.

Tallies are integers under addition, so shards, days, retries and servers merge in any order, and a withdrawn
batch can be subtracted. A quantity that could outgrow 64 bits is spread over several cells by its mechanism.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import DomainError


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """A number of reports and the sums over them.

    cells: int64, shape (cells,); which sums they are is the mechanism's business.

    >>> both = Tally(2, np.array([1, 1])) + Tally(3, np.array([0, 3]))
    >>> both.n, both.cells.tolist()
    (5, [1, 4])
    """

    n: int
    cells: NDArray[np.int64]

    def __post_init__(self) -> None:
        cells = np.array(self.cells, dtype=np.int64)
        cells.flags.writeable = False
        object.__setattr__(self, "cells", cells)

    @classmethod
    def zero(cls, cells: int) -> "Tally":
        """Return the tally of no reports."""
        return cls(0, np.zeros(cells, dtype=np.int64))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Tally":
        """Read what ``to_bytes`` wrote.

        Raises DomainError if the bytes are not whole 64-bit integers.
        """
        if len(data) < 8 or len(data) % 8:
            raise DomainError(f"a tally is whole 64-bit integers, got {len(data)} bytes")
        numbers = np.frombuffer(data, dtype="<i8")
        return cls(int(numbers[0]), numbers[1:])

    def to_bytes(self) -> bytes:
        """Return n and the cells as little-endian 64-bit integers."""
        return np.concatenate([[self.n], self.cells]).astype("<i8").tobytes()

    def __add__(self, other: "Tally") -> "Tally":
        self._must_match(other)
        return Tally(self.n + other.n, self.cells + other.cells)

    def __sub__(self, other: "Tally") -> "Tally":
        self._must_match(other)
        return Tally(self.n - other.n, self.cells - other.cells)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return self.n == other.n and np.array_equal(self.cells, other.cells)

    __hash__ = None  # type: ignore[assignment]

    def _must_match(self, other: "Tally") -> None:
        if self.cells.shape != other.cells.shape:
            raise DomainError(
                f"tallies of one metric have equally many cells, got {self.cells.size} and {other.cells.size}"
            )
