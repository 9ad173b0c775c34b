"""This file says what a mechanism for a repeated question is: an answer drawn for good, and reports about it.

A device draws a *memo* of its value once and keeps it. Each period's report is drawn from the memo, never
from the value, so that all reports about a value that stays tell no more than its memo: ``epsilon`` is
charged when a memo is made, and its reports are free (Erlingsson, Pihur, Korolova, "RAPPOR: Randomized
aggregatable privacy-preserving ordinal response", ACM CCS 2014).

The epsilons of single reports do not add up to a bound, since all of them lean on one memo: ``bound`` says
what so many of them tell. And memos hide what a value is, not when it changed: that is left to the second
step.
"""

import math
from typing import Any, Protocol, runtime_checkable

import numpy as np

from hubbub.coins import Coins
from hubbub.epsilon import Epsilon
from hubbub.errors import DomainError
from hubbub.estimate import Floats
from hubbub.mechanism import Ints, Loss, Mechanism, Reports, Values
from hubbub.probability import Real

Memos = Reports  # one a row, as wide as ``memo_layout`` says


class Noisy(Protocol):
    """The noise of a share that is estimated from one report, or one memo, a person."""

    def variance(self, frequency: Floats) -> Floats:
        """Return the noise variance of one person's part, by the share of those who hold a category."""
        ...

    def stderr(self, n: int, frequency: float) -> float:
        """Return the standard error of a share that noise makes among n people."""
        ...


@runtime_checkable
class Longitudinal(Mechanism, Protocol):
    """A mechanism in two steps.

    Its ``epsilon`` and ``loss`` are those of a memo, and so of any number of reports about one value;
    ``likelihood``, ``estimate`` and ``stderr`` speak of one report.
    """

    @property
    def memo_layout(self) -> "np.dtype[Any]":
        """The numpy type of one memo."""
        ...

    @property
    def states(self) -> int:
        """How many memos a device can need in its life, whatever its values are."""
        ...

    @property
    def permanent(self) -> Noisy:
        """What the memos themselves would tell of a share."""
        ...

    def memoize(self, values: Values, coins: Coins, *, earlier: Memos | None = None) -> Memos:
        """Draw the permanent answer to each value: the only method of the two that sees it.

        earlier: a memo of each same device, whose part that says nothing of a value is kept.
        """
        ...

    def state(self, values: Values, memos: Memos) -> Ints:
        """Number the state that a device is in, given any memo of its own; for each state it has one memo."""
        ...

    def report(self, memos: Memos, coins: Coins) -> Reports:
        """Draw a fresh report from each memo."""
        ...

    def sequence(self, held: Any, reports: Reports) -> Real:
        """Return the probability that a holder sends these reports, in this order, from one memo."""
        ...

    def bound(self, reports: int) -> Loss:
        """Enclose the worst-case privacy loss of so many reports from one memo.

        Raises DomainError if there is none.
        """
        ...

    def reservation(self, changes: int) -> int:
        """Return what a device sets aside that may change its value so often, in millionths of epsilon.

        Raises DomainError if changes is negative.
        """
        ...


def reserved(epsilon: Epsilon, *, changes: int, states: int) -> int:
    """Return the cost of one memo more than there are changes, but of no more than there are states.

    >>> reserved(Epsilon.parse("1.5"), changes=3, states=2)
    3000000
    """
    if changes < 0:
        raise DomainError(f"changes must be 0 or more, got {changes}")
    return min(changes + 1, states) * epsilon.micro


def first_of(first: object, epsilon: Epsilon) -> Epsilon:
    """Read the epsilon of a single report, which must be less than that of the memo.

    Raises DomainError.
    """
    read = Epsilon.parse(first)  # type: ignore[arg-type]  # it refuses what is none
    if not read < epsilon:
        raise DomainError(f"first, the epsilon of a single report, must be less than {epsilon}, got {read}")
    return read


def over_periods(mechanism: Longitudinal, n: int, periods: int, *, frequency: float = 0.0) -> float:
    """Return the standard error of a share that is averaged over periods of the same n memos.

    periods: in how many of them everyone reports. The noise of the reports averages out, that of the memos
    stays, so that more periods help only so far.

    Raises DomainError if there are no people or periods.

    >>> from hubbub.mechanisms.l_grr import LGRR
    >>> mechanism = LGRR(epsilon="4", first="1", k=10)
    >>> [round(over_periods(mechanism, 1000, periods), 4) for periods in (1, 30, 10**6)]
    [0.0603, 0.0119, 0.0047]
    """
    if n < 1 or periods < 1:
        raise DomainError(f"people and periods must be at least 1, got {n} and {periods}")
    once = mechanism.stderr(1, frequency=frequency) ** 2
    always = mechanism.permanent.stderr(1, frequency) ** 2
    return math.sqrt((always + (once - always) / periods) / n)
