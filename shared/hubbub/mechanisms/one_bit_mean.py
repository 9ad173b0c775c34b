"""This file holds the one-bit report of a number in a range: its lower end or its upper one.

Duchi, Jordan, Wainwright, "Minimax optimal procedures for locally private estimation", JASA 2018, in one
dimension. 1BitMean of Ding, Kulkarni, Yekhanin, "Collecting telemetry data privately", NIPS 2017, is the
same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, bernoulli, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.estimate import Quantity
from hubbub.grid import End, Grid
from hubbub.laws import Law, counted
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.outcomes import MEANS, Meaning, Outcomes, count
from hubbub.probability import Real, percent
from hubbub.tally import Tally

_ROWS = 1 << 14  # worked on at a time


@dataclass(frozen=True, slots=True, init=False)
class OneBitMean:
    """A number in [low, high], rounded at random to one of the two ends.

    A report is one byte: the end, 0 or 1, with probability p = e^epsilon / (e^epsilon + 1), else the other.
    Taking the range for [-1, 1], a holder of x sends 1 with probability 1/2 + x (p - q) / 2.

    >>> mechanism = OneBitMean(epsilon="1.0", low="0", high="10")
    >>> mechanism.p, round(mechanism.stderr(100), 6)
    (Real(0.7310585786300049), 1.081977)
    """

    kind: ClassVar[str] = "one_bit_mean"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    low: Fraction
    high: Fraction
    grid: Grid = field(init=False, repr=False, compare=False)
    p: Real = field(init=False, repr=False, compare=False)
    q: Real = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, low: End, high: End) -> None:
        grid = Grid(low, high, 1)
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "low", grid.low)
        object.__setattr__(self, "high", grid.high)
        object.__setattr__(self, "grid", grid)
        e = Real.exp(self.epsilon.exact)
        object.__setattr__(self, "p", e / (e + 1))
        object.__setattr__(self, "q", 1 / (e + 1))

    @property
    def reach(self) -> Real:
        """How far from the middle a report stands, with the range taken for [-1, 1]: 1 / (p - q)."""
        return 1 / (self.p - self.q)

    @property
    def meaning(self) -> Meaning:
        """The number that each report stands for."""
        reach = float(self.reach)
        return Meaning(self.grid, np.array([-reach, reach]), np.array([reach**2, reach**2]))

    @property
    def layout(self) -> "np.dtype[Any]":
        """One byte."""
        return np.dtype("<u1")

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean and the sum."""
        return MEANS

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Round each value to an end, and keep it with probability p."""
        reports = np.empty(len(values), dtype=self.layout)
        for some in slices(len(values), _ROWS):
            ends = self.inputs(values[some], coins)
            reports[some] = ends ^ bernoulli(self.q, ends.size, coins)
        return reports

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Round values to the ends of the range, 0 and 1."""
        return self.grid.points(values, coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are an end."""
        return (reports >= 0) & (reports <= 1)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each end."""
        return count(reports, 2)

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the reports of each end."""
        return [counted("reports that say {}", tally.cells, tally.n, float(self.q), float(self.p))]

    def estimate(self, tally: Tally) -> Outcomes:
        """Return the mean and the sum of the values."""
        return Outcomes(tally.n, tally.cells, self.meaning)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:  # noqa: ARG002 - the middle is worst
        """Return the standard error of the mean to expect of n reports."""
        return self.meaning.stderr(n)

    def loss(self) -> Loss:
        """Enclose log(p / q), by which either report tells the ends apart."""
        return Loss(*Real.log(self.p / self.q).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Flip the ends of all at once."""
        flipped = coins.binomial(counts, self.q)
        return Tally(int(counts.sum()), counts - flipped + flipped[::-1])

    def outputs(self) -> Reports:
        """Return both reports."""
        return np.arange(2).astype(self.layout)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return p for the end held and q for the other."""
        return self.p if held == report else self.q

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely each report is."""
        return (
            f'your number, taken as within {names[0]} and {names[1]}, is sent as a mere "low" or "high": '
            f'"high" has probability {percent(self.q)} at {names[0]}, {percent(self.p)} at {names[1]}, '
            "and in between in proportion"
        )
