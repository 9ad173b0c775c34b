"""This file shows an estimate as rows: values with two kinds of error, and perhaps a view of them."""

import math
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from hubbub import consistency
from hubbub.estimate import About, Estimate, Unit
from hubbub.intervals import simultaneous
from hubbub.metric import Metric
from hubbub.reach import reach
from hubbub_server.analysis.asking import Joined, View

ABOUTS: tuple[About, ...] = ("respondents", "population")


@dataclass(frozen=True, slots=True)
class Error:
    """How far a value may be from the truth; None where the reports are too few to tell."""

    stderr: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity.

    unit: a share of people, or a number in the unit of the range. value: an unbiased share may lie below 0;
    None if the reports are too few to tell. respondents: its error about those who answered. population:
    about those they stand for. viewed: the value in the answer's view; None if that is raw. per_fake: how far
    each fake among the reports may have moved the value, at most; None where that is not known.
    """

    name: str
    unit: Unit
    value: float | None = None
    respondents: Error = Error()
    population: Error = Error()
    viewed: float | None = None
    per_fake: float | None = None

    def error(self, about: About) -> Error:
        """Return the error about the respondents or about the population."""
        return self.respondents if about == "respondents" else self.population

    def document(self) -> dict[str, Any]:
        """Return plain data that JSON can carry; what is unknown is null."""
        document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return document

    def flat(self) -> dict[str, str | float | None]:
        """Return one line of a table for programs."""
        cells: dict[str, str | float | None] = {"name": self.name, "unit": self.unit}
        cells |= {"value": self.value, "viewed": self.viewed, "per_fake": self.per_fake}
        for about in ABOUTS:
            error = self.error(about)
            low, high = error.interval or (None, None)
            cells |= {f"{about}_stderr": error.stderr, f"{about}_low": low, f"{about}_high": high}
        return cells


def rows_of(
    metric: Metric, estimate: Estimate, *, level: float, view: View, top: int | None, is_change: bool
) -> list[Row]:
    """Return the rows of an estimate that have a title.

    level: of each interval; with ``top`` of all at once. top: return so many of the largest, by size of a
    change.
    """
    quantities, values = estimate.rows, estimate.values
    titles = [metric.domain.title(quantity.name) for quantity in quantities]
    places = np.flatnonzero([title is not None for title in titles])
    if top is not None:
        level = simultaneous(level, len(quantities))
        sizes = np.nan_to_num(np.abs(values[places]) if is_change else values[places])
        places = places[np.argsort(-sizes, kind="stable")[:top]]
    errors = [_errors(estimate, level, about, places) for about in ABOUTS]
    viewed = [None] * len(places) if view == "raw" else consistency.viewed(estimate, view)[places].tolist()
    known = map(_known, values[places].tolist())
    moved = map(_known, reach(estimate).per_fake[places].tolist())
    return [
        Row(titles[place] or "", quantities[place].unit, *rest)
        for place, *rest in zip(places.tolist(), known, *errors, viewed, moved, strict=True)
    ]


def one_of(metric: Metric, estimate: Estimate, one: Joined, *, level: float, view: View) -> Row:
    """Return the one row that some rows become.

    Raises DomainError where the estimate can't tell it or its error.
    """
    found = one.of(metric, estimate)
    viewed = None if view == "raw" else float(consistency.viewed(estimate, view)[list(one.rows)].sum())
    first = np.zeros(1, dtype=np.int64)
    respondents, population = (error for about in ABOUTS for error in _errors(found, level, about, first))
    moved = _known(float(reach(found).per_fake[0]))
    return Row(one.title, "share", float(found.values[0]), respondents, population, viewed, moved)


def _errors(estimate: Estimate, level: float, about: About, places: NDArray[np.int64]) -> list[Error]:
    stderrs, intervals = estimate.stderr(about)[places], estimate.interval(level, about)[places]
    return [
        Error(_known(stderr), None if math.isnan(low + high) else (low, high))
        for stderr, (low, high) in zip(stderrs.tolist(), intervals.tolist(), strict=True)
    ]


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
