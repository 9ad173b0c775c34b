"""This file turns the sums of noisy numbers into a mean, a sum and a variance with their errors.

A report is y = x + z with noise z of variance v and fourth moment m4. The mean of y is unbiased for that of
x, and the sample variance of y, less v, for that of x.
"""

import math
from dataclasses import dataclass

import numpy as np

from hubbub.errors import TooFewReportsError
from hubbub.estimate import About, Floats
from hubbub.intervals import normal_quantile, student_quantile


@dataclass(frozen=True, slots=True)
class Moments:
    """The mean, sum and variance of numbers from a range, in its unit.

    mean: of the reports. spread: the sample variance of the reports, nan for one report. width: of the range.
    noise: the noise's variance and fourth moment.
    """

    n: int
    mean: float
    spread: float
    width: float
    noise: tuple[float, float]

    def __post_init__(self) -> None:
        if self.n < 1:
            raise TooFewReportsError(self.n, 1, "a mean")

    @property
    def rows(self) -> tuple[str, ...]:
        """What is estimated."""
        return ("mean", "sum", "variance")

    @property
    def values(self) -> Floats:
        """The unbiased mean, sum and variance; the last may be negative, and is nan for one report."""
        return np.array([self.mean, self.n * self.mean, self.spread - self.noise[0]])

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (3,)."""
        mean = math.sqrt((self.noise[0] if about == "respondents" else self.spread) / self.n)
        return np.array([mean, self.n * mean, self._variance_stderr(about)])

    def _variance_stderr(self, about: About) -> float:
        if self.n < 2:
            return math.nan
        n, (v, m4), own = self.n, self.noise, max(0.0, self.spread - self.noise[0])
        if about == "respondents":
            return math.sqrt(4 * v * own / (n - 1) + m4 / n - v**2 * (n - 3) / (n * (n - 1)))
        fourth = self.width**2 * own + 6 * own * v + m4  # no number's fourth moment is over width^2 variance
        return math.sqrt(max(0.0, fourth - (n - 3) / (n - 1) * (own + v) ** 2) / n)

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (3, 2)."""
        z = normal_quantile(level)
        t = z + (z**3 - 3 * z) * (self.noise[1] / self.noise[0] ** 2 - 3) / self.n / 24  # Cornish and Fisher
        if about == "population":
            t = student_quantile(level, self.n - 1) if self.n > 1 else math.nan
        half = np.array([t, t, z]) * self.stderr(about)
        return self.values[:, None] + np.outer(half, [-1, 1])
