"""This file holds a number in a range, sent by a table of whole numbers that is the best for its epsilon.

For finitely many inputs the channel of the least error is a linear programme (after Kairouz, Oh, Viswanath,
"Extremal mechanisms for local differential privacy", JMLR 2016). ``hubbub_lab.mean_tables`` solved it, once
and for all; a device takes nothing of that on trust, but checks the table in whole numbers before it uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from itertools import compress
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.grid import End, Grid
from hubbub.laws import Law, counted
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.outcomes import MEANS, Meaning, Outcomes, count, layout
from hubbub.probability import Real, percent
from hubbub.tally import Tally
from hubbub.weight_table import TOTAL, WeightTable

_ROWS = 1 << 14  # worked on at a time
_SPACING = Fraction(1, 4)  # of the epsilons that there are tables for
_HIGHEST = 8


@dataclass(frozen=True, slots=True, init=False)
class IntegerTable:
    """A number in [low, high], rounded at random to one of some points.

    A report is one byte, an index, drawn by its weight out of 2^40 at the point. There is a table for every
    epsilon from 0.25 to 8 in steps of 0.25. edition: of the tables, which a metric's id pins.

    >>> mechanism = IntegerTable(epsilon="2.0", low="-1", high="1")
    >>> mechanism.grid.steps, len(mechanism.table.numbers), round(mechanism.stderr(1) ** 2, 5)
    (16, 27, 0.86796)
    """

    kind: ClassVar[str] = "integer_table"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    low: Fraction
    high: Fraction
    edition: int
    table: WeightTable = field(init=False, repr=False, compare=False)
    grid: Grid = field(init=False, repr=False, compare=False)
    _ends: Ints = field(init=False, repr=False, compare=False)  # of the reports' shares, point after point

    def __init__(self, epsilon: EpsilonLike, low: End, high: End, *, edition: int = 1) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        table = load(self.epsilon, edition)
        grid = Grid(low, high, len(table.weights) - 1)
        object.__setattr__(self, "low", grid.low)
        object.__setattr__(self, "high", grid.high)
        object.__setattr__(self, "edition", edition)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "_ends", np.cumsum(table.weights, dtype=np.int64))

    @property
    def meaning(self) -> Meaning:
        """The number that each report stands for."""
        numbers = np.array(self.table.numbers) / self.table.unit
        return Meaning(self.grid, numbers, self._chances @ numbers**2)

    @property
    def _chances(self) -> "np.ndarray[Any, np.dtype[np.float64]]":
        return np.array(self.table.weights) / TOTAL

    @property
    def layout(self) -> "np.dtype[Any]":
        """One byte."""
        return layout(len(self.table.numbers))

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean and the sum."""
        return MEANS

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Round each value to a point, and draw a report by its weights."""
        reports = np.empty(len(values), dtype=self.layout)
        for some in slices(len(values), _ROWS):
            points = self.inputs(values[some], coins)
            places = points * TOTAL + integers(TOTAL, points.size, coins).astype(np.int64)
            found = np.searchsorted(self._ends, places, side="right")
            reports[some] = found - points * len(self.table.numbers)
        return reports

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Round values to points of the grid."""
        return self.grid.points(values, coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are indices."""
        return (reports >= 0) & (reports < len(self.table.numbers))

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each index."""
        return count(reports, len(self.table.numbers))

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the reports of each index."""
        chances = self._chances.min(axis=0), self._chances.max(axis=0)
        return [counted("reports that say {}", tally.cells, tally.n, *chances)]

    def estimate(self, tally: Tally) -> Outcomes:
        """Return the mean and the sum of the values."""
        return Outcomes(tally.n, tally.cells, self.meaning)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:  # noqa: ARG002 - the worst number counts
        """Return the standard error of the mean to expect of n reports."""
        return self.meaning.stderr(n)

    def loss(self) -> Loss:
        """Enclose the logarithm of the largest ratio of two weights of a report."""
        columns = zip(*self.table.weights, strict=True)
        return Loss(*Real.log(max(Fraction(max(column), min(column)) for column in columns)).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Draw the reports of all who hold a point at once."""
        cells = np.zeros(len(self.table.numbers), dtype=np.int64)
        for people, chances in zip(counts, self._chances, strict=True):
            cells += coins.multinomial(int(people), chances)
        return Tally(int(counts.sum()), cells)

    def outputs(self) -> Reports:
        """Return every index."""
        return np.arange(len(self.table.numbers)).astype(self.layout)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the weight of a report at a point, out of 2^40."""
        return Real(Fraction(self.table.weights[held][int(report)], TOTAL))

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely the report of either end is to lie on its own side."""
        above = [number > 0 for number in self.table.numbers]
        low, high = (
            percent(Real(Fraction(sum(compress(self.table.weights[end], above)), TOTAL))) for end in (0, -1)
        )
        return (
            f"your number, taken as within {names[0]} and {names[1]}, is sent as one of {len(above)} "
            f"numbers, drawn at random: one above the middle has probability {low} at {names[0]}, {high} at "
            f"{names[1]}, and something in between for any other"
        )


def load(epsilon: Epsilon, edition: int) -> WeightTable:
    """Return the table for an epsilon, checked.

    Raises DomainError if there is none.
    """
    if isinstance(edition, bool) or edition != 1:
        raise DomainError(f"edition must be 1, the only one of the tables yet, got {edition}")
    steps = min(epsilon.exact // _SPACING, _HIGHEST // _SPACING)
    if epsilon.exact != steps * _SPACING:
        below = f"; the next smaller is {float(steps * _SPACING):g}" if steps else ""
        raise DomainError(
            f"there are tables for epsilon 0.25, 0.5, 0.75 and so on to 8, not for {epsilon}{below}"
        )
    module = import_module(f"hubbub.mechanisms.tables.epsilon_{25 * steps:03}")
    return WeightTable.of_columns(epsilon.exact, module.UNIT, module.COLUMNS)
