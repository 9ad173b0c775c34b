"""This file says how far fake reports can move an estimate, at most, whatever they and the honest ones say.

Of a row that is the mean over reports of what each says by itself, let one possible report say from ``least``
to ``most``. With m fakes among n reports, the value is (m/n) (their mean - that of the honest ones) away from
what the honest ones say alone, and both means lie between the two ends: so it is at most m (most - least) / n
away, and is that far where all fakes say the one and all honest reports the other. If the fakes took the
places of honest reports, the same holds: each changes one of n terms. A sum is a mean with n = 1, of which a
report that is not sent says 0. Where an estimate is anything else, its reach is not known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hubbub.estimate import About, Estimate, Floats

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """What one possible report says of each row, nan where that is not known.

    least, most: by itself, in the unit of the row. reports: of how many such reports the row is the mean. All
    of shape (rows,).
    """

    least: Floats
    most: Floats
    reports: Floats

    @classmethod
    def mean(cls, least: Floats, most: Floats, n: int) -> "Reach":
        """Return the reach of rows that are means over n reports."""
        return cls(least, most, np.full(least.shape, float(n)))

    @classmethod
    def mean_and_sum(cls, least: float, most: float, n: int) -> "Reach":
        """Return the reach of a mean over n reports, and of their sum."""
        lows, highs = np.array([least, min(least, 0.0)]), np.array([most, max(most, 0.0)])
        return cls(lows, highs, np.array([float(n), 1.0]))

    @classmethod
    def unknown(cls, rows: int) -> "Reach":
        """Return that of rows of which nothing is known."""
        nothing = np.full(rows, np.nan)
        return cls(nothing, nothing, nothing)

    @classmethod
    def joined(cls, parts: "list[Reach]") -> "Reach":
        """Return the reach of all rows of several."""
        columns = zip(*((part.least, part.most, part.reports) for part in parts), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    def of(self, rows: slice | list[int]) -> "Reach":
        """Return the reach of some rows."""
        return Reach(self.least[rows], self.most[rows], self.reports[rows])

    @property
    def per_fake(self) -> Floats:
        """How far one fake among the reports can move each row at most, shape (rows,)."""
        moved: Floats = (self.most - self.least) / self.reports
        return moved


@runtime_checkable
class Bounded(Protocol):
    """An estimate that knows how far fake reports can move it."""

    def reach(self) -> Reach:
        """Return what one possible report says of each row."""
        ...


def reach(estimate: Estimate) -> Reach:
    """Return the reach of an estimate, unknown where it does not say."""
    return estimate.reach() if isinstance(estimate, Bounded) else Reach.unknown(len(estimate.rows))


def largest_error(estimate: Estimate, about: About) -> Floats:
    """Return standard errors; where reports are too few to tell, those of reports half at each end."""
    errors, ends = estimate.stderr(about), reach(estimate)
    most = (ends.most - ends.least) / 2 / np.sqrt(ends.reports)
    known: Floats = np.where(np.isnan(errors), most, errors)
    return known


def weighted(parts: Sequence[Reach], weights: Sequence[float], sizes: Sequence[int]) -> Reach:
    """Return the reach of a weighted sum of estimates of the same rows, wherever a fake report is put.

    Parts of weights of one sign are one thing: all apart, or all of them a mean by size, which is one over
    all their reports. Otherwise, and where a mean is of parts that asked some people only, it is not known:
    without a fake, the weights would be others.

    sizes: how many reports the parts have.
    """
    columns = zip(*((part.least, part.most, part.reports) for part in parts), strict=True)
    least, most, reports = (np.stack(column) for column in columns)  # shape (parts, rows) each
    moved = np.zeros(least.shape[1])
    for sign in (1, -1):
        chosen = np.sign(weights) == sign
        own, n = np.abs(weights)[chosen], np.array(sizes)[chosen]
        low, high, told = least[chosen], most[chosen], reports[chosen]
        if own.size == 1 or (own == 1).all():
            moves = (own[:, None] * (high - low) / told).max(axis=0, initial=0)
        elif np.allclose(own * n.sum(), n):
            whole = (high.max(axis=0) - low.min(axis=0)) / n.sum()
            moves = np.where((told == n[:, None]).all(axis=0), whole, np.nan)
        else:
            moves = np.full_like(moved, np.nan)
        moved = np.maximum(moved, moves)
    return Reach.mean(np.zeros_like(moved), moved, 1)
