"""This file holds RAPPOR: bits kept or replaced for good, and flipped in each report of them.

Erlingsson, Pihur, Korolova, "RAPPOR: Randomized aggregatable privacy-preserving ordinal response", ACM CCS
2014: permanent and instantaneous randomized response, of one bit a category.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.estimate import Quantity
from hubbub.frequencies import Channel, Shares, categories
from hubbub.laws import Law
from hubbub.longitudinal import Memos, first_of, reserved
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.mechanisms.symmetric_unary import SymmetricUnary
from hubbub.probability import Real
from hubbub.second_step import BitStep
from hubbub.tally import Tally


@dataclass(frozen=True, slots=True, init=False)
class Rappor:
    """One of k categories, asked again and again.

    A memo and a report are k bits each, as in symmetric unary encoding, whose law a report follows at the
    epsilon ``first``, which is less than that of the memo. In the paper's letters, for one bit set of k:
    f = 2 (1 - p1), so that epsilon = 2 log((1 - f/2) / (f/2)), and a report sets a bit that its memo sets
    with probability q = 1 - flip, another with p = flip.

    >>> mechanism = Rappor(epsilon="4", first="1", k=10)
    >>> mechanism.permanent.p, mechanism.channel.p, mechanism.step.flip
    (Real(0.8807970779778824), Real(0.6224593312018546), Real(0.3392065770933157))
    >>> [round(float(mechanism.bound(reports).upper), 3) for reports in (1, 2, 4, 16)]
    [1.0, 1.908, 3.19, 4.0]
    """

    kind: ClassVar[str] = "rappor"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    first: Epsilon
    k: int
    step: BitStep = field(init=False, repr=False, compare=False)
    _memo: SymmetricUnary = field(init=False, repr=False, compare=False)
    _single: SymmetricUnary = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, k: int, *, first: EpsilonLike) -> None:
        memo = SymmetricUnary(epsilon, k)
        single = SymmetricUnary(first_of(first, memo.epsilon), k)
        object.__setattr__(self, "epsilon", memo.epsilon)
        object.__setattr__(self, "first", single.epsilon)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "step", BitStep(k, memo.channel, single.channel))
        object.__setattr__(self, "_memo", memo)
        object.__setattr__(self, "_single", single)

    @property
    def layout(self) -> "np.dtype[Any]":
        """The bytes that k bits fill."""
        return self._single.layout

    @property
    def memo_layout(self) -> "np.dtype[Any]":
        """The bytes that k bits fill."""
        return self._memo.layout

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return self._single.rows

    @property
    def states(self) -> int:
        """One a category."""
        return self.k

    @property
    def permanent(self) -> Channel:
        """How likely a memo sets the bit of the category held / of another one."""
        return self._memo.channel

    @property
    def channel(self) -> Channel:
        """How likely a report sets the bit of the category held / of another one."""
        return self._single.channel

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a report from a new memo."""
        return self.report(self.memoize(values, coins), coins)

    def memoize(self, values: Values, coins: Coins, *, earlier: Memos | None = None) -> Memos:  # noqa: ARG002 - a memo holds nothing but the answer
        """Set every bit with probability q1, but the held one with probability p1."""
        return self._memo.perturb(values, coins)

    def state(self, values: Values, memos: Memos) -> Ints:  # noqa: ARG002 - see states
        """Return the category."""
        return categories(values, self.k).astype(np.int64)

    def report(self, memos: Memos, coins: Coins) -> Reports:
        """Flip each bit of each memo with one probability."""
        return self.step.report(memos, coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports leave the bits beyond the last category 0."""
        return self._single.check(reports)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each category."""
        return self._single.tally(reports)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of one report of everybody."""
        return self._single.laws(tally)

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of one report of everybody."""
        return self._single.report_laws(reports)

    def estimate(self, tally: Tally) -> Shares:
        """Return the share of each category."""
        return self._single.estimate(tally)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports in one period."""
        return self._single.stderr(n, frequency=frequency)

    def loss(self) -> Loss:
        """Enclose the loss of a memo: all that any number of reports can tell."""
        return self._memo.loss()

    def bound(self, reports: int) -> Loss:
        """Enclose the loss of so many reports from one memo, which is the greatest where all are equal."""
        return self.step.bound(reports)

    def reservation(self, changes: int) -> int:
        """Return what a device sets aside that may change its value so often, in millionths of epsilon."""
        return reserved(self.epsilon, changes=changes, states=self.states)

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Draw a tally of symmetric unary encoding: one report of everybody follows that law."""
        return self._single.simulate(counts, coins)

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Return the categories."""
        return self._single.inputs(values, coins)

    def outputs(self) -> Reports:
        """Return every row of k bits.

        Raises DomainError if k is over 20.
        """
        return self._single.outputs()

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the product over all bits."""
        return self._single.likelihood(held, report)

    def sequence(self, held: int, reports: Reports) -> Real:
        """Multiply, over all bits, how likely they fall so in all reports."""
        return self.step.sequence(held, reports)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely the memo and a report tick each answer."""
        return self.step.sentence(len(names))
