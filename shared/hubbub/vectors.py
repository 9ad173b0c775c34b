"""This file holds what mechanisms for vectors share: shortening, and the means of numbers with errors."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hubbub import limbs
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import About, Floats, Quantity
from hubbub.exact_number import ExactNumber, exact_number
from hubbub.intervals import normal_quantile, student_quantile
from hubbub.mechanism import Ints, Values
from hubbub.reach import Reach
from hubbub.tally import Tally

LONGEST = 16_384  # coordinates: a device perturbs them while it holds its file
_CHUNK = 1 << 18  # coordinates added up at a time
_CELLS = 8  # of a coordinate: two limbs of its sum and six of the sum of its squares


def shortened(values: Values, size: int, norm: float) -> Floats:
    """Return vectors in units of the norm, those longer than 1 scaled down to it, shape (n, size).

    Raises DomainError for what is no row of finite vectors, naming no value.
    """
    numbers = np.asarray(values)
    is_shaped = numbers.ndim == 2 and numbers.shape[1] == size
    if not is_shaped or numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all():
        raise DomainError(f"values must be rows of {size} finite numbers")
    peaks = np.maximum(np.abs(numbers).max(axis=1, keepdims=True), norm)  # so that no square overflows
    units = numbers / peaks
    lengths = np.sqrt((units**2).sum(axis=1, keepdims=True))
    shrunk: Floats = units / np.maximum(lengths, norm / peaks)
    return shrunk


def coordinate_rows(size: int) -> tuple[Quantity, ...]:
    """Return the rows of an estimate of a vector: its coordinates."""
    return tuple(Quantity(str(index), "number") for index in range(size))


def add_up(reports: Ints, offset: int) -> Tally:
    """Add up reports, which are at least -offset, coordinate by coordinate, and their squares."""
    n, size = reports.shape
    cells = np.zeros((_CELLS, size), dtype=np.int64)
    rows = max(1, _CHUNK // size)
    for start in range(0, n, rows):
        some = reports[start : start + rows].astype(np.int64) + offset
        cells += limbs.cut(some, parts=2).sum(axis=1)
    return Tally(n, cells.T.reshape(-1))


@dataclass(frozen=True, slots=True, eq=False)
class VectorMeans:
    """The mean of each coordinate, in the unit of the values.

    means, spreads: the mean and the sample variance of the reports, nan for one report. noise: the variance
    that randomizing adds to each coordinate of a report. All of shape (size,). end: the largest number that a
    report can hold, up and down.
    """

    n: int
    means: Floats
    spreads: Floats
    noise: Floats
    end: float

    @classmethod
    def of(cls, tally: Tally, *, offset: int, unit: float) -> "VectorMeans":
        """Read the sums of ``add_up``, with the noise still to be told.

        unit: of a report's integer, in the unit of the values.

        Raises TooFewReportsError without reports.
        """
        n = tally.n
        if n < 1:
            raise TooFewReportsError(n, 1, "a mean")
        sums = [limbs.whole(cells) for cells in tally.cells.reshape(-1, _CELLS)]
        means = np.array([(total - n * offset) / n for total, _ in sums]) * unit
        spreads = [(n * squares - total**2) / (n * (n - 1)) if n > 1 else math.nan for total, squares in sums]
        return cls(n, means, np.array(spreads) * unit**2, np.zeros(len(sums)), offset * unit)

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The coordinates."""
        return coordinate_rows(self.means.size)

    @property
    def values(self) -> Floats:
        """The unbiased means, shape (size,)."""
        return self.means

    def reach(self) -> Reach:
        """Return what one report says of each coordinate."""
        ends = np.full(self.means.size, self.end)
        return Reach.mean(-ends, ends, self.n)

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (size,); about the population nan for one report."""
        return np.sqrt((self.noise if about == "respondents" else self.spreads) / self.n)

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (size, 2)."""
        if about == "respondents":
            quantile = normal_quantile(level)
        else:
            quantile = student_quantile(level, self.n - 1) if self.n > 1 else math.nan
        return self.values[:, None] + np.outer(quantile * self.stderr(about), [-1, 1])


def check_size(size: int) -> int:
    """Return a number of coordinates, refusing those outside 1 to 16,384.

    Raises DomainError.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= LONGEST:
        raise DomainError(f"size must be an integer from 1 to {LONGEST}, got {size}")
    return size


def check_norm(norm: ExactNumber) -> Fraction:
    """Return a norm as a fraction, refusing floats and what is not from 1e-30 to 1e30.

    Raises DomainError.
    """
    exact = exact_number(norm, "a norm")
    if not Fraction(1, 10**30) <= exact <= 10**30:
        raise DomainError(f"a norm must be from 1e-30 to 1e30, got {norm}")
    return exact
