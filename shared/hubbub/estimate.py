"""This file says what an estimate is: unbiased values with the error they carry.

An error is always *about* something: about these ``respondents`` (only the noise counts) or about the
``population`` they stand for (the luck of who answered counts too).
"""

from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

About = Literal["respondents", "population"]
Floats = NDArray[np.float64]


class Estimate(Protocol):
    """Unbiased values, one row a quantity.

    Two files make them: ``frequencies`` for shares of categories, ``moments`` for numbers.
    """

    @property
    def n(self) -> int:
        """How many reports it is made of, at least one."""
        ...

    @property
    def rows(self) -> tuple[str, ...]:
        """What each row is: "0", "1", ... for the categories in order, or "mean", "sum", "variance"."""
        ...

    @property
    def values(self) -> Floats:
        """The unbiased values, shape (rows,): never clipped, so a share may lie below 0."""
        ...

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (rows,); nan where the reports are too few to tell."""
        ...

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (rows, 2); nan where the reports are too few to tell.

        level: 0.5 to 0.9999. Raises DomainError outside.
        """
        ...
