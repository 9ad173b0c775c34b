"""This file estimates the marginals of a joint table: each attribute alone, from the shares of all cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import DomainError
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
        return np.concatenate(self._sums(self.joint.values))

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (rows,)."""
        return np.concatenate([each.stderr(about) for each in self._together])

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (rows, 2)."""
        return np.concatenate([each.interval(level, about) for each in self._together])

    def together(self, rows: Sequence[int]) -> Together:
        """Estimate the share of people who are in some categories at once: "dark, and on linux or mac".

        rows: categories of one attribute or several; people count who have one of them in each of these
        attributes. Raises DomainError if there is none, if one is twice there, and if everybody counts.
        """
        if not rows or len(set(rows)) < len(rows) or not 0 <= min(rows) <= max(rows) < sum(self.sizes):
            raise DomainError("together are different rows of the marginals, at least one")
        counts, start = np.ones(self.sizes, dtype=np.bool_), 0
        for at, size in enumerate(self.sizes):
            named = np.isin(np.arange(start, start + size), rows)
            if named.any():
                np.moveaxis(counts, at, -1)[..., ~named] = False
            start += size
        return self.joint.together(np.flatnonzero(counts).tolist())

    @property
    def _together(self) -> list[Together]:
        return [
            self.joint.counted(int(count), self.joint.supports.size // counts.size)
            for counts in self._sums(self.joint.supports)
            for count in counts
        ]

    def _sums(self, cells: NDArray[Any]) -> list[NDArray[Any]]:
        """Add cells up by the categories of each attribute."""
        table = cells.reshape(self.sizes)
        return [np.moveaxis(table, at, 0).reshape(size, -1).sum(axis=1) for at, size in enumerate(self.sizes)]


def marginal_rows(sizes: Sequence[int]) -> tuple[Quantity, ...]:
    """Return the rows of marginals: the categories of each attribute."""
    return tuple(
        Quantity(f"{at}:{category}", "share") for at, size in enumerate(sizes) for category in range(size)
    )


def marginal_variance(channel: Channel, cells: int, sizes: Sequence[int], share: float) -> float:
    """Return the largest noise variance of one report's estimate of a share of an attribute's category."""
    found = [channel.together(cells // size) for size in sorted(set(sizes))]
    return max(outside + share * (inside - outside) for inside, outside in found)
