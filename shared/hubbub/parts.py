"""This file joins what parts of the respondents told, where each was asked one of several things at random.

Those who were asked one thing are a sample of all respondents, drawn without replacement. So the error about
the respondents lies between that about the part and that about the population. Let m of n be asked. If noise
gives their estimate the variance v, and the spread of people makes it u about the population, then about all
respondents it is v + (1 - m/n) (u - v) = (m/n) v + (1 - m/n) u.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hubbub.errors import TooFewReportsError
from hubbub.estimate import About, Estimate, Floats, Quantity
from hubbub.reach import Reach, reach


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one thing is asked for, and what those who were asked said; None where nobody was."""

    rows: tuple[Quantity, ...]
    estimate: Estimate | None


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The estimates of all parts of n respondents, one after the other; nan where nobody was asked."""

    n: int
    parts: Sequence[Part]

    def __post_init__(self) -> None:
        if self.n < 1:
            raise TooFewReportsError(self.n, 1, "an estimate")

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """What each row is."""
        return tuple(row for part in self.parts for row in part.rows)

    @property
    def values(self) -> Floats:
        """The values, shape (rows,); unbiased, given how many were asked, where the parts are."""
        return np.concatenate(
            [
                part.estimate.values if part.estimate else np.full(len(part.rows), math.nan)
                for part in self.parts
            ]
        )

    def reach(self) -> Reach:
        """Return what one report says of each row, which may be about any part: all fakes about one."""
        parts = (
            reach(part.estimate) if part.estimate else Reach.unknown(len(part.rows)) for part in self.parts
        )
        return Reach.joined(list(parts))

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (rows,)."""
        return np.concatenate([self._stderr(part, about) for part in self.parts])

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (rows, 2).

        Each end about the respondents lies between that about the part and that about the population.
        """
        return np.concatenate([self._interval(part, level, about) for part in self.parts])

    def _stderr(self, part: Part, about: About) -> Floats:
        if part.estimate is None:
            return np.full(len(part.rows), math.nan)
        if about == "population" or part.estimate.n == self.n:
            return part.estimate.stderr(about)
        own, whole = part.estimate.stderr("respondents"), part.estimate.stderr("population")
        return self._between(part.estimate, own, whole)

    def _interval(self, part: Part, level: float, about: About) -> Floats:
        if part.estimate is None:
            return np.full((len(part.rows), 2), math.nan)
        if about == "population" or part.estimate.n == self.n:
            return part.estimate.interval(level, about)
        values = part.estimate.values[:, None]
        own = part.estimate.interval(level, "respondents") - values
        whole = part.estimate.interval(level, "population") - values
        return values + self._between(part.estimate, own, whole) * [-1, 1]

    def _between(self, estimate: Estimate, own: Floats, whole: Floats) -> Floats:
        told = estimate.n / self.n
        return np.sqrt(told * own**2 + (1 - told) * whole**2)
