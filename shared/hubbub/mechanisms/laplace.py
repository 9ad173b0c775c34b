"""This file holds Laplace noise for a number in a range, on a grid of integers, so that no low bit tells.

Dwork, McSherry, Nissim, Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006, in the
discrete form of Ghosh, Roughgarden, Sundararajan, STOC 2009; and no float is drawn, because of Mironov, "On
significance of the least significant bits for differential privacy", CCS 2012.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.moments import Moments
from hubbub.noise import DiscreteLaplace
from hubbub.probability import Real
from hubbub.tally import Tally

_ROWS = 1 << 13
_LIMB = 20  # bits in a tally cell, so that 10**12 reports fit 64


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
    margin: int = field(
        init=False, repr=False, compare=False
    )  # steps that a report may lie outside the range
    noise: DiscreteLaplace = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        epsilon: EpsilonLike,
        low: Decimal | Fraction | str | int,
        high: Decimal | Fraction | str | int,
        *,
        steps: int = 1024,
    ) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "low", _end(low))
        object.__setattr__(self, "high", _end(high))
        object.__setattr__(self, "steps", steps)
        if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= 2**20:
            raise DomainError(f"steps must be an integer from 1 to 2**20, got {steps}")
        if not self.low < self.high:
            raise DomainError(f"range must rise from low to high, got [{low}, {high}]")
        object.__setattr__(self, "margin", int(-(-28 * steps // self.epsilon.exact)))
        object.__setattr__(self, "noise", DiscreteLaplace(self.epsilon.exact / steps))

    @property
    def layout(self) -> "np.dtype[Any]":
        """The narrowest signed integer that holds both ends."""
        top = self.steps + self.margin
        return np.dtype(next(f"<i{width}" for width in (1, 2, 4, 8) if top < 1 << (8 * width - 1)))

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Round each value to the grid, add noise, and keep the sum within the margin."""
        reports = np.empty(len(values), dtype=self.layout)
        for some in slices(len(values), _ROWS):
            points = self.inputs(values[some], coins)
            reports[some] = self._kept(points + self.noise.draw(points.size, coins))
        return reports

    def _kept(self, reports: Ints) -> Ints:
        return np.minimum(np.maximum(reports, -self.margin), self.steps + self.margin)

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Clamp values to the range and round them to one of two neighbours, so that the mean stays.

        Raises DomainError for what is not a finite number, naming no value.
        """
        numbers = np.asarray(values)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iuf":
            raise DomainError("values must be a row of numbers")
        if not np.isfinite(numbers).all():
            raise DomainError("values must be finite numbers")
        low, high = float(self.low), float(self.high)
        positions = (np.minimum(np.maximum(numbers, low), high) - low) * (self.steps / (high - low))
        floors = np.floor(positions)
        words = coins.words(4 * numbers.size).view("<u4")
        points = floors.astype(np.int64) + (words < (positions - floors) * 2.0**32)
        return np.minimum(np.maximum(points, 0), self.steps)  # private for any point of the grid

    def check(self, reports: Reports) -> Mask:
        """Tell which reports lie within the margin."""
        return (reports >= -self.margin) & (reports <= self.steps + self.margin)

    def tally(self, reports: Reports) -> Tally:
        """Add up the reports' distances from the lowest one and their squares, in limbs of 20 bits."""
        cells = np.zeros(8, dtype=np.int64)
        for some in slices(len(reports), _ROWS):
            distances = reports[some].astype(np.int64) + self.margin
            fine, coarse = distances & ((1 << _LIMB) - 1), distances >> _LIMB
            cells += _sums(fine, coarse)
        return Tally(len(reports), cells)

    def estimate(self, tally: Tally) -> Moments:
        """Return the mean, the sum and the variance."""
        n, step = tally.n, (self.high - self.low) / self.steps
        if n < 1:
            raise TooFewReportsError(n, 1, "a mean")
        total, squares = _whole(tally.cells)
        mean = self.low + (Fraction(total, n) - self.margin) * step
        spread = Fraction(n * squares - total * total, n * (n - 1)) * step**2 if n > 1 else float("nan")
        v, m4 = self._noise_moments()
        return Moments(n, float(mean), float(spread), float(step * self.steps), (v, m4))

    def _noise_moments(self) -> tuple[float, float]:
        step = (self.high - self.low) / self.steps
        return float(self.noise.variance * step**2), float(self.noise.fourth_moment * step**4)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:  # noqa: ARG002 - it is the same everywhere
        """Return the standard error of the mean to expect of n reports."""
        if n < 1:
            raise TooFewReportsError(n, 1, "a mean")
        return float((self._noise_moments()[0] / n) ** 0.5)

    def loss(self) -> Loss:
        """Enclose the worst log-ratio: the ends of the range, at an inner report and at the lowest."""
        lowest = -self.margin
        ratios = [
            Real.log(self.likelihood(0, report) / self.likelihood(self.steps, report)).enclose(100)
            for report in (0, lowest)
        ]
        return Loss(max(low for low, _ in ratios), max(high for _, high in ratios))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Draw everybody's noise."""
        total = Tally.zero(8)
        points = np.repeat(np.arange(self.steps + 1), counts)
        for some in slices(points.size, 1 << 20):
            reports = points[some] + self.noise.draw(points[some].size, coins)
            total += self.tally(np.clip(reports, -self.margin, self.steps + self.margin))
        return total

    def outputs(self) -> Reports:
        """Return every integer within the margin.

        Raises DomainError if there are over 2**20.
        """
        if self.steps + 2 * self.margin >= 2**20:
            raise DomainError("there are too many reports to list")
        return np.arange(-self.margin, self.steps + self.margin + 1).astype(self.layout)

    def likelihood(self, input_index: int, report: Any) -> Real:
        """Return the probability of the noise between them; the outermost reports hold all beyond."""
        distance = int(report) - input_index
        if int(report) in (-self.margin, self.steps + self.margin):
            return self.noise.tail(abs(distance))
        return self.noise.mass(distance)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how far off a report is."""
        return f"your number, taken as within {names[0]} and {names[1]}, is sent with noise added"


def _end(value: Decimal | Fraction | str | int) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, Decimal | Fraction | str | int):
        raise DomainError(
            f"an end of a range must be exact, got {type(value).__name__}; write it as a string"
        )
    try:
        return Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise DomainError("an end of a range must be a finite decimal") from None


def _sums(fine: Ints, coarse: Ints) -> Ints:
    products = (fine * fine, fine * coarse, coarse * coarse)
    limbs = [part for product in products for part in (product & ((1 << _LIMB) - 1), product >> _LIMB)]
    return np.array([each.sum() for each in (fine, coarse, *limbs)])


def _whole(cells: Ints) -> tuple[int, int]:
    fine, coarse, *limbs = cells.tolist()
    squares = [low + (high << _LIMB) for low, high in zip(limbs[::2], limbs[1::2], strict=True)]
    return fine + (coarse << _LIMB), squares[0] + (squares[1] << (_LIMB + 1)) + (squares[2] << (2 * _LIMB))
