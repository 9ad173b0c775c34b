"""This file holds PrivUnitG for a vector of bounded length: a Gaussian vector that leans its way.

Bhowmick, Duchi, Freudiger, Kapoor, Rogers, "Protection against reconstruction and its applications in private
federated learning", 2018, in the Gaussian form of Asi, Feldman, Talwar, "Optimal algorithms for mean
estimation under local differential privacy", ICML 2022.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import Floats, Quantity
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.normal_draws import above, at_most, normals, uniforms
from hubbub.probability import Real, percent
from hubbub.tally import Tally
from hubbub.vectors import VectorMeans, add_up, check_norm, check_size, coordinate_rows, shortened

_CHUNK = 1 << 14  # numbers worked on at a time
_TOP = 2**15 - 1
_SPAN = 24.0  # standard deviations of a Gaussian number that the largest integer stands for


@dataclass(frozen=True, slots=True)
class Lean:
    """How far a report leans towards the truth, in standard deviations of its numbers.

    p: the chance that it lies beyond ``cap`` in the true direction. q: the mass of a Gaussian up to the cap.
    gain: its expected lean. square: the expected square of its lean.
    """

    p: float
    q: float
    cap: float

    @classmethod
    def best(cls, epsilon: float, size: int) -> "Lean":
        """Return the one of least error: epsilon is shared out between log p / (1 - p) and log q / (1 - q).

        >>> lean = Lean.best(4.0, 64)
        >>> round(lean.p, 3), round(lean.cap, 3), round(lean.error(64) * 4 / 64, 3)
        (0.795, 1.504, 1.741)
        """
        low, high = 0.0, epsilon
        for _ in range(80):
            third = (high - low) / 3
            one, other = low + third, high - third
            if cls.of(one, epsilon).error(size) < cls.of(other, epsilon).error(size):
                high = other
            else:
                low = one
        return cls.of(low, epsilon)

    @classmethod
    def of(cls, share: float, epsilon: float) -> "Lean":
        """Return the one that spends ``share`` of epsilon on p and the rest on q."""
        q = _logistic(epsilon - share)
        return cls(_logistic(share), q, NormalDist().inv_cdf(q))

    @property
    def gain(self) -> float:
        """The expected lean of a report."""
        return _density(self.cap) * (self.p / (1 - self.q) - (1 - self.p) / self.q)

    @property
    def square(self) -> float:
        """The expected square of the lean."""
        return 1 + self.cap * self.gain

    def error(self, size: int) -> float:
        """Return the expected squared distance of one report's estimate from a vector of length 1."""
        return (self.square + size - 1) / self.gain**2 - 1


