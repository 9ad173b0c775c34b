"""This file holds Laplace noise for a number in a range, on a grid of integers, so that no low bit tells.

Dwork, McSherry, Nissim, Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006, in the
discrete form of Ghosh, Roughgarden, Sundararajan, STOC 2009; and no float is drawn, because of Mironov, "On
significance of the least significant bits for differential privacy", CCS 2012.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub import limbs
from hubbub.coins import Coins, SimulationCoins, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import Quantity
from hubbub.grid import End, Grid
from hubbub.laws import Law
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.moments import MOMENTS, Moments, Noise
from hubbub.noise import DiscreteLaplace
from hubbub.noise_laws import sums, tails
from hubbub.probability import Real, percent
from hubbub.tally import Tally

_ROWS = 1 << 14  # worked on at a time
_TAIL = 28  # noise of more than 28 scales is cut off: e^-28 is one report in 10**12


@dataclass(frozen=True, slots=True, init=False)
class Laplace:
    """A number in [low, high], rounded at random to one of ``steps`` + 1 points.

    A report is the point's index plus discrete Laplace noise of scale steps / epsilon, kept within ``margin``
    of the points: a little-endian signed integer of the smallest width that holds both ends.

    >>> mechanism = Laplace(epsilon="1.0", low="0", high="10")
    >>> mechanism.margin, mechanism.layout, round(mechanism.stderr(100), 6)
    (28672, dtype('int16'), 1.414214)
    """

    kind: ClassVar[str] = "laplace"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    low: Fraction
    high: Fraction
    steps: int
    grid: Grid = field(init=False, repr=False, compare=False)
    margin: int = field(init=False, repr=False, compare=False)
    noise: DiscreteLaplace = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, low: End, high: End, *, steps: int = 1024) -> None:
        grid = Grid(low, high, steps)
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "low", grid.low)
        object.__setattr__(self, "high", grid.high)
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "margin", math.ceil(_TAIL * steps / self.epsilon.exact))
        object.__setattr__(self, "noise", DiscreteLaplace(self.epsilon.exact / steps))

    @property
    def layout(self) -> "np.dtype[Any]":
        """The narrowest signed integer that holds both ends."""
        top = self.steps + self.margin
        return np.dtype(next(f"<i{width}" for width in (1, 2, 4, 8) if top < 1 << (8 * width - 1)))

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean, the sum and the variance."""
        return MOMENTS

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Round each value to the grid, add noise, and keep the sum within the margin."""
        reports = np.empty(len(values), dtype=self.layout)
        for some in slices(len(values), _ROWS):
            points = self.inputs(values[some], coins)
            reports[some] = self._kept(points + self.noise.draw(points.size, coins))
        return reports

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Round values to points of the grid."""
        return self.grid.points(values, coins)

    def _kept(self, reports: Ints) -> Ints:
        return np.minimum(np.maximum(reports, -self.margin), self.steps + self.margin)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports lie within the margin."""
        return (reports >= -self.margin) & (reports <= self.steps + self.margin)

    def tally(self, reports: Reports) -> Tally:
        """Add up the reports' distances from the lowest possible one, and the squares of these."""
        total = self._tally(np.zeros(0, dtype=np.int64))
        for some in slices(len(reports), _ROWS):
            if not self.check(reports[some]).all():
                raise DomainError(f"a report must be from {-self.margin} to {self.steps + self.margin}")
            total += self._tally(reports[some].astype(np.int64))
        return total

    def _tally(self, reports: Ints, people: Ints | None = None) -> Tally:
        parts = 1 if self.steps + 2 * self.margin < 1 << limbs.BITS else 2
        cells = limbs.cut(reports + self.margin, parts)
        if people is None:
            return Tally(reports.size, cells.sum(axis=1))
        return Tally(int(people.sum()), cells @ people)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the sum of all reports and of their squares."""
        below, squares = limbs.whole(tally.cells)
        total = below - tally.n * self.margin
        squares -= 2 * self.margin * below - tally.n * self.margin**2
        return sums(self.noise, tally.n, total, squares, steps=self.steps, margin=self.margin)

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return that of reports far beyond the range."""
        return [tails(self.noise, reports, steps=self.steps)]

    def estimate(self, tally: Tally) -> Moments:
        """Return the mean, the sum and the variance of the values."""
        n = tally.n
        if n < 1:
            raise TooFewReportsError(n, 1, "a mean")
        total, squares = limbs.whole(tally.cells)
        mean = self.low + (Fraction(total, n) - self.margin) * self.grid.step
        spread = Fraction(n * squares - total**2, n * (n - 1)) * self.grid.step**2 if n > 1 else math.nan
        beyond = self.margin * self.grid.step
        ends = float(self.low - beyond), float(self.high + beyond)
        return Moments(n, float(mean), float(spread), float(self.grid.width), self._noise, ends)

    @property
    def _noise(self) -> Noise:
        step = float(self.grid.step)
        return Noise(
            variance=float(self.noise.variance) * step**2,
            fourth_moment=float(self.noise.fourth_moment) * step**4,
            rounding=step**2 / 4,
        )

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:  # noqa: ARG002 - it is the same everywhere
        """Return the standard error of the mean to expect of n reports."""
        return self._noise.stderr(n)

    def loss(self) -> Loss:
        """Enclose the worst log-ratio: the ends of the range, at an inner report and at the lowest."""
        first, last = 0, self.steps
        bounds = [
            Real.log(self.likelihood(first, report) / self.likelihood(last, report)).enclose(100)
            for report in (first, -self.margin)
        ]
        return Loss(max(lower for lower, _ in bounds), max(upper for _, upper in bounds))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Draw the noise of all who hold a point at once if they are many, else each one's."""
        total = self.tally(np.zeros(0, dtype=self.layout))
        are_many = counts >= 32 << self.noise.scale_digits
        for point in are_many.nonzero()[0]:
            noise, people = self.noise.crowd(int(counts[point]), coins)
            total += self._tally(self._kept(point + noise), people)
        ends = np.cumsum(np.where(are_many, 0, counts))
        for some in slices(int(ends[-1]), _ROWS):
            points = np.searchsorted(ends, np.arange(some.start, some.stop), side="right")
            total += self._tally(self._kept(points + self.noise.draw(points.size, coins)))
        return total

    def outputs(self) -> Reports:
        """Return every integer within the margin.

        Raises DomainError if there are over 2**20.
        """
        if self.steps + 2 * self.margin >= 2**20:
            raise DomainError(f"{self.steps + 2 * self.margin + 1} reports are too many to list")
        return np.arange(-self.margin, self.steps + self.margin + 1).astype(self.layout)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the probability of the noise between them; an outermost report stands for all beyond it."""
        distance = abs(int(report) - held)
        outermost = int(report) in (-self.margin, self.steps + self.margin)
        return self.noise.tail(distance) if outermost else self.noise.mass(distance)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how far off a report is likely to be."""
        large, width = percent(2 * self.noise.tail(self.steps)), float(self.grid.width)
        return (
            f"your number, taken as within {names[0]} and {names[1]}, is sent with random noise added: "
            f"noise of {width:g} or more, up or down, has probability {large}"
        )
