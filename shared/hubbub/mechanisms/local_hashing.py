"""This file holds linear local hashing: a random linear map of the category, told by randomized response.

Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation", USENIX Security
2017, with the linear maps of a vector space over the integers modulo a prime as the family of hashes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, bernoulli, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.finite_field import (
    Number,
    Whole,
    digits,
    dot,
    inverses,
    length,
    modulo,
    prime_from,
    prime_up_to,
    word,
)
from hubbub.frequencies import Channel, Ints, Shares, categories, check_k, share_rows
from hubbub.hyperplanes import AT_ONCE, Bundle, grouped, size
from hubbub.laws import Law, often, supports
from hubbub.lines import MOST, pairs_in_line
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.pair_laws import of_lines
from hubbub.probability import Real, percent
from hubbub.tally import Tally

_ROWS = 1 << 15  # worked on at a time
_CELLS = 1 << 24  # the most that a simulation draws


@dataclass(frozen=True, slots=True, init=False)
class LocalHashing:
    """One of k categories, in a few bits and with one error for all of them, whatever k.

    Category v and the coefficients a have t digits base g, a prime. A report is the number a g + y in 1, 2, 4
    or 8 bytes, little-endian: a is uniform, y is <a, v> modulo g with probability p, else any other digit. It
    supports the categories v with <a, v> = y: the held one with probability p, another with q = 1/g.

    >>> mechanism = LocalHashing(epsilon="1.0", k=1024)
    >>> mechanism.g, mechanism.t, mechanism.layout, mechanism.channel.q
    (3, 7, dtype('uint16'), Real(1/3))
    """

    kind: ClassVar[str] = "local_hashing"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    k: int
    g: int = field(init=False, compare=False)
    t: int = field(init=False, compare=False)
    channel: Channel = field(init=False, repr=False, compare=False)
    _true: Real = field(init=False, repr=False, compare=False)  # the chance of each report with y = <a, v>
    _untrue: Real = field(init=False, repr=False, compare=False)  # the chance of each other report
    _kept: Real = field(init=False, repr=False, compare=False)  # to put <a, v> in the place of y

    def __init__(self, epsilon: EpsilonLike, k: int) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", check_k(k))
        object.__setattr__(self, "g", best_prime(self.epsilon, k))
        object.__setattr__(self, "t", length(k, self.g))
        object.__setattr__(self, "channel", hashed_channel(self.epsilon, self.g))
        normals = int(self.g**self.t)
        object.__setattr__(self, "_true", self.channel.p / normals)
        object.__setattr__(self, "_untrue", (1 - self.channel.p) / (normals * (self.g - 1)))
        object.__setattr__(self, "_kept", 1 - self._untrue * self._reports)

    @property
    def layout(self) -> "np.dtype[Any]":
        """The narrowest unsigned integer that holds t + 1 digits."""
        return np.dtype(next(f"<u{width}" for width in (1, 2, 4, 8) if self._reports <= 256**width))

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return share_rows(self.k)

    @property
    def _reports(self) -> int:
        return int(self.g ** (self.t + 1))

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw any report, and now and then put <a, v> in the place of y, which is the same law."""
        held = categories(values, self.k)
        wide = word(max(self._reports, self.t * self.g**2))
        reports = np.empty(held.size, dtype=self.layout)
        for some in slices(held.size, _ROWS):
            drawn: Whole = integers(self._reports, some.stop - some.start, coins).astype(wide)
            a: Whole = drawn // self.g
            told = a * self.g + self._hash(a, held[some].astype(wide))
            reports[some] = np.where(bernoulli(self._kept, told.size, coins), told, drawn)
        return reports

    def _hash(self, a: Number, v: Number) -> Number:
        """Return <a, v> modulo g."""
        return dot(digits(a, self.g, self.t), digits(v, self.g, self.t), self.g)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports have t + 1 digits."""
        return (reports >= 0) & (reports < self._reports)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each category."""
        if not self.check(reports).all():
            raise DomainError(f"a report must be from 0 to {self._reports - 1}")
        supports = Tally.zero(self.k)
        for some in slices(len(reports), AT_ONCE):
            numbers, weights = grouped(reports[some], self._reports)
            supports += Tally(some.stop - some.start, self._supports(numbers, weights))
        return supports

    def _supports(self, reports: Ints, weights: Ints) -> Ints:
        """Count supports: where a is 0, a report supports all if y is 0, and else none."""
        for_all = int(weights[reports == 0].sum())
        reports, weights = reports[reports > 0], weights[reports > 0]
        return for_all + Bundle(self._hyperplanes(reports), weights, self.g, self.t).through(self.k)

    def _hyperplanes(self, reports: Ints) -> Ints:
        """Number the hyperplanes <a, v> = y: u_0 = y, and u_1 is the highest digit of a."""
        a, g = reports // self.g, self.g
        numbers, scale = np.zeros_like(a), np.zeros_like(a)
        for i, u in zip(range(self.t, 0, -1), digits(a, g, self.t), strict=True):
            numbers += modulo(u * scale, g) * g**i
            last = (scale == 0) & (u > 0)
            numbers[last], scale[last] = size(i, g), inverses(u[last], g)
        return numbers + modulo((reports - a * g) * scale, g)

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the support of each category."""
        return [supports(tally.n, tally.cells, self.channel)]

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of the hashes, drawn evenly, and of each report."""
        hashes, chances = int(self.g**self.t), (float(self._untrue), float(self._true))
        counts, columns = self.tally(reports).cells, partial(self._supported, reports.astype(np.int64))
        return [
            often("reports with hash {}", reports // self.g, hashes, 1 / hashes, 1 / hashes),
            often("reports that say {}", reports, self._reports, *chances),
            *of_lines(len(reports), counts, columns, self.channel, g=self.g, t=self.t),
        ]

    def _supported(self, reports: Reports, chosen: Ints) -> Mask:
        """Tell of some categories which reports support them, shape (reports, some)."""
        a, y = reports // self.g, modulo(reports, self.g)
        return np.stack([self._hash(a, category) == y for category in chosen], axis=1)

    def estimate(self, tally: Tally) -> Shares:
        """Return the share of each category."""
        return Shares(tally.n, tally.cells, self.channel, self._lines)

    def _lines(self, rows: Sequence[int]) -> Ints | None:
        return pairs_in_line(rows, self.k, self.g, self.t) if len(rows) * self.k <= MOST else None

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports."""
        return self.channel.stderr(n, frequency)

    def loss(self) -> Loss:
        """Enclose the log-ratio of a report with y = <a, v> and another."""
        return Loss(*Real.log(self._true / self._untrue).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally | None:
        """Draw how often each a comes with each category's digit, and each report from those of any digit."""
        holders = counts.nonzero()[0]
        if holders.size * self.g**self.t + self._reports > _CELLS:
            return None
        kept = coins.binomial(counts, self._kept)
        reports = coins.multinomial(int((counts - kept).sum()), np.full(self._reports, 1 / self._reports))
        a, evenly = np.arange(self.g**self.t), np.full(self.g**self.t, self.g**-self.t)
        for v in holders:
            reports[a * self.g + self._hash(a, np.array(v))] += coins.multinomial(int(kept[v]), evenly)
        return Tally(int(counts.sum()), self._supports(np.arange(self._reports), reports))

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return the categories."""
        return categories(values, self.k).astype(np.int64)

    def outputs(self) -> Reports:
        """Return every number of t + 1 digits.

        Raises DomainError if there are over 2**20.
        """
        if self._reports > 1 << 20:
            raise DomainError(f"{self._reports} reports are too many to list")
        return np.arange(self._reports).astype(self.layout)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the chance of each report with y = <a, v>, or of each other one."""
        a, y = divmod(int(report), self.g)
        return self._true if self._hash(a, int(held)) == y else self._untrue

    def sentence(self, names: Sequence[str]) -> str:
        """Say that the shuffle is sent with the group."""
        return (
            f"your device shuffles the {len(names)} answers into {self.g} groups, and sends how it did so, "
            f"with one group: that of your answer with probability {percent(self.channel.p)}, "
            f"any other, untrue, with {percent(self._untrue * int(self.g**self.t))}"
        )


def hashed_channel(epsilon: Epsilon, g: int) -> Channel:
    """Return the channel of hashing to g digits, which any two categories share for one a in g."""
    e, shared = Real.exp(epsilon.exact), Real(Fraction(1, g))
    p = e / (e + (g - 1))
    return Channel(p, shared, pq=p * shared, qq=shared * shared, line=g)


def best_primes(epsilon: Epsilon, k: int) -> tuple[int, int]:
    """Return two primes, one of which is the g with the least total variance of k shares.

    That is, up to a factor, k (e + x)^2 / x + (e - 1) (x - e / x) at x = g - 1: convex, and least where
    x^2 = e (e k - e + 1) / (e + k - 1). So one of the primes next to that x + 1 is the best of all.
    """
    e = Real.exp(epsilon.exact)
    x = isqrt((e * (e * (k - 1) + 1) / (e + (k - 1))).leading(0))  # at least 1, since e is
    return prime_up_to(x + 1), prime_from(x + 2)


def best_prime(epsilon: Epsilon, k: int) -> int:
    """Return the prime g with the least total variance of k shares."""
    below, above = best_primes(epsilon, k)
    less = total_variance(hashed_channel(epsilon, below), k) - total_variance(
        hashed_channel(epsilon, above), k
    )
    return below if less.leading(0) < 0 else above


def total_variance(channel: Channel, k: int) -> Real:
    """Return the sum of the variances of k shares that one report makes."""
    p, q = channel.p, channel.q
    return (k * q * (1 - q) / (p - q) + (1 - p - q)) / (p - q)
