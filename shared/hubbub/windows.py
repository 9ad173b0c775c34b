"""This file holds a channel whose reports crowd in a window that moves with the point held.

It is what the square wave and the piecewise mechanism come to on a grid of integers.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import Coins, SimulationCoins, bernoulli, integers, slices
from hubbub.errors import DomainError
from hubbub.probability import Real

Ints = NDArray[np.int64]

_ROWS = 1 << 15  # worked on at a time


@dataclass(frozen=True, slots=True)
class Window:
    """Points 0 to ``inputs`` - 1, and reports 0 to ``outputs`` - 1, some of them likelier than the others.

    A holder of point i sends each of the ``width`` reports from i on with probability p = e q, and each other
    one with q.

    >>> window = Window(inputs=3, width=2, e=Real(4))
    >>> window.outputs, window.p, window.q
    (4, Real(2/5), Real(1/10))
    """

    inputs: int
    width: int
    e: Real
    p: Real = field(init=False, repr=False, compare=False)
    q: Real = field(init=False, repr=False, compare=False)
    inside: Real = field(init=False, repr=False, compare=False)  # (p - q) width: else any report is drawn

    def __post_init__(self) -> None:
        if not (self.inputs >= 2 and self.width >= 1 and self.outputs < 1 << 60):
            raise DomainError(
                f"a window takes 2 inputs and a width of 1 at least, got {self.inputs} and {self.width}"
            )
        q = 1 / (self.e * self.width + (self.inputs - 1))
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "p", self.e * q)
        object.__setattr__(self, "inside", (self.p - q) * self.width)

    @property
    def outputs(self) -> int:
        """How many reports there are."""
        return self.inputs + self.width - 1

    def draw(self, points: Ints, coins: Coins) -> Ints:
        """Draw a report for each point: any in the window with probability ``inside``, else any of all."""
        reports = np.empty(points.size, dtype=np.int64)
        for some in slices(points.size, _ROWS):
            size = some.stop - some.start
            near = points[some] + integers(self.width, size, coins)
            is_inside = bernoulli(self.inside, size, coins)
            reports[some] = np.where(is_inside, near, integers(self.outputs, size, coins))
        return reports

    def crowd(self, counts: Ints, coins: SimulationCoins) -> Ints:
        """Draw how many reports are which for everybody at once, shape (outputs,).

        counts: how many people hold each point.
        """
        inside = coins.binomial(counts, self.inside)
        outside = int((counts - inside).sum())
        cells = coins.multinomial(outside, np.full(self.outputs, 1 / self.outputs))
        even = np.full(self.width, 1 / self.width)
        for point in inside.nonzero()[0]:
            cells[point : point + self.width] += coins.multinomial(int(inside[point]), even)
        return cells

    def likelihood(self, point: int, report: int) -> Real:
        """Return the probability that a holder of a point sends a report."""
        return self.p if point <= report < point + self.width else self.q

    def loss(self) -> tuple[Fraction, Fraction]:
        """Enclose log(p / q): of two points, each has a report in its own window alone."""
        return Real.log(self.p / self.q).enclose(100)
