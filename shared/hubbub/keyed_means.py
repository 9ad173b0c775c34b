"""This file estimates the share of people who have each key, and the mean number of those who have it.

A report has a sign at a key or none. Let u be the share of n reports with one and d the excess of plus over
minus, both as shares of n. Let P and q be the chance of a sign where a person has the key or lacks it, and
t times a number, scaled to -1 to 1, what it adds to the expected d of one report. So F = (u - q) / (P - q) is
the share with the key, and m = (d / t) / F the mean number of those.

F is unbiased. The mean is a ratio, off by a term in 1/n: it is consistent. Its error is that of
z = D / t - m (U - q) / (P - q), whose expectation is 0, over F (Fieller, "Some problems in interval
estimation", JRSS B 1954). That is its error about the population; about the respondents it is at most that.
Where the share is not clearly above 0, any mean explains the reports, and it is unknown.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.estimate import About, Floats, Quantity
from hubbub.frequencies import Ints, Shares, share_rows
from hubbub.intervals import normal_quantile
from hubbub.probability import Real
from hubbub.reach import Reach

_SURE = 0.95  # the level at which a mean must have finite ends to be known


@dataclass(frozen=True, slots=True, eq=False)
class KeyedMeans:
    """The share of people with each key, unbiased; then the mean number of those who have it, a ratio.

    shares: of the keys. excess: how many more reports have a plus than a minus at each, shape (k,). t: what a
    number adds to the excess of one report. low, high: the range of the numbers.
    """

    shares: Shares
    excess: Ints
    t: Real
    low: float
    high: float

    @property
    def n(self) -> int:
        """How many reports it is made of."""
        return self.shares.n

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share with each key, then the mean of each."""
        return keyed_rows(self.excess.size)

    @property
    def values(self) -> Floats:
        """The shares and the means, shape (2 k,); a mean is nan where maybe nobody has the key."""
        return np.concatenate([self.shares.values, self._middle + self._half * self._mean])

    def reach(self) -> Reach:
        """Return what one report says of each share; of a ratio that is not known."""
        return Reach.joined([self.shares.reach(), Reach.unknown(self.excess.size)])

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (2 k,); of a mean about the respondents it is an upper bound."""
        a, b, c = self._second_moment
        variance = np.maximum(c - 2 * b * self._mean + a * self._mean**2, 0) / self.n
        mean = self._half * np.sqrt(variance) / self.shares.values
        return np.concatenate([self.shares.stderr(about), mean])

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (2 k, 2).

        That of a mean holds each m that (d/t - m F)^2 = z^2 / n times its variance explains; nan where that
        is every one, or the mean is unknown.
        """
        _, b, c = self._second_moment
        share, excess, unit = self.shares.values, self._excess, self._unit(level)
        square, slope, rest = self._square(level), share * excess - unit * b, excess**2 - unit * c
        root = np.sqrt(np.maximum(slope**2 - square * rest, 0))
        known = np.where(self._is_known & (square > 0), square, math.nan)
        ends = np.stack([slope - root, slope + root], axis=1) / known[:, None]
        means = self._middle + self._half * ends
        return np.concatenate([self.shares.interval(level, about), means])

    def _unit(self, level: float) -> float:
        unit = normal_quantile(level) ** 2 / self.n
        return unit / (1 + unit)  # a variance is the second moment less the square of the mean

    def _square(self, level: float) -> Floats:
        """What the square of a share has above its error; not above 0 where any mean explains the reports."""
        a, _, _ = self._second_moment
        return self.shares.values**2 - self._unit(level) * a

    @property
    def _is_known(self) -> NDArray[np.bool_]:
        return (self.shares.values > 0) & (self._square(_SURE) > 0)

    @property
    def _excess(self) -> Floats:
        return self.excess / self.n / float(self.t)

    @property
    def _mean(self) -> Floats:
        """The means on the scale from -1 to 1."""
        share = self.shares.values
        unknown = np.full(share.size, math.nan)
        mean: Floats = np.divide(self._excess, share, out=unknown, where=self._is_known)
        return mean

    @property
    def _second_moment(self) -> tuple[Floats, Floats, Floats]:
        """Return a, b and c: one report's z has the second moment c - 2 b m + a m^2."""
        p, q, t = float(self.shares.channel.p), float(self.shares.channel.q), float(self.t)
        signed = self.shares.supports / self.n
        a = (signed * (1 - q) ** 2 + (1 - signed) * q**2) / (p - q) ** 2
        return a, self._excess * (1 - q) / (p - q), signed / t**2

    @property
    def _middle(self) -> float:
        return (self.low + self.high) / 2

    @property
    def _half(self) -> float:
        return (self.high - self.low) / 2


def keyed_rows(k: int) -> tuple[Quantity, ...]:
    """Return the rows: the share of each key, then the mean of each."""
    return (*share_rows(k), *(Quantity(f"{key}:mean", "number") for key in range(k)))
