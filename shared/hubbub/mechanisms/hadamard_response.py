"""This file holds Hadamard response: name a row of a Hadamard matrix that has +1 where your category is.

Acharya, Sun, Zhang, "Hadamard response: estimating distributions privately, efficiently, and with little
communication", AISTATS 2019.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, bernoulli, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.frequencies import Channel, Ints, Shares, categories, check_k, share_rows
from hubbub.laws import Law, counted, evenly, supports
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.pair_laws import of_channel
from hubbub.probability import Real, percent
from hubbub.tally import Tally
from hubbub.walsh_hadamard import walsh_hadamard

_ROWS = 1 << 16  # worked on at a time


@dataclass(frozen=True, slots=True, init=False)
class HadamardResponse:
    """One of k categories, in few bits and with little work, for an epsilon of 1 at most.

    A report is 2 a + b below K, a power of two that is at least 2 k: one byte up to K = 256, else two or
    four, little-endian. It supports category v if b is the parity of the bits of a & v, which is a row of
    the Hadamard matrix of order K. The held category is supported with probability p = e^epsilon /
    (e^epsilon + 1), another with q = 1/2.

    >>> mechanism = HadamardResponse(epsilon="1.0", k=16)
    >>> mechanism.channel.p, mechanism.channel.q, mechanism.order
    (Real(0.7310585786300049), Real(1/2), 32)
    """

    kind: ClassVar[str] = "hadamard_response"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    k: int
    channel: Channel = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, k: int) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", check_k(k))
        e, half = Real.exp(self.epsilon.exact), Real(Fraction(1, 2))
        p = e / (e + 1)
        # any three categories are supported independently but for who holds one: with the bit b, no three
        # rows multiply to a constant
        object.__setattr__(self, "channel", Channel(p, half, pq=p / 2, qq=half * half))

    @property
    def order(self) -> int:
        """K, the number of reports."""
        return int(2 << (self.k - 1).bit_length())

    @property
    def layout(self) -> "np.dtype[Any]":
        """One number below K."""
        return np.dtype("<u1" if self.order <= 1 << 8 else "<u2" if self.order <= 1 << 16 else "<u4")

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return share_rows(self.k)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw any a, and the b that supports the held category with probability p."""
        held = categories(values, self.k)
        reports = np.empty(held.size, dtype=self.layout)
        for some in slices(held.size, _ROWS):
            a = integers(self.order // 2, some.stop - some.start, coins).astype(self.layout)
            is_denied = bernoulli(1 - self.channel.p, a.size, coins)
            reports[some] = 2 * a + (_parity(a & held[some].astype(self.layout)) ^ is_denied)
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are below K."""
        return (reports >= 0) & (reports < self.order)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each category, with one transform for all."""
        counts = np.zeros(self.order, dtype=np.int64)
        for some in slices(len(reports), 1 << 20):  # bincount copies each report into 8 bytes
            found = np.bincount(reports[some], minlength=self.order)
            if found.size > self.order:
                raise DomainError(f"a report must be from 0 to {self.order - 1}")
            counts += found
        return self._tally(len(reports), counts[0::2] - counts[1::2])

    def _tally(self, n: int, balance: Ints) -> Tally:
        """Count supports, given for each a how many more reports have b = 0 than b = 1."""
        return Tally(n, (n + walsh_hadamard(balance[None])[0, : self.k]) // 2)

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the support of each category."""
        return [supports(tally.n, tally.cells, self.channel)]

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of the rows of the matrix, drawn evenly, and of each report."""
        size, chance = self.order // 2, float(self.channel.p) / (self.order // 2)
        least = 1 / size - chance
        cells = np.bincount(reports, minlength=self.order)
        return [
            evenly("reports with row {} of the matrix", cells.reshape(size, 2).sum(axis=1), len(reports)),
            counted("reports that say {}", cells, len(reports), least, chance),
            of_channel(len(reports), self.tally(reports).cells, partial(_supports, reports), self.channel),
        ]

    def estimate(self, tally: Tally) -> Shares:
        """Return the share of each category."""
        return Shares(tally.n, tally.cells, self.channel)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports."""
        return self.channel.stderr(n, frequency)

    def loss(self) -> Loss:
        """Enclose log(p / (1 - p)): a report supports one person's category and not another's."""
        return Loss(*Real.log(self.channel.p / (1 - self.channel.p)).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Have some support their category and scatter the rest over all reports, which is the same law.

        The supporters of a category are drawn all at once if they are many, else each by itself.
        """
        size = self.order // 2
        n, supporters = int(counts.sum()), coins.binomial(counts, 2 * self.channel.p - 1)
        scattered = coins.multinomial(n - int(supporters.sum()), np.full(self.order, 1 / self.order))
        balance = scattered[0::2] - scattered[1::2]
        are_many = supporters > size
        for many in are_many.nonzero()[0]:
            drawn = coins.multinomial(int(supporters[many]), np.full(size, 1 / size))
            balance += drawn * (1 - 2 * _parity(np.arange(size) & many).astype(np.int64))
        ends = np.cumsum(np.where(are_many, 0, supporters))
        for some in slices(int(ends[-1]), _ROWS):
            held = np.searchsorted(ends, np.arange(some.start, some.stop), side="right")
            a = integers(size, held.size, coins).astype(np.int64)
            signs = 1.0 - 2 * _parity(a & held)
            balance += np.bincount(a, weights=signs, minlength=size).astype(np.int64)
        return self._tally(n, balance)

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return the categories."""
        return categories(values, self.k).astype(np.int64)

    def outputs(self) -> Reports:
        """Return every number below K."""
        return np.arange(self.order).astype(self.layout)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the share of one report in p, or in what is left of it."""
        a, b = divmod(int(report), 2)
        is_supported = (a & int(held)).bit_count() % 2 == b
        return (self.channel.p if is_supported else 1 - self.channel.p) / (self.order // 2)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely each answer is among those that a report speaks for."""
        p, q = percent(self.channel.p), percent(self.channel.q)
        return (
            f"a report speaks for some of the {len(names)} answers, chosen at random: for yours with "
            f"probability {p}, for each other one, untrue, with {q}"
        )


def _supports(reports: Reports, chosen: Ints) -> Mask:
    """Tell of some categories which reports support them, shape (reports, some)."""
    numbers = reports.astype(np.int64)[:, None]
    supported: Mask = _parity(numbers >> 1 & chosen) == numbers % 2
    return supported


def _parity(numbers: Any) -> Any:
    """Return whether the number of bits is odd, as 0 or 1."""
    return np.bitwise_count(numbers) & np.uint8(1)
