"""This file turns counts of reports, each of which stands for a number, into a mean and a sum with errors.

Take the range for [-1, 1]. A holder of x sends a y with E[y | x] = x and E[y^2 | x] = M(x), so with noise of
variance M(x) - x^2. M is given at the points of a grid, and linear between them, where x is rounded to one of
two. How large the noise of all is depends on their mean square, which reports tell only in part: for every
b > 0 and h the most that M(x) - b x^2 comes to, it is at most (1 - 1/b) M + h / b on average.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.chances import chance_interval
from hubbub.coins import slices
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import About, Floats, Quantity
from hubbub.grid import Grid
from hubbub.intervals import normal_quantile, student_quantile
from hubbub.reach import Reach
from hubbub.tally import Tally

Ints = NDArray[np.int64]

MEANS = tuple(Quantity(name, "number") for name in ("mean", "sum"))


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """What each report stands for, with the range taken for [-1, 1].

    numbers: y by report, shape (outputs,). squares: M by point of the grid, shape (steps + 1,).
    """

    grid: Grid
    numbers: Floats
    squares: Floats

    @property
    def worst(self) -> float:
        """The largest variance of noise that any number has."""
        return self.highest(1)

    @property
    def least(self) -> float:
        """The smallest variance of noise that any number has."""
        return float((self.squares - self._points**2).min())

    @property
    def _points(self) -> Floats:
        return np.linspace(-1, 1, self.squares.size)

    @property
    def bend(self) -> float:
        """The b with which M(x) - b x^2 is the same at the middle of the range and at its ends."""
        middle = (self.squares[(self.squares.size - 1) // 2] + self.squares[self.squares.size // 2]) / 2
        return float(self.squares[-1] - middle)

    def highest(self, b: float) -> float:
        """Return the most that M(x) - b x^2 comes to, between points too."""
        start, end, low, high = self._points[:-1], self._points[1:], self.squares[:-1], self.squares[1:]
        slope = (high - low) / (end - start)
        peak = np.clip(slope / (2 * b), start, end)
        return float((low + slope * (peak - start) - b * peak**2).max())

    def stderr(self, n: int) -> float:
        """Return the standard error of the mean of n reports about the respondents, at worst."""
        if n < 1:
            raise TooFewReportsError(n, 1, "a mean")
        return float(self.grid.width) / 2 * math.sqrt(self.worst / n)


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The mean and the sum of numbers from a range, in its unit.

    counts: how many of n reports are which, shape (outputs,).
    """

    n: int
    counts: Ints
    meaning: Meaning

    def __post_init__(self) -> None:
        if self.n < 1:
            raise TooFewReportsError(self.n, 1, "a mean")

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """What is estimated."""
        return MEANS

    @property
    def values(self) -> Floats:
        """The unbiased values, shape (2,)."""
        return self._both(self._placed(np.array(self._moment(1)))).astype(np.float64)

    def reach(self) -> Reach:
        """Return what one report says of the mean, and adds to the sum."""
        numbers = self.meaning.numbers
        least, most = self._placed(np.array([numbers.min(), numbers.max()])).tolist()
        return Reach.mean_and_sum(least, most, self.n)

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (2,); nan about the population for one report.

        About the respondents it may be too large, since the noise depends on what the reports do not tell:
        by the worst case over all numbers, or by the spread of the numbers themselves, whichever is less.
        """
        variance = self._noise if about == "respondents" else self._spread
        return self._both(float(self.meaning.grid.width) / 2 * np.sqrt(variance / self.n))

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (2, 2).

        Where there are only two reports, their counts give Wilson's or, if one is below 40, the exact one; a
        count of respondents is less spread than a binomial one of the same mean (Hoeffding 1956).
        """
        if self.counts.size == 2:
            return self._both(self._placed(self._of_two(level)))
        if about == "respondents":
            half = normal_quantile(level) * self.stderr(about)
        else:
            t = student_quantile(level, self.n - 1) if self.n > 1 else math.nan
            half = t * self.stderr(about)
        return self.values[:, None] + np.outer(half, [-1, 1])

    def _moment(self, power: int) -> float:
        return float(self.counts @ self.meaning.numbers**power) / self.n

    @property
    def _spread(self) -> float:
        """The sample variance of the reports, or the noise that they have at least."""
        if self.n < 2:
            return math.nan
        variance = (self._moment(2) - self._moment(1) ** 2) * self.n / (self.n - 1)
        return max(variance, self.meaning.least)

    @property
    def _noise(self) -> float:
        """The mean variance of noise, as well as the reports bound it.

        Their mean square is taken for a standard error more than it is, so that its own noise rarely makes a
        bound too low.
        """
        least, worst, b = self.meaning.least, self.meaning.worst, self.meaning.bend
        square = self._moment(2) + math.sqrt(max(0.0, self._moment(4) - self._moment(2) ** 2) / self.n)
        curved = (1 - 1 / b) * square + self.meaning.highest(b) / b if b > 0 else worst
        spread = (square - self._moment(1) ** 2) * self.n / (self.n - 1) if self.n > 1 else worst
        return max(least, min(worst, curved, spread))

    def _of_two(self, level: float) -> Floats:
        """Return an interval of the chance of the second report, as numbers."""
        chances = chance_interval(self.counts[1:], self.n, level)[0]
        low, high = self.meaning.numbers
        ends: Floats = low + (high - low) * chances
        return ends

    def _placed(self, numbers: Floats) -> Floats:
        grid = self.meaning.grid
        ends: Floats = float(grid.low) + float(grid.width) * (numbers + 1) / 2
        return ends

    def _both(self, mean: Floats) -> Floats:
        return np.array([mean, self.n * mean])


def count(reports: NDArray[np.unsignedinteger], outputs: int) -> Tally:
    """Count the reports of each kind.

    Raises DomainError if one is none of them.
    """
    cells = np.zeros(outputs, dtype=np.int64)
    for some in slices(len(reports), 1 << 20):  # bincount copies each report into 8 bytes
        counts = np.bincount(reports[some], minlength=outputs)
        if counts.size > outputs:
            raise DomainError(f"a report must be from 0 to {outputs - 1}")
        cells += counts
    return Tally(len(reports), cells)


def layout(outputs: int) -> "np.dtype[np.unsignedinteger]":
    """Return the type of a report: one byte where that numbers them all, else two."""
    return np.dtype("<u1" if outputs <= 256 else "<u2")
