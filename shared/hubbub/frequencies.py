"""This file holds what all frequency oracles share: a channel (p, q) that turns counts into shares.

A report supports a category with probability p if its person holds it and q if not. Of n reports, of which C
support a category that the share f holds, (C/n - q) / (p - q) is unbiased for f, and the noise has variance
[q(1-q) + f(p-q)(1-p-q)] / (n(p-q)^2) (Wang, Blocki, Li, Jha, USENIX Security 2017).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.chances import chance_interval
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import About, Floats, Quantity
from hubbub.holders import Holders
from hubbub.intervals import normal_quantile
from hubbub.probability import Real
from hubbub.reach import Reach
from hubbub.together import Together

Ints = NDArray[np.int64]

_FEW = 20  # the noise variance of a count below which intervals are exact


@dataclass(frozen=True, slots=True)
class Channel:
    """The probabilities of a frequency oracle.

    p, q: the chance that a held / not held category is supported. pq, qq: the chance that two categories both
    are, by a holder of one of them / of neither; None where they are supported independently. line: how many
    categories are on a line at most: a report that supports two of a line supports all, so that a holder of
    a third one on it supports two with probability pq, not qq. size: how many categories each report
    supports, where that is always the same.
    """

    p: Real
    q: Real
    pq: Real | None = None
    qq: Real | None = None
    line: int = 2
    size: int | None = None

    def stderr(self, n: int, frequency: float) -> float:
        """Return the standard error of a share that noise makes in n reports."""
        if n < 1:
            raise TooFewReportsError(n, 1, "a share")
        if not 0 <= frequency <= 1:
            raise DomainError(f"a frequency must be from 0 to 1, got {frequency}")
        return math.sqrt(float(self.variance(np.array(frequency))) / n)

    def variance(self, frequency: Floats) -> Floats:
        """Return the noise variance of one report's estimate."""
        p, q = float(self.p), float(self.q)
        return (q * (1 - q) + frequency * (p - q) * (1 - p - q)) / (p - q) ** 2

    def together(self, size: int, *, in_line: tuple[float, float] | None = None) -> tuple[float, float]:
        """Return the noise variance of one report's estimate of what ``size`` categories hold together.

        First of a report by a holder of one of them, then of a report by another person. in_line: how many
        ordered pairs of the others among them are on a line with what such a person holds, on average; by
        default the most that can be.
        """
        p, q, others = self.p, self.q, size - 1
        pq, qq = p * q if self.pq is None else self.pq, q * q if self.qq is None else self.qq
        inside = p * (1 - p) + others * q * (1 - q) + 2 * others * (pq - p * q)
        inside += others * (others - 1) * (qq - q * q)
        outside = size * q * (1 - q) + size * others * (qq - q * q)
        most = others * min(others - 1, self.line - 2), size * min(others, self.line - 2)
        near, far = in_line or most
        inside, outside = inside + Fraction(near) * (pq - qq), outside + Fraction(far) * (pq - qq)
        # a variance of 0 is no more than enclosed, so a lower bound is taken
        low = [number.enclose(120)[0] for number in (inside, outside)]
        unit = (float(p) - float(q)) ** 2
        return max(0.0, float(low[0])) / unit, max(0.0, float(low[1])) / unit

    def reach(self, size: int, k: int) -> tuple[float, float]:
        """Return the least and the most that one report says ``size`` of all k categories hold together."""
        least, most = (0, size) if self.size is None else (max(0, self.size + size - k), min(self.size, size))
        p, q = float(self.p), float(self.q)
        return (least - size * q) / (p - q), (most - size * q) / (p - q)

    def count_law(self, n: int, size: int) -> Holders | None:
        """Return the law of how often n reports support any of ``size`` categories; None if unknown."""
        p, q = float(self.p), float(self.q)
        if self.pq is None and self.qq is None:  # each report makes that many independent flips
            return Holders(n * size, p, q)
        if self.pq is not None and self.pq.exact == 0:  # it supports one of them at most
            return Holders(n, p + (size - 1) * q, size * q)
        return Holders(n, p, q) if size == 1 else None


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """The share of each category.

    supports: how many of n reports support each category, shape (k,). lines: where categories can be on a
    line, counts for each one the ordered pairs of some others that are on a line with it; None if too many.
    """

    n: int
    supports: Ints
    channel: Channel
    lines: Callable[[Sequence[int]], Ints | None] | None = None

    def __post_init__(self) -> None:
        if self.n < 1:
            raise TooFewReportsError(self.n, 1, "a share")

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return share_rows(self.supports.size)

    @property
    def values(self) -> Floats:
        """The unbiased shares, shape (k,)."""
        p, q = float(self.channel.p), float(self.channel.q)
        return (self.supports / self.n - q) / (p - q)

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (k,)."""
        shares = np.clip(self.values, 0, 1)
        variance = self.channel.variance(shares)
        if about == "population":
            variance = variance + shares * (1 - shares)
        return np.sqrt(variance / self.n)

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (k, 2).

        Those about the respondents are score intervals, but exact tails where the noise in a count has an
        estimated variance below 20. At the level 0.95 they cover 94 to 96 % of the time where that variance
        is at least 30, 93.5 % at least where it is from 5 to 30, and 95 % at least below. Those about the
        population are of the chance to be supported: 93.5 % at least, and 95 % where that is rare.
        """
        p, q = float(self.channel.p), float(self.channel.q)
        if about == "population":
            mapped: Floats = (chance_interval(self.supports, self.n, level) - q) / (p - q)
            return mapped
        ends = self._score(normal_quantile(level) ** 2 / self.n)
        shares = np.clip(self.values, 0, 1)
        few = self.n * (p - q) ** 2 * self.channel.variance(shares) < _FEW
        holders = Holders(self.n, p, q)
        for row in np.unique(self.supports[few], return_index=True)[1]:
            count, start = int(self.supports[few][row]), round(self.n * float(shares[few][row]))
            exact = holders.interval(count, level, start)
            if exact:  # else no number of holders explains the count, and the score interval says so
                ends[self.supports == count] = np.array(exact) / self.n
        return ends

    def reach(self) -> Reach:
        """Return what a report says of each category that it supports, or does not."""
        k = self.supports.size
        least, most = (np.full(k, end) for end in self.channel.reach(1, k))
        return Reach.mean(least, most, self.n)

    def together(self, rows: Sequence[int]) -> Together:
        """Estimate the share of the people who hold any of some categories.

        Raises DomainError unless they are different ones, and not all.
        """
        if not all(0 <= row < self.supports.size for row in rows):
            raise DomainError(f"a category must be from 0 to {self.supports.size - 1}")
        if not 1 <= len(rows) < self.supports.size or len(set(rows)) < len(rows):
            raise DomainError(f"together are 1 to {self.supports.size - 1} categories, each once")
        found = self.counted(int(self.supports[list(rows)].sum()), len(rows))
        pairs = self.lines(rows) if self.lines else None
        return found if pairs is None else self._lined(found, list(rows), pairs)

    def _lined(self, found: Together, rows: list[int], pairs: Ints) -> Together:
        """Put what lines add on average, over people by the shares estimated, for the most that they can."""
        weights = np.maximum(self.values, 1 / self.n)  # nobody counts for less than a person
        others = np.delete(np.arange(pairs.size), rows)
        near, far = (float(np.average(pairs[some], weights=weights[some])) for some in (rows, others))
        inside, outside = self.channel.together(len(rows), in_line=(near, far))
        return replace(found, inside=inside, outside=outside)

    def counted(self, count: int, size: int) -> Together:
        """Estimate the share of the people who hold any of ``size`` categories.

        count: how often reports support any of them.
        """
        p, q = float(self.channel.p), float(self.channel.q)
        share = (count / self.n - size * q) / (p - q)
        law = self.channel.count_law(self.n, size)
        noise, ends = self.channel.together(size), self.channel.reach(size, self.supports.size)
        return Together(self.n, share, *noise, count, law, *ends)

    def _score(self, unit: float) -> Floats:
        """Solve (C/n - q - u)^2 = unit (variance at u) for u = f (p - q), and return f, shape (k, 2)."""
        p, q, slope = float(self.channel.p), float(self.channel.q), float(1 - self.channel.p - self.channel.q)
        excess = self.supports / self.n - q
        half = np.sqrt(unit * (q * (1 - q) + excess * slope + unit * slope**2 / 4))
        ends: Floats = ((excess + unit * slope / 2)[:, None] + np.outer(half, [-1, 1])) / (p - q)
        return ends


@lru_cache(maxsize=8)  # 65,536 of them take a quarter of a second, and an answer asks three times
def share_rows(k: int) -> tuple[Quantity, ...]:
    """Return the rows of an estimate of k shares: the categories in order."""
    return tuple(Quantity(str(category), "share") for category in range(k))


def categories(values: NDArray[Any], k: int) -> NDArray[Any]:
    """Return category indices as they are, refusing what is none.

    Raises DomainError, naming no value.
    """
    indices = np.asarray(values)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise DomainError("categories must be a row of integers")
    if indices.size and not (indices.min() >= 0 and indices.max() < k):
        raise DomainError(f"a category must be from 0 to {k - 1}")
    return indices


def check_k(k: int) -> int:
    """Return a number of categories, refusing those outside 2 to 65,536.

    Raises DomainError.
    """
    if isinstance(k, bool) or not isinstance(k, int) or not 2 <= k <= 65_536:
        raise DomainError(f"k, the number of categories, must be from 2 to 65536, got {k}")
    return k
