"""This file puts estimates of one question together: from several periods, epsilons or mechanisms.

Each part is unbiased for its own people, so any weights that do not look at the data give an unbiased mean of
the parts. By size, the mean is that of all people together. By precision, n / v for reports of variance v, it
has the least error, but is that of all people only if each part's people are alike: where people choose their
own epsilon, the cautious ones may well hold other values, and count too little.

Errors of different people level out. Where the same people answer in each part, some of an error lasts: from
memos, what they themselves are off, and about the population the luck of who was asked. What lasts adds up,
and only the rest levels out: the noise of fresh reports, or what a report adds to its memo. In a difference
of two parts a lasting error would cancel, but how many people answered both from one memo, nobody knows, and
new memos are drawn apart: they are taken to level out. Who was asked is taken to add up even there, as it
does where people exchange their values.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np

from hubbub.errors import DomainError
from hubbub.estimate import About, Estimate, Floats, Quantity
from hubbub.intervals import normal_quantile
from hubbub.longitudinal import Longitudinal
from hubbub.mechanism import Mechanism
from hubbub.reach import Reach, largest_error, reach, weighted
from hubbub.tally import Tally
from hubbub.together import Joinable

Weights = Literal["size", "precision"]
Part: TypeAlias = tuple[Mechanism, Tally]  # a tally and the mechanism that made its reports
Told: TypeAlias = tuple[Mechanism, Estimate]  # what the mechanism made of it


@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """The weighted mean, the sum or the difference of several estimates of the same rows.

    weights: of the parts, adding up to 1 in a mean. places: of the rows that are put together, in each part.
    are_correlated: whether what lasts of the parts' errors adds up. is_fresh: whether no part answers from
    memos. memo: the mechanism of all parts if it does; of different ones, all of an error may last.
    """

    parts: tuple[Estimate, ...]
    weights: tuple[float, ...]
    places: tuple[tuple[int, ...], ...]
    are_correlated: bool
    is_fresh: bool
    memo: Longitudinal | None = None

    @property
    def n(self) -> int:
        """How many reports there are in all parts."""
        return sum(part.n for part in self.parts)

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The shares and means."""
        rows = self.parts[0].rows
        return tuple(rows[place] for place in self.places[0])

    @property
    def values(self) -> Floats:
        """The weighted sums, shape (rows,)."""
        values: Floats = np.array(self.weights) @ self._all([part.values for part in self.parts])
        return values

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (rows,); of correlated parts, the most that they can be."""
        weights = np.array(self.weights)
        errors = self._all([largest_error(part, about) for part in self.parts])
        fresh = self._fresh() if self.are_correlated else errors**2
        kept = np.maximum(self._once() - fresh, 0) if self.memo is not None else np.zeros_like(errors)
        asked = np.sqrt(np.maximum(errors**2 - fresh - kept, 0))
        alike = [some @ np.sqrt(kept) for some in (np.maximum(weights, 0), np.minimum(weights, 0))]
        variances = (np.abs(weights) @ asked) ** 2 + alike[0] ** 2 + alike[1] ** 2 + weights**2 @ fresh
        together: Floats = np.sqrt(variances)
        return together

    def reach(self) -> Reach:
        """Return how far one report of any part can move each row."""
        ends = [reach(part).of(list(own)) for part, own in zip(self.parts, self.places, strict=True)]
        return weighted(ends, self.weights, [part.n for part in self.parts])

    def together(self, rows: Sequence[int]) -> "Combined":
        """Estimate the share of the people who hold any of some categories.

        Raises DomainError as the parts do, and if they can't.
        """
        if not all(isinstance(part, Joinable) for part in self.parts):
            raise DomainError("these estimates can't tell the error of categories together")
        return self.each(lambda part: cast("Joinable", part).together(rows))

    def each(self, made: Callable[[Estimate], Estimate]) -> "Combined":
        """Put together the one row that is made of each part's estimate."""
        parts = tuple(made(part) for part in self.parts)
        return Combined(parts, self.weights, ((0,),) * len(parts), self.are_correlated, self.is_fresh)

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals by the normal law, shape (rows, 2)."""
        half = normal_quantile(level) * self.stderr(about)
        return self.values[:, None] + np.outer(half, [-1, 1])

    def _fresh(self) -> Floats:
        """Return the variance of each part that is drawn anew for it, shape (parts, rows)."""
        if self.memo is None:
            return self._once() * self.is_fresh
        once, shares = self._once(), np.clip(self._all([part.values for part in self.parts]), 0, 1)
        always = self.memo.permanent.variance(shares) / np.array([[part.n] for part in self.parts])
        fresh: Floats = np.maximum(once - always, 0)
        return fresh

    def _once(self) -> Floats:
        """Return the variance of each part that its reports make, shape (parts, rows)."""
        return self._all([part.stderr("respondents") for part in self.parts]) ** 2

    def _all(self, rows: list[Floats]) -> Floats:
        return np.array([row[list(places)] for row, places in zip(rows, self.places, strict=True)])


def combine(parts: Sequence[Part], *, weights: Weights = "size", are_correlated: bool = False) -> Combined:
    """Combine tallies of one question, each with the mechanism that made its reports.

    weights: "precision" only where epsilon was assigned, and not chosen by those who answer. are_correlated:
    to be said where the same people may have answered in several parts: of a metric with a memo always, else
    about the population.

    Raises DomainError for no parts, parts without reports, and parts about different things.

    Of 8, 6 and 1 million people who chose epsilon 0.5, 1 and 3, a share of 10, 20 and 60 % holds an option,
    which is 17.33 % of all. What is expected of their reports gives that by size, and 46.41 % by precision:

    >>> from hubbub.mechanisms.optimized_unary import OptimizedUnary
    >>> groups = [("0.5", 8_000_000, 0.1), ("1", 6_000_000, 0.2), ("3", 1_000_000, 0.6)]
    >>> parts = []
    >>> for epsilon, n, share in groups:
    ...     mechanism = OptimizedUnary(epsilon, k=2)
    ...     p, q = float(mechanism.channel.p), float(mechanism.channel.q)
    ...     supports = [n * (q + held * (p - q)) for held in (share, 1 - share)]
    ...     parts.append((mechanism, Tally(n, np.rint(supports))))
    >>> [round(float(combine(parts, weights=weights).values[0]), 4) for weights in ("size", "precision")]
    [0.1733, 0.4641]
    """
    return combined(_told(parts), weights=weights, are_correlated=are_correlated)


def combined(parts: Sequence[Told], *, weights: Weights = "size", are_correlated: bool = False) -> Combined:
    """Combine estimates that were made already, as ``combine`` does."""
    if weights not in ("size", "precision"):
        raise DomainError(f"weights must be size or precision, got {str(weights)[:64]!r}")
    variances = [1.0 if weights == "size" else mechanism.stderr(1) ** 2 for mechanism, _ in parts]
    return _weighted(parts, _sizes(parts, variances), are_correlated=are_correlated)


def added(parts: Sequence[Part], *, are_correlated: bool = False) -> Combined:
    """Add up tallies of one question, such as the means of several periods.

    are_correlated: as for ``combine``.

    Raises DomainError as ``combine`` does.
    """
    return _weighted(_told(parts), [1.0] * len(parts), are_correlated=are_correlated)


def difference(later: Part, earlier: Part, *, are_correlated: bool = False) -> Combined:
    """Tell what changed from one tally of a question to another.

    are_correlated: as for ``combine``. The errors of memos count in full, as if everyone's were new, so that
    the error stated is too large where many answered both times from the same.

    Raises DomainError as ``combine`` does.

    Of 100,000 people 30 % said yes and now 40 % do, each with a memo; this is what is expected of them:

    >>> from hubbub.mechanisms.l_grr import LGRR
    >>> mechanism, n = LGRR("2", 2, first="1"), 100_000
    >>> p, q = float(mechanism.channel.p), float(mechanism.channel.q)
    >>> weeks = [(mechanism, Tally(n, np.rint([n * (q + held * (p - q)) for held in (1 - yes, yes)])))
    ...          for yes in (0.3, 0.4)]
    >>> change = difference(weeks[1], weeks[0], are_correlated=True)
    >>> round(float(change.values[1]), 3), change.interval(0.95, "respondents")[1].round(3).tolist()
    (0.1, [0.092, 0.108])
    """
    return changed(_told([later]), _told([earlier]), are_correlated=are_correlated)


def changed(later: Sequence[Told], earlier: Sequence[Told], *, are_correlated: bool = False) -> Combined:
    """Tell what changed between two means by size of estimates; of one each, in every row.

    are_correlated: as for ``difference``.

    Raises DomainError as ``combine`` does.
    """
    after, before = (_sizes(some, [1.0] * len(some)) for some in (later, earlier))
    weights = [*after, *(-size for size in before)]
    return _weighted([*later, *earlier], weights, are_correlated=are_correlated, is_all=len(weights) == 2)


def _told(parts: Sequence[Part]) -> list[Told]:
    for mechanism, tally in parts:
        _check_cells(mechanism, tally)
    return [(mechanism, mechanism.estimate(tally)) for mechanism, tally in parts]


def _sizes(parts: Sequence[Told], variances: Sequence[float]) -> list[float]:
    """Return weights that add up to 1."""
    sizes = [estimate.n / variance for (_, estimate), variance in zip(parts, variances, strict=True)]
    return [size / math.fsum(sizes) for size in sizes]


def _weighted(
    parts: Sequence[Told], weights: Sequence[float], *, are_correlated: bool, is_all: bool = False
) -> Combined:
    if not parts:
        raise DomainError("combine at least one part")
    mechanisms, estimates = zip(*parts, strict=True)
    every = [estimate.rows for estimate in estimates]
    places = tuple(tuple(range(len(rows))) if is_all else places_of_means(rows) for rows in every)
    rows = [[rows[place] for place in own] for rows, own in zip(every, places, strict=True)]
    if any(own != rows[0] for own in rows):
        raise DomainError("parts must be about the same rows")
    memos = [mechanism for mechanism in mechanisms if isinstance(mechanism, Longitudinal)]
    is_one = len(memos) == len(mechanisms) and all(memo == memos[0] for memo in memos)
    memo = memos[0] if is_one else None
    return Combined(estimates, tuple(weights), places, are_correlated, not memos, memo)


def places_of_means(rows: Sequence[Quantity]) -> tuple[int, ...]:
    """Return where the rows are that a mean over parts makes sense of: shares, and means of everybody.

    No sum, variance or quantile, and not the mean of those who hold a key, which is a ratio.
    """
    names = {row.name for row in rows}
    means = [row.name.split(":")[-1] == "mean" and row.name[: -len(":mean")] not in names for row in rows]
    return tuple(
        place
        for place, (row, is_mean) in enumerate(zip(rows, means, strict=True))
        if row.unit == "share" or is_mean or row.name.isdecimal()
    )


def _check_cells(mechanism: Mechanism, tally: Tally) -> None:
    cells = mechanism.tally(np.zeros(0, dtype=mechanism.layout)).cells.size
    if tally.cells.size != cells:
        raise DomainError(
            f"a tally of {mechanism.kind} has {cells:,} cells here, got {tally.cells.size:,}; "
            "give each tally the mechanism that made its reports"
        )
