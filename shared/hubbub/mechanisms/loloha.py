"""This file holds LOLOHA: a hash drawn for good, of it a permanent answer, and fresh reports of that.

Arcolezi, Pinzón, Palamidessi, Gambs, "Frequency estimation of evolving data under local differential
privacy", EDBT 2023; with linear maps as hashes, and the second step that makes one report exactly local
hashing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.estimate import Quantity
from hubbub.finite_field import digits, dot
from hubbub.frequencies import Channel, Ints, Shares, categories
from hubbub.laws import Law
from hubbub.longitudinal import Memos, first_of, reserved
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.mechanisms.local_hashing import LocalHashing, hashed_channel
from hubbub.probability import Real, percent
from hubbub.second_step import SymbolStep, told
from hubbub.tally import Tally

_ROWS = 1 << 15  # worked on at a time


@dataclass(frozen=True, slots=True, init=False)
class LOLOHA:
    """One of k categories, asked again and again, with a bound for life that does not grow with k.

    A memo and a report are a number a g + y each, as in linear local hashing at the epsilon ``first``: a, the
    hash, stays a device's own for good, and values that it takes to one digit share a memo of that digit.

    >>> mechanism = LOLOHA(epsilon="2", first="1", k=1024)
    >>> mechanism.g, mechanism.states, mechanism.reservation(100), mechanism.permanent.p
    (3, 3, 6000000, Real(0.7869860421615985))
    """

    kind: ClassVar[str] = "loloha"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    first: Epsilon
    k: int
    step: SymbolStep = field(init=False, repr=False, compare=False)
    permanent: Channel = field(init=False, repr=False, compare=False)
    _single: LocalHashing = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, k: int, *, first: EpsilonLike) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "first", first_of(first, self.epsilon))
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "_single", LocalHashing(self.first, k))
        object.__setattr__(self, "permanent", hashed_channel(self.epsilon, self.g))
        digit = [Channel(each.p, (1 - each.p) / (self.g - 1)) for each in (self.permanent, self.channel)]
        object.__setattr__(self, "step", SymbolStep(self.g, *digit))

    @property
    def g(self) -> int:
        """How many digits there are."""
        return self._single.g

    @property
    def layout(self) -> "np.dtype[Any]":
        """A number of t + 1 digits."""
        return self._single.layout

    @property
    def memo_layout(self) -> "np.dtype[Any]":
        """A number of t + 1 digits."""
        return self._single.layout

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return self._single.rows

    @property
    def states(self) -> int:
        """One a digit."""
        return min(self.g, self.k)

    @property
    def channel(self) -> Channel:
        """How likely a report supports the category held / another one."""
        return self._single.channel

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a report from a new memo."""
        return self.report(self.memoize(values, coins), coins)

    def memoize(self, values: Values, coins: Coins, *, earlier: Memos | None = None) -> Memos:
        """Draw a hash, unless that was done earlier, and tell the digit of each category."""
        held = categories(values, self.k)
        memos = np.empty(held.size, dtype=self.memo_layout)
        for some in slices(held.size, _ROWS):
            if earlier is None:
                hashes = integers(self.g**self._single.t, some.stop - some.start, coins).astype(np.int64)
            else:
                hashes = earlier[some].astype(np.int64) // self.g
            digit = told(self._digit(hashes, held[some]), self.g, self.step.permanent, coins)
            memos[some] = hashes * self.g + digit
        return memos

    def state(self, values: Values, memos: Memos) -> Ints:
        """Return the digit that a device's hash takes each category to."""
        return self._digit(memos.astype(np.int64) // self.g, categories(values, self.k))

    def _digit(self, hashes: Ints, values: Values) -> Ints:
        a, v = (digits(numbers, self.g, self._single.t) for numbers in (hashes, values.astype(np.int64)))
        return dot(a, v, self.g).astype(np.int64)

    def report(self, memos: Memos, coins: Coins) -> Reports:
        """Tell each memo's digit anew, with the hash that it came from."""
        reports = np.empty(len(memos), dtype=self.layout)
        for some in slices(len(memos), _ROWS):
            wide = memos[some].astype(np.int64)
            shared = wide // self.g * self.g
            reports[some] = shared + self.step.report(wide - shared, coins)
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports have t + 1 digits."""
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
        """Enclose the log-ratio of two digits in memos: all that any number of reports can tell."""
        return Loss(*Real.log(self.step.permanent.p / self.step.permanent.q).enclose(100))

    def bound(self, reports: int) -> Loss:
        """Enclose the loss of so many reports from one memo, which is the greatest where all are equal."""
        return self.step.bound(reports)

    def reservation(self, changes: int) -> int:
        """Return what a device sets aside that may change its value so often, in millionths of epsilon."""
        return reserved(self.epsilon, changes=changes, states=self.states)

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally | None:
        """Draw a tally of local hashing: one report of everybody follows that law."""
        return self._single.simulate(counts, coins)

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Return the categories."""
        return self._single.inputs(values, coins)

    def outputs(self) -> Reports:
        """Return every number of t + 1 digits.

        Raises DomainError if there are over 2**20.
        """
        return self._single.outputs()

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the chance of the hash times that of the digit."""
        return self._single.likelihood(held, report)

    def sequence(self, held: int, reports: Reports) -> Real:
        """Return the chance of the hash, which all reports share, times that of the digits in a row."""
        wide = reports.astype(np.int64)
        hashes = wide // self.g
        if (hashes != hashes[0]).any():
            return Real(0)
        digit = int(self._digit(hashes[:1], np.array([held]))[0])
        return self.step.sequence(digit, wide - hashes * self.g) / int(self.g**self._single.t)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely the memo and a report are true."""
        memo, report = percent(self.step.permanent.p), percent(self.step.channel.p)
        return (
            f"your device shuffles the {len(names)} answers into {self.g} groups, and replaces your group by "
            f"one that is true with probability {memo}, both for good; each report says how, with a "
            f"group drawn anew from that one, true with probability {report}"
        )
