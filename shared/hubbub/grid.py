"""This file rounds a number in a range to a point of a grid, at random, so that the mean stays."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import Coins, SimulationCoins
from hubbub.errors import DomainError
from hubbub.exact_number import ExactNumber, exact_number
from hubbub.probability import Real

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
End = ExactNumber

_WORDS = 2**32  # equally likely ones, that many of which round up


@dataclass(frozen=True, slots=True, init=False)
class Grid:
    """``steps`` + 1 evenly spaced points, 0 to ``steps``, from low to high.

    >>> Grid("0", "10", 4).step
    Fraction(5, 2)
    """

    low: Fraction
    high: Fraction
    steps: int

    def __init__(self, low: End, high: End, steps: int) -> None:
        if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= 2**20:
            raise DomainError(f"steps must be an integer from 1 to 2**20, got {steps}")
        object.__setattr__(self, "low", exact_number(low, "an end of a range"))
        object.__setattr__(self, "high", exact_number(high, "an end of a range"))
        object.__setattr__(self, "steps", steps)
        if not 0 < float(self.high) - float(self.low) < math.inf:
            raise DomainError(f"range must rise from low to high, got [{low}, {high}]")

    @property
    def width(self) -> Fraction:
        """How far low and high are apart."""
        return self.high - self.low

    @property
    def step(self) -> Fraction:
        """How far neighbours are apart."""
        return self.width / self.steps

    def points(self, values: NDArray[Any], coins: Coins) -> Ints:
        """Clamp values to the range and round each to one of its two neighbours, so that the mean stays.

        Raises DomainError for what is not a finite number, naming no value.
        """
        floors, ups = self._between(values)
        return self._clamped(floors + (coins.words(4 * floors.size).view("<u4") < ups))

    def crowd(self, values: NDArray[Any], counts: Ints, coins: SimulationCoins) -> Ints:
        """Return how many of all people ``points`` rounds to each point, by the same law, shape (steps + 1,).

        counts: how many people hold each value.
        """
        floors, ups = self._between(values)
        rounded = np.where(coins.words(4 * floors.size).view("<u4") < ups, counts, 0)
        for group in ((counts > 1) & (ups > 0)).nonzero()[0]:
            chance = Real(Fraction(math.ceil(ups[group]), _WORDS))
            rounded[group] = coins.binomial(counts[[group]], chance)[0]
        people = np.zeros(self.steps + 1, dtype=np.int64)
        np.add.at(people, self._clamped(floors), counts - rounded)
        np.add.at(people, self._clamped(floors + 1), rounded)
        return people

    def _between(self, values: NDArray[Any]) -> tuple[Ints, Floats]:
        """Return the point below each value, and how many of all words take it to the one above."""
        numbers = np.asarray(values)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all():
            raise DomainError("values must be a row of finite numbers")
        low, high = float(self.low), float(self.high)
        positions = (np.minimum(np.maximum(numbers, low), high) - low) * (self.steps / (high - low))
        floors = np.floor(positions)
        return floors.astype(np.int64), (positions - floors) * float(_WORDS)

    def _clamped(self, points: Ints) -> Ints:
        # floats end here: a mechanism hides any point of the grid from any other
        clamped: Ints = np.minimum(np.maximum(points, 0), self.steps)
        return clamped
