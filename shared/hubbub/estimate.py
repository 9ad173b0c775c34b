"""This file says what an estimate is: unbiased values with the error they carry.

An error is always *about* something: about these ``respondents`` (only the noise counts) or about the
``population`` they stand for (the luck of who answered counts too).
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

About = Literal["respondents", "population"]
Unit = Literal["share", "number"]  # a share of people, or a number in the unit of the range
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a row of an estimate is.

    name: such as "mean", or the index of a category, which the domain gives its title. unbiased: False for
    what is made of unbiased values and no longer is, as a quantile.
    """

    name: str
    unit: Unit
    unbiased: bool = True


class Estimate(Protocol):
    """Values with their errors, one row a quantity; unbiased where the mechanism says so."""

    @property
    def n(self) -> int:
        """How many reports it is made of, at least one."""
        ...

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """What each row is."""
        ...

    @property
    def values(self) -> Floats:
        """The values, shape (rows,): never clipped, so an unbiased share may lie below 0."""
        ...

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (rows,); nan where the reports are too few to tell."""
        ...

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (rows, 2); nan where the reports are too few to tell.

        level: 0.5 to 0.9999. Raises DomainError outside.
        """
        ...
