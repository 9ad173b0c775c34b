"""This file holds L-GRR: randomized response for good, and randomized response of that in each report.

Arcolezi, Couchot, Al Bouna, Xiao, "Improving the utility of locally differentially private protocols for
longitudinal and multidimensional frequency estimates", Digital Communications and Networks 2022; with the
second step that makes one report exactly randomized response.
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
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.probability import Real, percent
from hubbub.second_step import SymbolStep
from hubbub.tally import Tally


@dataclass(frozen=True, slots=True, init=False)
class LGRR:
    """One of k categories, asked again and again.

    A memo and a report are a category index each, as in randomized response. first: the epsilon of a single
    report, less than that of the memo.

    >>> mechanism = LGRR(epsilon="4", first="1", k=10)
    >>> mechanism.permanent.p, mechanism.channel.p
    (Real(0.858486449758214), Real(0.23196931668407395))
    >>> [round(float(mechanism.bound(reports).upper), 3) for reports in (1, 2, 4, 16)]
    [1.0, 2.004, 3.488, 4.0]
    """

    kind: ClassVar[str] = "l_grr"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    first: Epsilon
    k: int
    step: SymbolStep = field(init=False, repr=False, compare=False)
    _memo: RandomizedResponse = field(init=False, repr=False, compare=False)
    _single: RandomizedResponse = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, k: int, *, first: EpsilonLike) -> None:
        memo = RandomizedResponse(epsilon, k)
        single = RandomizedResponse(first_of(first, memo.epsilon), k)
        object.__setattr__(self, "epsilon", memo.epsilon)
        object.__setattr__(self, "first", single.epsilon)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "step", SymbolStep(k, memo.channel, single.channel))
        object.__setattr__(self, "_memo", memo)
        object.__setattr__(self, "_single", single)

    @property
    def layout(self) -> "np.dtype[Any]":
        """One category index."""
        return self._single.layout

    @property
    def memo_layout(self) -> "np.dtype[Any]":
        """One category index."""
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
        """How likely a memo is the category held / another one."""
        return self._memo.channel

    @property
    def channel(self) -> Channel:
        """How likely a report is the category held / another one."""
        return self._single.channel

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a report from a new memo."""
        return self.report(self.memoize(values, coins), coins)

    def memoize(self, values: Values, coins: Coins, *, earlier: Memos | None = None) -> Memos:  # noqa: ARG002 - a memo holds nothing but the answer
        """Keep each category with probability p1 - q1, else draw any of all k."""
        return self._memo.perturb(values, coins)

    def state(self, values: Values, memos: Memos) -> Ints:  # noqa: ARG002 - see states
        """Return the category."""
        return categories(values, self.k).astype(np.int64)

    def report(self, memos: Memos, coins: Coins) -> Reports:
        """Keep each memo with probability p2 - q2, else draw any of all k."""
        return self.step.report(memos, coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are categories."""
        return self._single.check(reports)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each category."""
        return self._single.tally(reports)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of one report of everybody."""
        return self._single.laws(tally)

    def estimate(self, tally: Tally) -> Shares:
        """Return the share of each category."""
        return self._single.estimate(tally)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports in one period."""
        return self._single.stderr(n, frequency=frequency)

    def loss(self) -> Loss:
        """Enclose log(p1 / q1): all that any number of reports can tell is the memo."""
        return self._memo.loss()

    def bound(self, reports: int) -> Loss:
        """Enclose the loss of so many reports from one memo, which is the greatest where all are equal."""
        return self.step.bound(reports)

    def reservation(self, changes: int) -> int:
        """Return what a device sets aside that may change its value so often, in millionths of epsilon."""
        return reserved(self.epsilon, changes=changes, states=self.states)

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Draw a tally of randomized response: one report of everybody follows that law."""
        return self._single.simulate(counts, coins)

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Return the categories."""
        return self._single.inputs(values, coins)

    def outputs(self) -> Reports:
        """Return every category."""
        return self._single.outputs()

    def likelihood(self, held: int, report: Any) -> Real:
        """Return p for the category held and q for another."""
        return self._single.likelihood(held, report)

    def sequence(self, held: int, reports: Reports) -> Real:
        """Add up, over all memos, how likely each is and the reports are from it."""
        return self.step.sequence(held, reports)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely the memo and a report are true."""
        memo, report = percent(self.permanent.p), percent(self.channel.p)
        return (
            f"your answer, one of {len(names)}, is replaced once, for good, by one that is true with "
            f"probability {memo}; each report is drawn anew from that one, and is true with {report}"
        )
