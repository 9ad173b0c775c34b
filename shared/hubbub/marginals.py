"""This file estimates the marginals of a joint table: each attribute alone, from the shares of all cells."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hubbub.estimate import About, Floats, Quantity
from hubbub.frequencies import Channel, Shares
from hubbub.together import Together


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """The share of each category of each attribute.

    joint: the share of each cell, the last attribute's categories running fastest. sizes: how many categories
    each attribute has.
    """

    joint: Shares
    sizes: tuple[int, ...]

    @property
    def n(self) -> int:
        """How many reports it is made of."""
        return self.joint.n

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The categories of each attribute: "1:0" is category 0 of attribute 1."""
        return marginal_rows(self.sizes)

    @property
    def values(self) -> Floats:
        """The unbiased shares, shape (rows,)."""
        return np.concatenate([each.values for each in self._together])

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (rows,)."""
        return np.concatenate([each.stderr(about) for each in self._together])

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (rows, 2)."""
        return np.concatenate([each.interval(level, about) for each in self._together])

    def where(self, held: Sequence[int | None]) -> Together:
        """Estimate the share of people in some categories at once: "dark and on linux".

        held: a category for each attribute, None where any will do. Raises DomainError if all are None.
        """
        return self.joint.together(cells_where(self.sizes, held))

    @property
    def _together(self) -> list[Together]:
        table = self.joint.supports.reshape(self.sizes)
        return [
            self.joint.counted(int(count), table.size // size)
            for at, size in enumerate(self.sizes)
            for count in np.moveaxis(table, at, 0).reshape(size, -1).sum(axis=1)
        ]


def cells_where(sizes: Sequence[int], held: Sequence[int | None]) -> list[int]:
    """List the cells of a table in which some attributes have a category.

    >>> cells_where((2, 3), (1, None)), cells_where((2, 3), (None, 2))
    ([3, 4, 5], [2, 5])
    """
    places = tuple(slice(None) if category is None else category for category in held)
    cells: list[int] = np.arange(np.prod(sizes)).reshape(sizes)[places].reshape(-1).tolist()
    return cells


def marginal_rows(sizes: Sequence[int]) -> tuple[Quantity, ...]:
    """Return the rows of marginals: the categories of each attribute."""
    return tuple(
        Quantity(f"{at}:{category}", "share") for at, size in enumerate(sizes) for category in range(size)
    )


def marginal_variance(channel: Channel, cells: int, sizes: Sequence[int], share: float) -> float:
    """Return the largest noise variance of one report's estimate of a share of an attribute's category."""
    found = [channel.together(cells // size) for size in sorted(set(sizes))]
    return max(outside + share * (inside - outside) for inside, outside in found)
