"""This file holds Gaussian noise for a vector of bounded length, on a grid of integers: (epsilon, delta).

Dwork, Kenthapadi, McSherry, Mironov, Naor, "Our data, ourselves: privacy via distributed noise generation",
EUROCRYPT 2006; in the discrete form and with the proof of Canonne, Kamath, Steinke, "The discrete Gaussian
for differential privacy", NeurIPS 2020. For one number, and for an epsilon alone, Laplace noise is far less.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, slices
from hubbub.delta import Delta, DeltaLike
from hubbub.discrete_gaussian import MOST_DIGITS, DiscreteGaussian
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import Floats, Quantity
from hubbub.gaussian_privacy import delta_at, largest_rho
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.probability import Real
from hubbub.tally import Tally
from hubbub.vectors import VectorMeans, add_up, check_norm, check_size, coordinate_rows, shortened

_CHUNK = 1 << 14  # coordinates worked on at a time
_TAIL = 12  # a coordinate is cut off at 12 standard deviations of the noise: once in 10**32
_FINE = 256  # the grid has that many steps, times the root of the size, in the norm


@dataclass(frozen=True, slots=True, init=False)
class Gaussian:
    """A vector of ``size`` numbers, shortened to ``norm`` and rounded at random to a grid.

    A report is one four-byte little-endian signed integer a number: its grid point plus discrete Gaussian
    noise, kept within ``margin``.

    >>> mechanism = Gaussian(epsilon="1.0", size=16, norm="1", delta="1e-9")
    >>> mechanism.noise.sigma / (2 * mechanism.reach), round(mechanism.stderr(1), 2)
    (5.78..., 11.6)
    """

    kind: ClassVar[str] = "gaussian"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    delta: Delta
    size: int
    norm: Fraction
    noise: DiscreteGaussian = field(init=False, repr=False, compare=False)
    reach: int = field(init=False, repr=False, compare=False)  # the longest a rounded vector can be
    steps: int = field(init=False, repr=False, compare=False)  # of the grid, in the norm
    _rho: Fraction = field(init=False, repr=False, compare=False)
    _order: Fraction = field(init=False, repr=False, compare=False)

    def __init__(
        self, epsilon: EpsilonLike, size: int, norm: Decimal | Fraction | str | int, *, delta: DeltaLike
    ) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "delta", Delta.parse(delta))
        object.__setattr__(self, "size", check_size(size))
        object.__setattr__(self, "norm", check_norm(norm))
        if not self.delta.atto:
            raise DomainError('delta must be above 0 for Gaussian noise; write one like delta = "1e-9"')
        rho, order = largest_rho(self.epsilon.exact, self.delta.exact)
        digits, reach, steps = _grid(rho, size)
        object.__setattr__(self, "noise", DiscreteGaussian(digits))
        object.__setattr__(self, "reach", reach)
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "_rho", Fraction((2 * reach) ** 2, 2 * self.noise.sigma**2))
        object.__setattr__(self, "_order", order)

    @property
    def margin(self) -> int:
        """The largest integer of a report, up and down."""
        return self.reach + _TAIL * self.noise.sigma

    @property
    def layout(self) -> "np.dtype[Any]":
        """One integer a number."""
        return np.dtype(("<i4", (self.size,)))

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean of each number."""
        return coordinate_rows(self.size)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Shorten and round each vector, add noise, and keep the sums within the margin."""
        reports = np.empty(len(values), dtype=self.layout)
        for some in slices(len(values), max(1, _CHUNK // self.size)):
            points = self.inputs(values[some], coins)
            noise = self.noise.draw(points.size, coins).reshape(points.shape)
            reports[some] = np.clip(points + noise, -self.margin, self.margin)
        return reports

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Shorten vectors and round each number to one of its two neighbours, shape (n, size).

        Raises DomainError for what is no vector of finite numbers, naming no value.
        """
        places = shortened(values, self.size, float(self.norm)) * self.steps
        floors = np.floor(places)
        words = coins.words(4 * places.size).view("<u4").reshape(places.shape)
        points = floors.astype(np.int64) + (words < (places - floors) * 2.0**32)
        # floats end here: the noise hides any two points of the grid within reach of 0 from each other
        points = np.clip(points, -self.reach, self.reach)
        while (is_far := (points**2).sum(axis=1) > self.reach**2).any():
            points[is_far] = np.trunc(points[is_far] / 2).astype(np.int64)
        return points

    def check(self, reports: Reports) -> Mask:
        """Tell which reports lie within the margin."""
        is_within: Mask = np.abs(reports.astype(np.int64)).max(axis=1) <= self.margin
        return is_within

    def tally(self, reports: Reports) -> Tally:
        """Add up each number and its square."""
        if not self.check(reports).all():
            raise DomainError(f"a report must be numbers from {-self.margin} to {self.margin}")
        return add_up(reports, self.margin)

    def estimate(self, tally: Tally) -> VectorMeans:
        """Return the mean of each number."""
        found = VectorMeans.of(tally, offset=self.margin, unit=self._unit)
        return replace(found, noise=np.full(self.size, self._variance))

    @property
    def _unit(self) -> float:
        return float(self.norm) / self.steps

    @property
    def _variance(self) -> float:
        return (self.noise.sigma**2 + 0.25) * self._unit**2  # rounding adds a quarter at most

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:  # noqa: ARG002 - it is the same everywhere
        """Return the standard error of one number's mean to expect of n reports."""
        if n < 1:
            raise TooFewReportsError(n, 1, "a mean")
        return math.sqrt(self._variance / n)

    def loss(self) -> Loss:
        """Enclose the delta that zCDP proves at the claimed epsilon, for vectors twice the reach apart."""
        _, upper = delta_at(self._order, self._rho, self.epsilon.exact).enclose(200)
        return Loss(self.epsilon.exact, self.epsilon.exact, upper)

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return None: vectors are not numbered."""

    def outputs(self) -> Reports:
        """Raise DomainError: the reports are too many to list."""
        raise DomainError("the reports of a vector are too many to list")

    def likelihood(self, held: Any, report: Any) -> Real:  # noqa: ARG002 - of none
        """Raise DomainError: the law's constant is an infinite sum, and ``loss`` needs none."""
        raise DomainError("a discrete Gaussian has no likelihood in closed form; see loss")

    def sentence(self, names: Sequence[str]) -> str:
        """Say how large the noise is, and how likely the promise fails."""
        large = math.sqrt(self._variance)
        return (
            f"your {names[0]} numbers, taken as a vector of length {names[1]} at most, are sent with random "
            f"noise of standard deviation {large:.3g} added to each; with probability {self.delta} this "
            "protects less than stated"
        )

    def floats(self, reports: Reports) -> Floats:
        """Return reports in the unit of the values, such as for a step of training."""
        return reports * self._unit


def _grid(rho: Fraction, size: int) -> tuple[int, int, int]:
    """Return the digits of sigma, the reach and the steps of the coarsest grid that is fine enough.

    Rounding makes a vector longer than its norm by at most the root of its size, in steps.
    """
    root = math.isqrt(size - 1) + 1
    for digits in range(4, MOST_DIGITS + 1):
        reach = math.isqrt(math.floor(rho * 2 ** (2 * digits) / 2))  # (2 reach)^2 <= 2 rho sigma^2
        if reach - root >= _FINE * root:
            return digits, reach, reach - root
    raise DomainError(f"no grid is fine enough for {size} numbers at so small an epsilon; ask for fewer")
