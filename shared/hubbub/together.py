"""This file estimates the share of people who hold any of some categories: "linux or mac" as one row.

Its value is the sum of the categories' shares. Its error is not the sum of theirs: a report that supports two
categories at once counts twice. One report's estimate has the variance ``inside`` if its person holds one of
the categories and ``outside`` if not, so that of a share F has F inside + (1 - F) outside.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from hubbub.chances import chance_interval
from hubbub.estimate import About, Estimate, Floats, Quantity
from hubbub.holders import Holders
from hubbub.intervals import normal_quantile
from hubbub.reach import Reach

ROWS = (Quantity("together", "share"),)

_FEW = 20  # the noise variance of a count below which intervals are exact, where its law is known


@dataclass(frozen=True, slots=True)
class Together:
    """The share of people who hold any of some categories.

    share: unbiased, from n reports. inside, outside: the noise variance of one report's estimate. count: how
    often reports support any of the categories. law: of that count, where it is known. least, most: what one
    possible report says the share is.
    """

    n: int
    share: float
    inside: float
    outside: float
    count: int
    law: Holders | None
    least: float = math.nan
    most: float = math.nan

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The one share."""
        return ROWS

    @property
    def values(self) -> Floats:
        """The unbiased share, shape (1,)."""
        return np.array([self.share])

    def reach(self) -> Reach:
        """Return what one possible report says."""
        return Reach.mean(np.array([self.least]), np.array([self.most]), self.n)

    def stderr(self, about: About) -> Floats:
        """Return the standard error, shape (1,)."""
        share = min(max(self.share, 0.0), 1.0)
        variance = self._noise(share) + (share * (1 - share) if about == "population" else 0)
        return np.array([math.sqrt(variance / self.n)])

    def interval(self, level: float, about: About) -> Floats:
        """Return a confidence interval, shape (1, 2).

        It is a score interval: of those shares whose own error explains the value. About the respondents,
        where the count's law is known and its noise has an estimated variance below 20, its tails are exact,
        and about the population, where the count is one of reports, it is the interval of their chance.
        At the level 0.95 exact ones cover 95 % at least, others 92 % at least from five reports on.
        """
        if about == "respondents":
            return self._exact(level) if self.law else self._score(level, own=0)
        if self.law and self.law.n == self.n:  # a report supports one of them at most
            ends = chance_interval(np.array([self.count]), self.n, level)
            mapped: Floats = (ends - self.law.q) / (self.law.p - self.law.q)
            return mapped
        return self._score(level, own=1)

    def _exact(self, level: float) -> Floats:
        assert self.law is not None  # noqa: S101 - for the type
        share = min(max(self.share, 0.0), 1.0)
        unit = (self.law.p - self.law.q) ** 2
        if self.n * unit * self._noise(share) < _FEW:
            found = self.law.interval(self.count, level, round(self.n * share))
            if found:
                return np.minimum(np.array([found]) / self.n, 1)
        return self._score(level, own=0)

    def _noise(self, share: float) -> float:
        return self.outside + share * (self.inside - self.outside)

    def _score(self, level: float, *, own: int) -> Floats:
        unit = normal_quantile(level) ** 2 / self.n
        return score_interval(self.values, unit, inside=self.inside, outside=self.outside, own=own)


def score_interval(shares: Floats, unit: float, *, inside: float, outside: float, own: int) -> Floats:
    """Solve (share - F)^2 = unit (noise at F + own F (1 - F)) for F, shape (shares, 2).

    own: 1 about the population, 0 about the respondents.
    """
    slope = inside - outside + own
    explained = outside + shares * slope - own * shares**2
    half = np.sqrt(np.maximum(0, unit * explained + unit**2 * (slope**2 / 4 + own * outside)))
    middle = shares + unit * slope / 2
    return np.stack([middle - half, middle + half], axis=-1) / (1 + own * unit)


@runtime_checkable
class Joinable(Protocol):
    """An estimate with a row for each category, of which everybody holds one."""

    def together(self, rows: Sequence[int]) -> Estimate:
        """Estimate the share of the people who hold any of some categories, the only row.

        Raises DomainError unless they are different ones, and not all.
        """
        ...
