"""This file turns the sums of noisy numbers into a mean, a sum and a variance with their errors.

A report is y = x + z with noise z of variance v and fourth moment m4. The mean of y is unbiased for that of
x, the sample variance S of y less v for that of x. For n given numbers of sample variance s, S has variance
4 v s / (n-1) + m4 / n - v^2 (n-3) / (n (n-1)); for n drawn from a population, if y has variance s' and fourth
moment m4', (m4' - s'^2 (n-3) / (n-1)) / n.
"""

import math
from dataclasses import dataclass

import numpy as np

from hubbub.errors import TooFewReportsError
from hubbub.estimate import About, Floats, Quantity
from hubbub.intervals import normal_quantile, student_quantile
from hubbub.reach import Reach

MOMENTS = tuple(Quantity(name, "number") for name in ("mean", "sum", "variance"))


@dataclass(frozen=True, slots=True)
class Noise:
    """What randomizing does to one number, in its unit.

    rounding: the most that rounding to a grid adds to the variance.
    """

    variance: float
    fourth_moment: float
    rounding: float

    def stderr(self, n: int) -> float:
        """Return the standard error of the mean of n reports about the respondents."""
        if n < 1:
            raise TooFewReportsError(n, 1, "a mean")
        return math.sqrt((self.variance + self.rounding) / n)

    def quantile(self, n: int, level: float) -> float:
        """Return the normal quantile, corrected for the tails of a mean of n (Cornish and Fisher 1938)."""
        z, excess = normal_quantile(level), self.fourth_moment / self.variance**2 - 3
        return z + (z**3 - 3 * z) * excess / (24 * n)


@dataclass(frozen=True, slots=True)
class Moments:
    """The mean, the sum and the variance of numbers from a range, in its unit.

    mean, spread: the mean and the sample variance of the reports, the latter nan for one report.
    width: of the range. ends: the least and the largest number that a report can stand for. The variance is
    that of the numbers as rounded to the grid.
    """

    n: int
    mean: float
    spread: float
    width: float
    noise: Noise
    ends: tuple[float, float] = (-math.inf, math.inf)

    def __post_init__(self) -> None:
        if self.n < 1:
            raise TooFewReportsError(self.n, 1, "a mean")

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """What is estimated."""
        return MOMENTS

    @property
    def values(self) -> Floats:
        """The unbiased values, shape (3,); a variance may come out below 0, and is nan for one report."""
        return np.array([self.mean, self.n * self.mean, self.spread - self.noise.variance])

    def reach(self) -> Reach:
        """Return what one report says of the mean and adds to the sum; of the variance that is not known."""
        return Reach.joined([Reach.mean_and_sum(*self.ends, self.n), Reach.unknown(1)])

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (3,)."""
        if about == "respondents":
            mean, variance = self.noise.stderr(self.n), self._variance_among_respondents()
        else:
            mean, variance = math.sqrt(self.spread / self.n), self._variance_in_population()
        return np.array([mean, self.n * mean, math.sqrt(variance)])

    def _variance_among_respondents(self) -> float:
        if self.n < 2:
            return math.nan
        n, v, m4, own = self.n, self.noise.variance, self.noise.fourth_moment, self._own_variance
        return 4 * v * own / (n - 1) + m4 / n - v**2 * (n - 3) / (n * (n - 1))

    def _variance_in_population(self) -> float:
        """Take the fourth moment of numbers from the range for the most it can be: width^2 variance."""
        if self.n < 2:
            return math.nan
        n, v, own = self.n, self.noise.variance, self._own_variance
        fourth = self.width**2 * own + 6 * own * v + self.noise.fourth_moment
        return max(0.0, fourth - (own + v) ** 2 * (n - 3) / (n - 1)) / n

    @property
    def _own_variance(self) -> float:
        return max(0.0, self.spread - self.noise.variance)

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (3, 2)."""
        z = normal_quantile(level)
        if about == "respondents":
            mean = self.noise.quantile(self.n, level)
        else:
            mean = student_quantile(level, self.n - 1) if self.n > 1 else math.nan
        half = np.array([mean, mean, z]) * self.stderr(about)
        return self.values[:, None] + np.outer(half, [-1, 1])
