"""This file holds the piecewise mechanism for a number in a range, on a grid of integers.

Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu, "Collecting and analyzing multidimensional data with local
differential privacy", ICDE 2019: reports crowd in a window about the number. The width is the best one, as in
PM-OPT of Zhao et al., "Local differential privacy-based federated learning for Internet of Things", IEEE
Internet of Things Journal 2021. Theirs is continuous; here the window moves over whole numbers, so that every
probability and the mean are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.estimate import Quantity
from hubbub.grid import End, Grid
from hubbub.laws import Law, counted
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.outcomes import MEANS, Meaning, Outcomes, count, layout
from hubbub.probability import Real, percent
from hubbub.tally import Tally
from hubbub.window_error import best_width, piecewise_error, window_grid, window_meaning
from hubbub.windows import Window

_ROWS = 1 << 14  # worked on at a time


@dataclass(frozen=True, slots=True, init=False)
class Piecewise:
    """A number in [low, high], rounded at random to one of ``steps`` + 1 points.

    A report is an index: one of the L from the point's own on with probability p each, or any other with q,
    p = e^epsilon q. L is the width with the least error at worst. One byte up to 256 reports, else two.

    >>> mechanism = Piecewise(epsilon="4.0", low="-1", high="1")
    >>> mechanism.window.width, mechanism.window.outputs, round(mechanism.stderr(1) ** 2, 5)
    (331, 1355, 0.16185)
    """

    kind: ClassVar[str] = "piecewise"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    low: Fraction
    high: Fraction
    steps: int
    grid: Grid = field(init=False, repr=False, compare=False)
    window: Window = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, low: End, high: End, *, steps: int = 1024) -> None:
        grid = window_grid(low, high, steps)
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "low", grid.low)
        object.__setattr__(self, "high", grid.high)
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "grid", grid)
        e = Real.exp(self.epsilon.exact)
        width = best_width(e, steps, piecewise_error)
        object.__setattr__(self, "window", Window(steps + 1, width, e))

    @property
    def meaning(self) -> Meaning:
        """The number that each report stands for: the middle of the points that it speaks for, stretched."""
        return Meaning(self.grid, *window_meaning(self.window, self.steps))

    @property
    def layout(self) -> "np.dtype[Any]":
        """One index."""
        return layout(self.window.outputs)

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean and the sum."""
        return MEANS

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Round each value to the grid, and draw a report in its window or anywhere."""
        reports = np.empty(len(values), dtype=self.layout)
        for some in slices(len(values), _ROWS):
            reports[some] = self.window.draw(self.inputs(values[some], coins), coins)
        return reports

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Round values to points of the grid."""
        return self.grid.points(values, coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are indices."""
        return (reports >= 0) & (reports < self.window.outputs)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each index."""
        return count(reports, self.window.outputs)

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the reports of each index."""
        chances = float(self.window.q), float(self.window.p)
        return [counted("reports that say {}", tally.cells, tally.n, *chances)]

    def estimate(self, tally: Tally) -> Outcomes:
        """Return the mean and the sum of the values."""
        return Outcomes(tally.n, tally.cells, self.meaning)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:  # noqa: ARG002 - the ends are worst
        """Return the standard error of the mean to expect of n reports."""
        return self.meaning.stderr(n)

    def loss(self) -> Loss:
        """Enclose log(p / q)."""
        return Loss(*self.window.loss())

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Scatter everybody's reports at once."""
        return Tally(int(counts.sum()), self.window.crowd(counts, coins))

    def outputs(self) -> Reports:
        """Return every index."""
        return np.arange(self.window.outputs).astype(self.layout)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return p in the window of the point held, and q outside."""
        return self.window.likelihood(held, int(report))

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely a report is to be near the truth."""
        outputs, width = self.window.outputs, self.window.width
        return (
            f"your number, taken as within {names[0]} and {names[1]}, is sent as one of {outputs} numbers: "
            f"as one of the {width} nearest to it with probability {percent(self.window.p * width)}, "
            "else as any other"
        )
