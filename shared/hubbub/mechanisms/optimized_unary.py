"""This file holds optimized unary encoding: one bit a category, the held one told with a fair coin.

Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation", USENIX Security
2017.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.estimate import Quantity
from hubbub.frequencies import Channel, Ints, Shares, categories, check_k, share_rows
from hubbub.laws import Law
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.probability import Real
from hubbub.tally import Tally
from hubbub.unary import UnaryBits


@dataclass(frozen=True, slots=True, init=False)
class OptimizedUnary:
    """One of k categories, best where k is large.

    A report is k bits: category v has bit v % 8 of byte v // 8, bit 0 being the lowest; bits from k on are 0.
    They are independent: the held one is 1 with probability p = 1/2, another with q = 1/(e^epsilon + 1).

    >>> mechanism = OptimizedUnary(epsilon="1.0", k=16)
    >>> mechanism.channel.p, mechanism.channel.q
    (Real(1/2), Real(0.2689414213699951))
    """

    kind: ClassVar[str] = "optimized_unary"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    k: int
    bits: UnaryBits = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, k: int) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", check_k(k))
        half, q = Real(Fraction(1, 2)), 1 / (Real.exp(self.epsilon.exact) + 1)
        object.__setattr__(self, "bits", UnaryBits(k, Channel(half, q)))

    @property
    def channel(self) -> Channel:
        """The chances of the held bit and of another."""
        return self.bits.channel

    @property
    def layout(self) -> "np.dtype[Any]":
        """The bytes that k bits fill."""
        return self.bits.layout

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return share_rows(self.k)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Set every bit with probability q, but the held one with probability p."""
        return self.bits.perturb(values, coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports leave the bits beyond the last category 0."""
        return self.bits.check(reports)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each category."""
        return self.bits.tally(reports)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the support of each category, and of the number of all ticks."""
        return self.bits.laws(tally)

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of the number of ticks in each report, and of ticks that come together."""
        return self.bits.report_laws(reports)

    def estimate(self, tally: Tally) -> Shares:
        """Return the share of each category."""
        return Shares(tally.n, tally.cells, self.channel)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports."""
        return self.channel.stderr(n, frequency)

    def loss(self) -> Loss:
        """Enclose the log of p (1 - q) / ((1 - p) q): two people's reports differ in the law of two bits."""
        return self.bits.loss()

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Count each category's bits among its holders and among the others."""
        return self.bits.simulate(counts, coins)

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return the categories."""
        return categories(values, self.k).astype(np.int64)

    def outputs(self) -> Reports:
        """Return every row of k bits.

        Raises DomainError if k is over 20.
        """
        return self.bits.outputs()

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the product over all bits."""
        return self.bits.likelihood(held, report)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely each answer is ticked."""
        return self.bits.sentence(names)
