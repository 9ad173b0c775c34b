"""This file estimates a histogram from reports about the levels of a tree, with the error of any sum over it.

Sums of shares, so the mean and every range of the number, are unbiased, with a variance that is known but for
the shares themselves. Quantiles are those of the nearest distribution function that never falls, with
intervals by Woodruff, "Confidence intervals for medians and other position measures", JASA 1952: where the
function is sure to have passed the level.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hubbub.buckets import QUANTILES, Buckets, cumulative
from hubbub.errors import TooFewReportsError
from hubbub.estimate import About, Floats, Quantity
from hubbub.hierarchy import Hierarchy
from hubbub.intervals import normal_quantile
from hubbub.monotone import monotone_cdf
from hubbub.reach import Reach

Ints = NDArray[np.int64]

BETWEEN = (Quantity("between", "share"),)

_EDGE = 1e-9  # the level of a quantile lies that far from 0 and 1 at least


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Unbiased sums over buckets, with intervals of a normal law.

    errors: their standard errors about the respondents and about the population.
    """

    n: int
    rows: tuple[Quantity, ...]
    values: Floats
    errors: Mapping[About, Floats]

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (rows,)."""
        return self.errors[about]

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (rows, 2)."""
        return self.values[:, None] + np.outer(normal_quantile(level) * self.errors[about], [-1, 1])


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The distribution of a number over buckets, the leaves of a tree.

    reports: how many are about each level. supports: how many of them support each node, by level.
    """

    buckets: Buckets
    tree: Hierarchy
    reports: tuple[int, ...]
    supports: tuple[Ints, ...]
    shares: Floats = field(init=False)  # unbiased, of the buckets

    def __post_init__(self) -> None:
        if self.n < 1:
            raise TooFewReportsError(self.n, 1, "a histogram")
        object.__setattr__(self, "shares", self._values(np.eye(self.buckets.count)))

    @property
    def n(self) -> int:
        """How many reports it is made of."""
        return sum(self.reports)

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean, quantiles, and the shares of equal bins."""
        return self.buckets.rows

    @property
    def values(self) -> Floats:
        """The values, shape (rows,); all but the quantiles are unbiased."""
        return self.buckets.summary(self.shares, self._cdf)

    @property
    def monotone(self) -> Floats:
        """The values that the nearest distribution function has which never falls: bins from 0 to 1."""
        return self.buckets.summary(np.diff(self._cdf), self._cdf)

    def between(self, low: float, high: float) -> Sums:
        """Return the share of people from low to high.

        Raises DomainError if they do not rise.
        """
        return self._sums(self.buckets.part(low, high)[None], BETWEEN)

    def cdf(self, number: float) -> Sums:
        """Return the share of people below a number."""
        return self.between(float(self.buckets.range.low), number)

    def quantile(self, level: float) -> float:
        """Return the number that a share ``level`` of the people lies below.

        Raises DomainError unless 0 < level < 1.
        """
        return self.buckets.quantile(self._cdf, level)

    def reach(self) -> Reach:
        """Return what one report says of the mean and the bins; of a quantile that is not known."""
        least, most = self.tree.reach(self.buckets.weights)
        known, quantiles = Reach.mean(least, most, self.n), Reach.unknown(len(QUANTILES))
        return Reach.joined([known.of(slice(1)), quantiles, known.of(slice(1, None))])

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (rows,); of a quantile, half the way that one of its level makes."""
        mean, *bins = self._main.stderr(about)
        ends = [self._around(level, 1, about) for level in QUANTILES]
        quantiles = [math.hypot((high - low) / 2, self.buckets.blur) for low, high in ends]
        return np.array([mean, *quantiles, *bins])

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (rows, 2)."""
        z = normal_quantile(level)
        mean, *bins = self._main.interval(level, about)
        quantiles = self.buckets.outward(np.array([self._around(each, z, about) for each in QUANTILES]))
        return np.array([mean, *quantiles, *bins])

    @property
    def _cdf(self) -> Floats:
        return monotone_cdf(cumulative(self.shares))

    @property
    def _main(self) -> Sums:
        """The mean and the bins."""
        return self._sums(self.buckets.weights, tuple(row for row in self.rows if row.unbiased))

    def _around(self, level: float, z: float, about: About) -> tuple[float, float]:
        """Return the quantiles of the levels that are z standard errors of a quantile's own level away."""
        away = z * self.cdf(self.quantile(level)).stderr(about)[0]
        return self.quantile(max(level - away, _EDGE)), self.quantile(min(level + away, 1 - _EDGE))

    def _sums(self, weights: Floats, rows: tuple[Quantity, ...]) -> Sums:
        values, variances = weights @ self.shares, self.tree.variance(weights)
        noise = np.clip(variances @ self.shares, variances.min(axis=1), variances.max(axis=1))
        spread = np.maximum(weights**2 @ self.shares - values**2, 0)
        errors: dict[About, Floats] = {
            "respondents": np.sqrt(noise / self.n),
            "population": np.sqrt((noise + spread) / self.n),
        }
        return Sums(self.n, rows, values, errors)

    def _values(self, weights: Floats) -> Floats:
        values, nodes = self.tree.weights(weights)
        for channel, reports, supports, own in zip(
            self.tree.channels, self.reports, self.supports, nodes, strict=True
        ):
            p, q, even = float(channel.p), float(channel.q), 1 / supports.size
            said = (supports - reports * q) / (p - q) - reports * even
            values = values + own @ (even + said * (len(nodes) / self.n))
        return values
