"""This file estimates shares from reports that speak of a few categories each, which it watches.

A report watches d of k categories, each set of d equally likely. Of each of them it says whether it is held,
independently: yes with probability a if it is, and b if not. Of n reports let W watch a category and C of
these say yes. Then (C - b W) k / (n d (a - b)) is unbiased for the share F that holds it, and n times its
noise variance is F v1 + (1 - F) v0 with

    v0 = (k / d) b (1 - b) / (a - b)^2        v1 = (k / d) [a (1 - a) / (a - b)^2 + 1] - 1

What a report adds for a category that its person does not hold has the mean 0 whatever else is watched, so
that no two categories are correlated: of s of them together, v0 is s times as large, and v1 greater by
(s - 1) v0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import About, Floats, Quantity
from hubbub.frequencies import share_rows
from hubbub.intervals import normal_quantile
from hubbub.probability import Real
from hubbub.reach import Reach
from hubbub.together import Together, score_interval

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Watch:
    """What reports say of the categories that they watch.

    part: d / k. a, b: how likely they say yes to a category that is held / is not.
    """

    part: Real
    a: Real
    b: Real

    @property
    def inside(self) -> float:
        """The noise variance of one report's estimate of the category held: v1."""
        return float((self.a * (1 - self.a) / (self.a - self.b) ** 2 + 1) / self.part - 1)

    @property
    def outside(self) -> float:
        """The noise variance of one report's estimate of another category: v0."""
        return float(self.b * (1 - self.b) / (self.a - self.b) ** 2 / self.part)

    def variance(self, frequency: Floats) -> Floats:
        """Return the noise variance of one report's estimate, on average over people."""
        return self.outside + frequency * (self.inside - self.outside)

    def reach(self, size: int) -> tuple[float, float]:
        """Return the least and the most that one report says of so many categories that it watches."""
        b, unit = float(self.b), float(self.part) * (float(self.a) - float(self.b))
        return -size * b / unit, size * (1 - b) / unit

    def stderr(self, n: int, frequency: float) -> float:
        """Return the standard error of a share that noise makes in n reports."""
        if n < 1:
            raise TooFewReportsError(n, 1, "a share")
        if not 0 <= frequency <= 1:
            raise DomainError(f"a frequency must be from 0 to 1, got {frequency}")
        return math.sqrt(float(self.variance(np.array(frequency))) / n)


@dataclass(frozen=True, slots=True, eq=False)
class WatchedShares:
    """The share of each category.

    watched: how many of n reports watch each category, and yes: how many of these say that it is held, shape
    (k,).
    """

    n: int
    yes: Ints
    watched: Ints
    watch: Watch

    def __post_init__(self) -> None:
        if self.n < 1:
            raise TooFewReportsError(self.n, 1, "a share")

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return share_rows(self.yes.size)

    @property
    def values(self) -> Floats:
        """The unbiased shares, shape (k,)."""
        part, a, b = float(self.watch.part), float(self.watch.a), float(self.watch.b)
        return (self.yes - b * self.watched) / (self.n * part * (a - b))

    def reach(self) -> Reach:
        """Return what a report says of a category that it watches; of another one it says 0."""
        least, most = (np.full(self.yes.size, end) for end in self.watch.reach(1))
        return Reach.mean(least, most, self.n)

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (k,)."""
        shares = np.clip(self.values, 0, 1)
        own = shares * (1 - shares) if about == "population" else 0
        return np.sqrt((self.watch.variance(shares) + own) / self.n)

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (k, 2): of those shares whose own error explains the value."""
        unit, own = normal_quantile(level) ** 2 / self.n, int(about == "population")
        inside, outside = self.watch.inside, self.watch.outside
        return score_interval(self.values, unit, inside=inside, outside=outside, own=own)

    def together(self, rows: Sequence[int]) -> Together:
        """Estimate the share of the people who hold any of some categories.

        Raises DomainError unless they are different ones, and not all.
        """
        if not all(0 <= row < self.yes.size for row in rows):
            raise DomainError(f"a category must be from 0 to {self.yes.size - 1}")
        if not 1 <= len(rows) < self.yes.size or len(set(rows)) < len(rows):
            raise DomainError(f"together are 1 to {self.yes.size - 1} categories, each once")
        share, count = float(self.values[list(rows)].sum()), int(self.yes[list(rows)].sum())
        inside = self.watch.inside + (len(rows) - 1) * self.watch.outside
        watched = min(len(rows), round(float(self.watch.part) * self.yes.size))
        ends = self.watch.reach(watched)
        return Together(self.n, share, inside, len(rows) * self.watch.outside, count, None, *ends)
