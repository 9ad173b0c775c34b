"""This file estimates the distribution of a number from reports sent through a window, and its own error.

The values are the most likely ones with some smoothing, not unbiased, and no formula gives their error. So
the collection is repeated in simulation with the estimate as the truth (Efron, Tibshirani, "An introduction
to the bootstrap", 1993): people are drawn, their reports, and from these the estimate again. How far it lies
from the truth of those drawn is the error about respondents, from that of all the error about the population.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.buckets import Buckets, cumulative
from hubbub.deconvolution import Deconvolution, explain
from hubbub.errors import TooFewReportsError
from hubbub.estimate import About, Floats, Quantity
from hubbub.generator_coins import GeneratorCoins
from hubbub.histogram import BETWEEN
from hubbub.intervals import normal_quantile
from hubbub.probability import Real
from hubbub.windows import Window

Ints = NDArray[np.int64]

_COLLECTIONS = 100  # simulated ones, so that a standard error is known to 7 %
_HALF = Real(Fraction(1, 2))


@dataclass(frozen=True, slots=True, eq=False)
class Between:
    """The share of people in a part of the range.

    weights: which part of each bucket it is, shape (buckets,).
    """

    distribution: "Distribution"
    weights: Floats

    @property
    def n(self) -> int:
        """How many reports it is made of."""
        return self.distribution.n

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The one share."""
        return BETWEEN

    @property
    def values(self) -> Floats:
        """The share, shape (1,)."""
        return np.array([self.weights @ self.distribution.shares])

    def stderr(self, about: About) -> Floats:
        """Return the standard error, shape (1,): the root of the mean squared error in simulation."""
        true, found = (shares @ self.weights for shares in self.distribution.collected())
        errors = found - (true if about == "respondents" else self.values)
        return np.array([np.sqrt(np.mean(errors**2))])

    def interval(self, level: float, about: About) -> Floats:
        """Return a confidence interval, shape (1, 2), by the normal law."""
        away = normal_quantile(level) * self.stderr(about)
        ends: Floats = self.values[:, None] + np.outer(away, [-1, 1])
        return ends


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """The distribution of a number over buckets.

    counts: of n reports, shape (outputs,). shares: of the buckets, shape (buckets,).
    """

    buckets: Buckets
    window: Window
    counts: Ints
    shares: Floats = field(init=False)
    _coins: GeneratorCoins = field(init=False, repr=False)
    _found: Deconvolution = field(init=False, repr=False)
    _drawn: list[tuple[Floats, Floats]] = field(default_factory=list, init=False, repr=False)  # once asked

    def __post_init__(self) -> None:
        if self.n < 1:
            raise TooFewReportsError(self.n, 1, "a distribution")
        coins = GeneratorCoins.of_tally(self.counts)
        found = explain(self.window, self.counts, coins.binomial(self.counts, _HALF))
        object.__setattr__(self, "_coins", coins)
        object.__setattr__(self, "_found", found)
        object.__setattr__(self, "shares", found.shares(self.counts))

    @property
    def n(self) -> int:
        """How many reports it is made of."""
        return int(self.counts.sum())

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean, quantiles, and the shares of equal bins."""
        return self.buckets.rows

    @property
    def values(self) -> Floats:
        """The values, shape (rows,)."""
        return self._summary(self.shares)

    @property
    def monotone(self) -> Floats:
        """The values as they are: likely shares are never below 0."""
        return self.values

    def between(self, low: float, high: float) -> "Between":
        """Return the share of people from low to high.

        Raises DomainError if they do not rise.
        """
        return Between(self, self.buckets.part(low, high))

    def cdf(self, number: float) -> "Between":
        """Return the share of people below a number."""
        return self.between(float(self.buckets.range.low), number)

    def quantile(self, level: float) -> float:
        """Return the number that a share ``level`` of the people lies below.

        Raises DomainError unless 0 < level < 1.
        """
        return float(self.buckets.quantile(cumulative(self.shares), level))

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (rows,): the root of the mean squared error in simulation."""
        true, found = ([self._summary(some) for some in shares] for shares in self.collected())
        errors = np.array(found) - (np.array(true) if about == "respondents" else self.values)
        blur = [self.buckets.blur if row.unit == "number" else 0.0 for row in self.rows]
        stderr: Floats = np.sqrt(np.mean(errors**2, axis=0) + np.square(blur))
        return stderr

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (rows, 2), by the normal law.

        Of numbers they are whole buckets, and of quantiles such that there are.
        """
        away = normal_quantile(level) * self.stderr(about)
        ends = self.values[:, None] + np.outer(away, [-1, 1])
        is_number = np.array([row.unit == "number" for row in self.rows])
        ends[is_number] = self.buckets.outward(ends[is_number])
        is_quantile = [not row.unbiased for row in self.rows]
        low, high = float(self.buckets.range.low), float(self.buckets.range.high)
        ends[is_quantile] = np.clip(ends[is_quantile], low, high)
        return ends

    def collected(self) -> tuple[Floats, Floats]:
        """Return the shares of people drawn and those found of their reports, each (collections, buckets)."""
        if not self._drawn:
            people = self._coins.generator.multinomial(self.n, self.shares, size=_COLLECTIONS)
            found = np.array([self._found.shares(self._sent(some)) for some in people])
            self._drawn.append((people / self.n, found))
        return self._drawn[0]

    def _sent(self, people: Ints) -> Ints:
        if self.n < people.size * self.window.width // 8:  # else it is faster to scatter everybody's at once
            points = np.repeat(np.arange(people.size), people)
            return np.bincount(self.window.draw(points, self._coins), minlength=self.window.outputs)
        return self.window.crowd(people, self._coins)

    def _summary(self, shares: Floats) -> Floats:
        return self.buckets.summary(shares, cumulative(shares))
