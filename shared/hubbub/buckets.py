"""This file cuts a range into equal buckets, and sums a distribution over them up: mean, quantiles, bins."""

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.domains.plain import plain_decimal
from hubbub.errors import DomainError
from hubbub.estimate import Floats, Quantity
from hubbub.grid import End, Grid

Ints = NDArray[np.int64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

_MOST_BINS = 16
_ROUNDED = 1e-9  # part of a bucket


@dataclass(frozen=True, slots=True, init=False)
class Buckets:
    """``count`` equal parts of a range; each holds its lower end, and the last one its upper end too.

    >>> buckets = Buckets("0", "8", 32)
    >>> buckets.index(np.array([-5, 0.2, 0.25, 8])).tolist()
    [0, 0, 1, 31]
    >>> [row.name for row in buckets.rows][-2:]
    ['[7, 7.5)', '[7.5, 8]']
    """

    range: Grid  # its points are the ends of the buckets
    count: int
    rows: tuple[Quantity, ...] = field(repr=False, compare=False)  # the mean, quantiles, equal bins

    def __init__(self, low: End, high: End, count: int) -> None:
        if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= 4096:
            raise DomainError(f"buckets must be an integer from 2 to 4096, got {count}")
        object.__setattr__(self, "range", Grid(low, high, count))
        object.__setattr__(self, "count", count)
        names = ("median" if level == 0.5 else f"quantile {level}" for level in QUANTILES)
        quantiles = (Quantity(name, "number", unbiased=False) for name in names)
        bins = (Quantity(name, "share") for name in _bins(self.range, self._bins))
        object.__setattr__(self, "rows", (Quantity("mean", "number"), *quantiles, *bins))

    @property
    def _bins(self) -> int:
        return next(bins for bins in range(_MOST_BINS, 0, -1) if self.count % bins == 0)

    @property
    def _ends(self) -> tuple[float, float]:
        return float(self.range.low), float(self.range.high)

    @property
    def middles(self) -> Floats:
        """The number that each bucket stands for."""
        return self._numbers(np.arange(self.count) + 0.5)

    def index(self, values: NDArray[Any]) -> Ints:
        """Return the bucket of each value, of the nearer end where it lies outside the range.

        Raises DomainError for what is not a finite number, naming no value.
        """
        numbers = np.asarray(values)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all():
            raise DomainError("values must be a row of finite numbers")
        low, high = self._ends
        positions = (np.minimum(np.maximum(numbers, low), high) - low) * (self.count / (high - low))
        index: Ints = np.minimum(positions.astype(np.int64), self.count - 1)
        return index

    def part(self, low: float, high: float) -> Floats:
        """Return which part of each bucket lies between two numbers, shape (count,).

        Raises DomainError if they do not rise.
        """
        if not low <= high:
            raise DomainError(f"a part of a range must rise from low to high, got [{low}, {high}]")
        start, stop = (np.clip(self.position(end) - np.arange(self.count), 0, 1) for end in (low, high))
        inside: Floats = stop - start
        return inside

    def position(self, number: float) -> float:
        """Return where a number lies, in buckets from the lower end."""
        low, high = self._ends
        return (min(max(number, low), high) - low) * (self.count / (high - low))

    @property
    def weights(self) -> Floats:
        """The mean and the bins as sums over buckets, each with its weights, shape (1 + bins, count)."""
        bins = np.repeat(np.eye(self._bins), self.count // self._bins, axis=1)
        return np.concatenate([self.middles[None], bins])

    def summary(self, shares: Floats, cdf: Floats) -> Floats:
        """Return the values of all rows.

        shares: of the buckets. cdf: the shares below each end of a bucket, from 0 to 1, never falling.
        """
        mean, *bins = self.weights @ shares
        return np.array([mean, *(self.quantile(cdf, level) for level in QUANTILES), *bins])

    def quantile(self, cdf: Floats, level: float) -> float:
        """Return the number that a share ``level`` of the people lies below, people even within a bucket.

        Raises DomainError unless 0 < level < 1.
        """
        if not 0 < level < 1:
            raise DomainError(f"the level of a quantile must be between 0 and 1, got {level}")
        above = min(int(np.searchsorted(cdf, level)), self.count)  # the first end that enough lie below
        rise = cdf[above] - cdf[above - 1]
        within = (level - cdf[above - 1]) / rise if rise > 0 else 1.0
        return float(self._numbers(np.array(above - 1 + min(within, 1.0))))

    @property
    def blur(self) -> float:
        """The standard error of a number of which no more is told than its bucket."""
        return float(self.range.step) / math.sqrt(12)

    def outward(self, ends: Floats) -> Floats:
        """Widen intervals to whole buckets, as no more is told of a number, shape (..., 2)."""
        low, high = self._ends
        places = (ends - low) * (self.count / (high - low))
        first, last = np.floor(places[..., 0] + _ROUNDED), np.ceil(places[..., 1] - _ROUNDED)
        return self._numbers(np.stack([first, last], axis=-1))

    def _numbers(self, positions: NDArray[np.floating[Any]]) -> Floats:
        low, high = self._ends
        return low + np.asarray(positions, dtype=np.float64) * ((high - low) / self.count)


def cumulative(shares: Floats) -> Floats:
    """Return the sums before each place and of all, (..., count) -> (..., count + 1)."""
    sums = np.zeros((*shares.shape[:-1], shares.shape[-1] + 1))
    np.cumsum(shares, axis=-1, out=sums[..., 1:])
    return sums


def _bins(grid: Grid, count: int) -> list[str]:
    ends = [_written(grid.low + grid.width * place / count) for place in range(count + 1)]
    closed = [")"] * (count - 1) + ["]"]
    return [f"[{low}, {high}{end}" for low, high, end in zip(ends, ends[1:], closed, strict=False)]


def _written(end: Fraction) -> str:
    return plain_decimal(Decimal(f"{float(end):.12g}"))