@dataclass(frozen=True, slots=True, init=False)
class PrivateUnit:
    """A vector of ``size`` numbers, shortened to ``norm``.

    It is made one of length 1 by a number more, which is not sent: all of a report but that lean is Gaussian.
    A report is one two-byte little-endian signed integer a number. The randomizer draws floats, so its
    epsilon holds for real numbers only: for simulation.

    >>> mechanism = PrivateUnit(epsilon="4.0", size=64, norm="1")
    >>> mechanism.exact, round(mechanism.lean.p, 3), mechanism.layout.itemsize
    (False, 0.795, 128)
    """

    kind: ClassVar[str] = "private_unit"
    exact: ClassVar[bool] = False
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    size: int
    norm: Fraction
    lean: Lean = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, size: int, norm: Decimal | Fraction | str | int) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "size", check_size(size))
        object.__setattr__(self, "norm", check_norm(norm))
        object.__setattr__(self, "lean", Lean.best(float(self.epsilon.exact), size + 1))

    @property
    def layout(self) -> "np.dtype[Any]":
        """One integer a number."""
        return np.dtype(("<i2", (self.size,)))

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean of each number."""
        return coordinate_rows(self.size)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a Gaussian vector for each, with a lean in the true direction in place of its own."""
        reports = np.empty(len(values), dtype=self.layout)
        for some in slices(len(values), max(1, _CHUNK // self.size)):
            units = self._lifted(values[some])
            free = normals(units.size, coins).reshape(units.shape)
            own = (free * units).sum(axis=1)
            drawn = free + units * (self._leans(len(units), coins) - own)[:, None]
            reports[some] = np.clip(np.rint(drawn[:, : self.size] * (_TOP / _SPAN)), -_TOP, _TOP)
        return reports

    def _lifted(self, values: Values) -> Floats:
        units = shortened(values, self.size, float(self.norm))
        rest = np.sqrt(np.maximum(1 - (units**2).sum(axis=1, keepdims=True), 0))
        return np.concatenate([units, rest], axis=1)

    def _leans(self, size: int, coins: Coins) -> Floats:
        is_beyond = uniforms(size, coins) < self.lean.p
        leans = np.empty(size)
        leans[is_beyond] = above(self.lean.cap, int(is_beyond.sum()), coins)
        leans[~is_beyond] = at_most(self.lean.cap, int((~is_beyond).sum()), coins)
        return leans

    def check(self, reports: Reports) -> Mask:
        """Tell which reports do without the lowest integer, which has no counterpart."""
        is_within: Mask = reports.min(axis=1) >= -_TOP
        return is_within

    def tally(self, reports: Reports) -> Tally:
        """Add up each number and its square."""
        if not self.check(reports).all():
            raise DomainError(f"a report must be numbers from {-_TOP} to {_TOP}")
        return add_up(reports, _TOP)

    def estimate(self, tally: Tally) -> VectorMeans:
        """Return the mean of each number.

        About the respondents, the noise of a number grows with its square, which the reports estimate.
        """
        found = VectorMeans.of(tally, offset=_TOP, unit=self._unit)
        norm, gain = float(self.norm), self.lean.gain
        squares = (found.spreads * (tally.n - 1) / tally.n + found.means**2) * (gain / norm) ** 2
        own = np.nan_to_num((squares - 1) / (self.lean.square - 1), nan=1.0)
        return replace(found, noise=self._noise(np.clip(own, 0, 1)))

    def _noise(self, squares: Floats) -> Floats:
        """Return the variance of one report's estimate of numbers with these mean squares, in norms."""
        norm, gain = float(self.norm), self.lean.gain
        return (1 + squares * (self.lean.square - 1 - gain**2)) * (norm / gain) ** 2

    @property
    def _unit(self) -> float:
        return float(self.norm) * _SPAN / _TOP / self.lean.gain

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:  # noqa: ARG002 - planned for the worst vector
        """Return the standard error of one number's mean to expect of n reports."""
        if n < 1:
            raise TooFewReportsError(n, 1, "a mean")
        return math.sqrt(self._noise(np.array([0.0, 1.0])).max() / n)

    def loss(self) -> Loss:
        """Raise DomainError: floats are drawn, and nothing about them is proven."""
        raise DomainError("private_unit draws floats, so that its loss is not proven")

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return None: vectors are not numbered."""

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - there are none
        """Raise DomainError: the inputs are real vectors."""
        raise DomainError("private_unit has real vectors for inputs")

    def outputs(self) -> Reports:
        """Raise DomainError: the reports are too many to list."""
        raise DomainError("the reports of a vector are too many to list")

    def likelihood(self, held: Any, report: Any) -> Real:  # noqa: ARG002 - of none
        """Raise DomainError: floats are drawn, and nothing about them is proven."""
        raise DomainError("private_unit draws floats, so that its likelihood is not known exactly")

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely a report leans towards the truth."""
        beyond = percent(Real(Fraction(self.lean.p)))
        return (
            f"your {names[0]} numbers, taken as a vector of length {names[1]} at most, are sent as a random "
            f"vector that leans far in their direction with probability {beyond}; drawn with floats, so that "
            "its epsilon is not proven"
        )


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
