"""This file estimates a joint table: each attribute alone, its marginal, and the cells where they are few."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import DomainError
from hubbub.estimate import About, Floats, Quantity
from hubbub.frequencies import Channel, Shares
from hubbub.reach import Reach
from hubbub.together import Together

MOST_LISTED = 64  # cells that are rows of their own


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """The share of each category of each attribute, and of each cell of at most 64.

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
        """The categories of each attribute, then the cells."""
        return table_rows(self.sizes)

    @property
    def values(self) -> Floats:
        """The unbiased shares, shape (rows,)."""
        return np.concatenate([*self._sums(self.joint.values), self._listed(self.joint.values)])

    def reach(self) -> Reach:
        """Return what one report says of each category and each cell."""
        listed = self.joint.reach().of(slice(len(_cell_rows(self.sizes))))
        return Reach.joined([*(each.reach() for each in self._marginals), listed])

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (rows,)."""
        cells = self._listed(self.joint.stderr(about))
        return np.concatenate([*(each.stderr(about) for each in self._marginals), cells])

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (rows, 2)."""
        cells = self._listed(self.joint.interval(level, about))
        return np.concatenate([*(each.interval(level, about) for each in self._marginals), cells])

    def together(self, rows: Sequence[int]) -> Together:
        """Estimate the share of people who are in any of some categories: "on linux or mac".

        Raises DomainError unless they are different ones of one attribute, and not all of it.
        """
        places = self._places(rows)
        if len({at for at, _ in places}) > 1:
            raise DomainError("any of some categories is for those of one attribute")
        return self.joint.together(
            np.flatnonzero(np.any([self._is_in(*place) for place in places], axis=0)).tolist()
        )

    def all_of(self, rows: Sequence[int]) -> Together:
        """Estimate the share of people who are in all of some categories: "dark, and on linux".

        Raises DomainError unless they are of different attributes.
        """
        places = self._places(rows)
        if len({at for at, _ in places}) < len(places):
            raise DomainError("nobody is in two categories of one attribute")
        return self.joint.together(
            np.flatnonzero(np.all([self._is_in(*place) for place in places], axis=0)).tolist()
        )

    def _places(self, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Return the attribute and the category of rows."""
        known = [(at, category) for at, size in enumerate(self.sizes) for category in range(size)]
        if not rows or len(set(rows)) < len(rows) or not 0 <= min(rows) <= max(rows) < len(known):
            raise DomainError("name different rows of the marginals, at least one")
        return [known[row] for row in rows]

    def _is_in(self, at: int, category: int) -> NDArray[np.bool_]:
        """Tell of each cell whether it is in a category, shape (cells,)."""
        return np.asarray(np.indices(self.sizes)[at].reshape(-1) == category)

    def _listed(self, cells: NDArray[Any]) -> NDArray[Any]:
        return cells[: len(_cell_rows(self.sizes))]

    @property
    def _marginals(self) -> list[Together]:
        return [
            self.joint.counted(int(count), self.joint.supports.size // counts.size)
            for counts in self._sums(self.joint.supports)
            for count in counts
        ]

    def _sums(self, cells: NDArray[Any]) -> list[NDArray[Any]]:
        """Add cells up by the categories of each attribute."""
        table = cells.reshape(self.sizes)
        return [np.moveaxis(table, at, 0).reshape(size, -1).sum(axis=1) for at, size in enumerate(self.sizes)]


def table_rows(sizes: Sequence[int]) -> tuple[Quantity, ...]:
    """Return the rows of a joint table: the categories of each attribute, and the cells if they are few.

    >>> [row.name for row in table_rows([2, 2])]
    ['0:0', '0:1', '1:0', '1:1', '0:0,1:0', '0:0,1:1', '0:1,1:0', '0:1,1:1']
    """
    marginals = (f"{at}:{category}" for at, size in enumerate(sizes) for category in range(size))
    return tuple(Quantity(name, "share") for name in (*marginals, *_cell_rows(sizes)))


def _cell_rows(sizes: Sequence[int]) -> list[str]:
    """Name the cells, the last attribute's categories running fastest; none if they are many."""
    if math.prod(sizes) > MOST_LISTED:
        return []
    cells = product(*map(range, sizes))
    return [",".join(f"{at}:{category}" for at, category in enumerate(cell)) for cell in cells]


def marginal_variance(channel: Channel, cells: int, sizes: Sequence[int], share: float) -> float:
    """Return the largest noise variance of one report's estimate of a share of an attribute's category."""
    found = [channel.together(cells // size) for size in sorted(set(sizes))]
    return max(outside + share * (inside - outside) for inside, outside in found)
