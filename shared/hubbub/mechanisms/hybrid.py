"""This file holds the hybrid of a window of reports and one bit, for a number in a range.

Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu, "Collecting and analyzing multidimensional data with local
differential privacy", ICDE 2019. A coin that no number sways decides for the piecewise mechanism or the
one-bit mean, with odds that make the error the same for all numbers; the width of the window is the best one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, bernoulli, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.estimate import Quantity
from hubbub.grid import End, Grid
from hubbub.laws import Law, counted
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.outcomes import MEANS, Meaning, Outcomes, count, layout
from hubbub.probability import Real, percent
from hubbub.tally import Tally
from hubbub.window_error import (
    best_width,
    first_digits,
    hybrid_error,
    one_bit_error,
    window_grid,
    window_meaning,
)
from hubbub.windows import Window

_ROWS = 1 << 14  # worked on at a time


@dataclass(frozen=True, slots=True, init=False)
class Hybrid:
    """A number in [low, high], rounded at random to one of ``steps`` + 1 points.

    A report is an index: 0 or 1 is a one-bit report of the low or the high end, any other one, less 2, a
    report from a window, which is sent with probability ``share``. Up to epsilon 0.6 or so one bit is better
    alone, so there is no window, and ``share`` is 0. One byte up to 256 reports, else two.

    >>> mechanism = Hybrid(epsilon="1.0", low="-1", high="1")
    >>> mechanism.share, round(mechanism.stderr(1) ** 2, 5)
    (Real(0.41597880499582324), 4.26715)
    """

    kind: ClassVar[str] = "hybrid"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    low: Fraction
    high: Fraction
    steps: int
    grid: Grid = field(init=False, repr=False, compare=False)
    one_bit: OneBitMean = field(init=False, repr=False, compare=False)
    window: Window | None = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, low: End, high: End, *, steps: int = 1024) -> None:
        one_bit = OneBitMean(epsilon, low, high)
        object.__setattr__(self, "epsilon", one_bit.epsilon)
        object.__setattr__(self, "low", one_bit.low)
        object.__setattr__(self, "high", one_bit.high)
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "grid", window_grid(low, high, steps))
        object.__setattr__(self, "one_bit", one_bit)
        e = Real.exp(one_bit.epsilon.exact)
        width, digits = best_width(e, steps, hybrid_error), first_digits(e)
        pays = hybrid_error(digits, width, steps) < one_bit_error(digits)
        object.__setattr__(self, "window", Window(steps + 1, width, e) if pays else None)

    @property
    def share(self) -> Real:
        """The probability of a report from the window, the one that makes the error equal everywhere."""
        return self.window.inside if self.window else Real(0)

    @property
    def meaning(self) -> Meaning:
        """The number that each report stands for."""
        one_bit = self.one_bit.meaning
        if self.window is None:
            return Meaning(self.grid, one_bit.numbers, np.full(self.steps + 1, one_bit.squares[0]))
        numbers, squares = window_meaning(self.window, self.steps)
        mixed = float(self.share) * squares + float(1 - self.share) * one_bit.squares[0]
        return Meaning(self.grid, np.concatenate([one_bit.numbers, numbers]), mixed)

    @property
    def _outputs(self) -> int:
        return 2 + (self.window.outputs if self.window else 0)

    @property
    def layout(self) -> "np.dtype[Any]":
        """One index."""
        return layout(self._outputs)

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean and the sum."""
        return MEANS

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Round each value to the grid, draw a report of either kind, and choose by a coin."""
        reports = np.empty(len(values), dtype=self.layout)
        for some in slices(len(values), _ROWS):
            points = self.inputs(values[some], coins)
            ends = integers(self.steps, points.size, coins) < points
            reports[some] = ends ^ bernoulli(self.one_bit.q, points.size, coins)
            if self.window:
                windowed = self.window.draw(points, coins) + 2
                chosen = bernoulli(self.share, points.size, coins)
                np.copyto(reports[some], windowed, where=chosen, casting="unsafe")
        return reports

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Round values to points of the grid."""
        return self.grid.points(values, coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are indices."""
        return (reports >= 0) & (reports < self._outputs)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each index."""
        return count(reports, self._outputs)

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the reports of each index."""
        chances = np.full((2, self._outputs), float(1 - self.share)) * [
            [float(self.one_bit.q)],
            [float(self.one_bit.p)],
        ]
        if self.window:
            chances[:, 2:] = float(self.share) * np.array([[float(self.window.q)], [float(self.window.p)]])
        return [counted("reports that say {}", tally.cells, tally.n, *chances)]

    def estimate(self, tally: Tally) -> Outcomes:
        """Return the mean and the sum of the values."""
        return Outcomes(tally.n, tally.cells, self.meaning)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:  # noqa: ARG002 - it is the same everywhere
        """Return the standard error of the mean to expect of n reports."""
        return self.meaning.stderr(n)

    def loss(self) -> Loss:
        """Enclose the log-ratio of the ends of the range, at a one-bit report as in the window."""
        return self.one_bit.loss()

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Split the people of each point between both kinds, and draw the reports of each kind at once."""
        windowed = coins.binomial(counts, self.share)
        ends = np.zeros(2, dtype=np.int64)
        for point in (counts - windowed).nonzero()[0]:
            people = counts[[point]] - windowed[point]
            high = int(coins.binomial(people, Real(Fraction(int(point), self.steps)))[0])
            ends += [int(people[0]) - high, high]
        cells = self.one_bit.simulate(ends, coins).cells
        if self.window:
            cells = np.concatenate([cells, self.window.crowd(windowed, coins)])
        return Tally(int(counts.sum()), cells)

    def outputs(self) -> Reports:
        """Return every index."""
        return np.arange(self._outputs).astype(self.layout)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the probability of the kind of report, times that of the report if it is of this kind."""
        if self.window and report >= 2:
            return self.share * self.window.likelihood(held, int(report) - 2)
        high = Fraction(int(held), self.steps)
        low, top = (self.one_bit.likelihood(end, int(report)) for end in (0, 1))
        return (1 - self.share) * (low * (1 - high) + top * high)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely either kind of report is."""
        if self.window is None:
            return self.one_bit.sentence(names)
        p, q, one_bit = percent(self.one_bit.p), percent(self.one_bit.q), percent(1 - self.share)
        outputs, width = self.window.outputs, self.window.width
        return (
            f"your number, taken as within {names[0]} and {names[1]}, is sent in one of two ways: with "
            f'probability {one_bit} as a mere "low" or "high", "high" having probability {q} at {names[0]}, '
            f"{p} at {names[1]}, and in between in proportion; else as one of {outputs} numbers, one of the "
            f"{width} nearest to it having probability {percent(self.window.p * width)}"
        )
