"""This file holds subset selection: send a set of omega categories, the held one in it with probability p.

Ye, Barg, "Optimal schemes for discrete distribution estimation under locally differential privacy", IEEE
Transactions on Information Theory 2018; Wang, Huang, Wang, Nie, Xu, Yang, Li, Qiao, "Mutual information
optimally local private discrete distribution estimation", arXiv:1607.08025, 2016.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from hubbub.bit_counts import count_bits
from hubbub.coins import CHUNK, Coins, SimulationCoins, bernoulli, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.frequencies import Channel, Ints, Shares, categories, check_k, share_rows
from hubbub.laws import Law, supports
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.pair_laws import of_channel
from hubbub.probability import Real, percent
from hubbub.subsets import packed_sets, sparse_sets
from hubbub.tally import Tally

_MOST = 1 << 20  # reports that are listed


@dataclass(frozen=True, slots=True, init=False)
class SubsetSelection:
    """One of k categories, with the least error of all; its reports are longest where epsilon is small.

    A report is a set of omega categories; a set with the held one in it is e^epsilon times as likely as one
    without. It is written as omega ascending indices (one byte each up to k = 256, else two, little-endian)
    where they are not longer than k bits, else as these: category v has bit v % 8 of byte v // 8.

    >>> mechanism = SubsetSelection(epsilon="1.0", k=16)
    >>> mechanism.omega, mechanism.channel.p, mechanism.channel.q
    (4, Real(0.4753668864186717), Real(0.2349755409054219))
    """

    kind: ClassVar[str] = "subset_selection"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    k: int
    omega: int = field(init=False, repr=False, compare=False)
    channel: Channel = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, k: int) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", check_k(k))
        e = Real.exp(self.epsilon.exact)
        omega = _best_size(e, k)
        object.__setattr__(self, "omega", omega)
        object.__setattr__(self, "channel", _channel(e, k, omega))

    @property
    def is_sparse(self) -> bool:
        """Whether a report lists its members."""
        return self.omega * self._index.itemsize <= -(-self.k // 8)

    @property
    def _index(self) -> "np.dtype[Any]":
        return np.dtype("<u1" if self.k <= 256 else "<u2")

    @property
    def layout(self) -> "np.dtype[Any]":
        """Omega indices or the bytes that k bits fill."""
        return np.dtype((self._index, (self.omega,)) if self.is_sparse else ("u1", (-(-self.k // 8),)))

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return share_rows(self.k)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Take the held category with probability p, and as many uniform others as are missing."""
        held = categories(values, self.k)
        reports = np.empty(held.size, dtype=self.layout)
        draw = sparse_sets if self.is_sparse else packed_sets
        for some in slices(held.size, max(1, 2 * CHUNK // (4 * self.omega if self.is_sparse else self.k))):
            is_member = bernoulli(self.channel.p, some.stop - some.start, coins)
            reports[some] = draw(held[some], is_member, k=self.k, size=self.omega, coins=coins)
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are omega categories, in their order."""
        if self.is_sparse:
            falls = (reports[:, 1:] <= reports[:, :-1]).sum(axis=1, dtype=np.int64)
            is_ordered: Mask = (falls == 0) & (reports[:, -1] < self.k)
            return is_ordered
        sizes = np.bitwise_count(reports).sum(axis=1, dtype=np.int64)
        is_right: Mask = (sizes == self.omega) & (reports[:, -1] >> (self.k - 1) % 8 < 2)
        return is_right

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that have each category."""
        if not self.check(reports).all():
            raise DomainError(f"a report must be {self.omega} of {self.k} categories")
        if not self.is_sparse:
            return Tally(len(reports), count_bits(reports)[: self.k])
        cells = np.zeros(self.k, dtype=np.int64)
        for some in slices(len(reports), max(1, CHUNK // self.omega)):  # bincount copies each into 8 bytes
            cells += np.bincount(reports[some].reshape(-1), minlength=self.k)
        return Tally(len(reports), cells)

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the support of each category."""
        return [supports(tally.n, tally.cells, self.channel)]

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return that of categories that come together."""
        if self.omega == 1:
            return []
        counts = self.tally(reports).cells
        return [of_channel(len(reports), counts, partial(self._columns, reports), self.channel)]

    def _columns(self, reports: Reports, chosen: Ints) -> Mask:
        """Tell of some categories which reports have them, shape (reports, some)."""
        if self.is_sparse:
            has: list[Mask] = [(reports == category).any(axis=1) for category in chosen]
            return np.stack(has, axis=1)
        return (reports[:, chosen // 8] >> (chosen % 8).astype(np.uint8) & 1).astype(np.bool_)

    def estimate(self, tally: Tally) -> Shares:
        """Return the share of each category."""
        return Shares(tally.n, tally.cells, self.channel)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports."""
        return self.channel.stderr(n, frequency)

    def loss(self) -> Loss:
        """Enclose the log-ratio of a set with the held category in it and one without."""
        p = self.channel.p
        return Loss(*Real.log(p / (1 - p) * Fraction(self.k - self.omega, self.omega)).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return None: the sizes of many random sets have no simple joint law."""

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return the categories."""
        return categories(values, self.k).astype(np.int64)

    def outputs(self) -> Reports:
        """Return every set of omega categories.

        Raises DomainError if there are over 2**20.
        """
        count = math.comb(self.k, self.omega)
        if count > _MOST:
            raise DomainError(f"{count if count < 10**9 else 'over 10**9'} reports are too many to list")
        sets = np.array(list(combinations(range(self.k), self.omega)))
        if self.is_sparse:
            return sets.astype(self._index)
        bits = np.zeros((count, self.k), dtype=np.uint8)
        bits[np.arange(count)[:, None], sets] = 1
        return np.packbits(bits, axis=1, bitorder="little")

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the share of one set in p, or in what is left of it."""
        report = np.asarray(report)
        is_member = held in report if self.is_sparse else report[held // 8] >> held % 8 & 1
        if is_member:
            return self.channel.p / math.comb(self.k - 1, self.omega - 1)
        return (1 - self.channel.p) / math.comb(self.k - 1, self.omega)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely each answer is among those sent."""
        p, q = percent(self.channel.p), percent(self.channel.q)
        return (
            f"of the {len(names)} answers {self.omega} {'is' if self.omega == 1 else 'are'} sent as ticked: "
            f"yours with probability {p}, each other one, untrue, with {q}"
        )


def _channel(e: Real, k: int, size: int) -> Channel:
    """Return the chances that a set of ``size`` has the held category, another one, and two at once."""
    p = size * e / (size * e + (k - size))
    if size == 1:
        return Channel(p, (1 - p) / (k - 1), pq=Real(0), qq=Real(0), size=1)
    q = (p * (size - 1) + (1 - p) * size) / (k - 1)
    qq = (p * ((size - 1) * (size - 2)) + (1 - p) * (size * (size - 1))) / ((k - 1) * (k - 2))
    return Channel(p, q, pq=p * Fraction(size - 1, k - 1), qq=qq, size=size)


def _best_size(e: Real, k: int) -> int:
    """Return the size of the sets with the least variance of all shares together.

    It is k / (e + 1) rounded down or up. No two sizes are equally good, since e is no root of a polynomial.
    """
    lower = (k / (e + 1)).leading(0)
    if lower == 0:
        return 1
    worse = _total_variance(_channel(e, k, lower + 1), k) - _total_variance(_channel(e, k, lower), k)
    return lower if worse.leading(0) >= 0 else lower + 1


def _total_variance(channel: Channel, k: int) -> Real:
    p, q = channel.p, channel.q
    return k * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q)
