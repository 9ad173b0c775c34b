"""This file turns a tally into an answer: unbiased values, two kinds of error, and advice in words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from hubbub import consistency, registry
from hubbub.errors import DomainError, MissingExtraError
from hubbub.estimate import About, Estimate, Quantity, Unit
from hubbub.intervals import check_level, simultaneous
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_server.analysis.advice import advise, remarks
from hubbub_server.analysis.asking import Joined, check_top, check_view, estimated, joined, texts

if TYPE_CHECKING:
    from pandas import DataFrame

View = Literal["raw"] | consistency.View
VIEWS = ("raw", *get_args(consistency.View))

ABOUTS: tuple[About, ...] = ("respondents", "population")


@dataclass(frozen=True, slots=True)
class Error:
    """How far a value may be from the truth; None where the reports are too few to tell."""

    stderr: float | None = None
    interval: tuple[float, float] | None = None

    def document(self) -> dict[str, Any]:
        """Return plain data that JSON can carry; what is unknown is null."""
        return {"stderr": self.stderr, "interval": self.interval and list(self.interval)}


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity.

    unit: a share of people, or a number in the unit of the range. value: an unbiased share may lie below 0;
    None if the reports are too few to tell. respondents: its error about those who answered. population:
    about those they stand for. viewed: the value in the answer's view; None if that is raw.
    """

    name: str
    unit: Unit
    value: float | None = None
    respondents: Error = Error()
    population: Error = Error()
    viewed: float | None = None

    def error(self, about: About) -> Error:
        """Return the error about the respondents or about the population."""
        return self.respondents if about == "respondents" else self.population

    def document(self) -> dict[str, Any]:
        """Return plain data that JSON can carry; what is unknown is null."""
        errors = {"respondents": self.respondents.document(), "population": self.population.document()}
        what = {"name": self.name, "unit": self.unit, "value": self.value}
        return {**what, **errors, "viewed": self.viewed}

    def flat(self) -> dict[str, str | float | None]:
        """Return one line of a table for programs."""
        cells: dict[str, str | float | None] = {"name": self.name, "unit": self.unit}
        cells |= {"value": self.value, "viewed": self.viewed}
        for about, error in (("respondents", self.respondents), ("population", self.population)):
            low, high = error.interval or (None, None)
            cells |= {f"{about}_stderr": error.stderr, f"{about}_low": low, f"{about}_high": high}
        return cells


@dataclass(frozen=True, slots=True)
class Answer:
    """What the reports say about a metric.

    id: of the metric, in hex. exact, unbiased: what the mechanism claims. n: reports, not people. level: of
    the intervals; of all of them at once, over every row that there is, where ``top`` says how many of the
    rows are shown. advice: sentences for people.
    """

    metric: str
    id: str
    kind: str
    epsilon: str
    mechanism: str
    exact: bool
    unbiased: bool
    n: int
    level: float
    view: View
    rows: tuple[Row, ...]
    advice: tuple[str, ...]
    top: int | None = None

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise DomainError(f"the answer has no row {name[:64]!r}")

    def document(self) -> dict[str, Any]:
        """Return plain data that JSON can carry; what is unknown is null."""
        return {
            "metric": self.metric,
            "id": self.id,
            "kind": self.kind,
            "epsilon": self.epsilon,
            "mechanism": self.mechanism,
            "exact": self.exact,
            "unbiased": self.unbiased,
            "n": self.n,
            "level": self.level,
            "view": self.view,
            "top": self.top,
            "rows": [row.document() for row in self.rows],
            "advice": list(self.advice),
        }

    def to_frame(self) -> "DataFrame":
        """Return the rows as a pandas frame.

        Raises MissingExtraError without pandas.
        """
        try:
            from pandas import DataFrame  # noqa: PLC0415 - an optional part
        except ModuleNotFoundError:
            raise MissingExtraError("to_frame", "frames") from None
        return DataFrame([{"metric": self.metric, "n": self.n, **row.flat()} for row in self.rows])


def answer(
    metric: Metric,
    tally: Tally,
    *,
    level: float = 0.95,
    view: View = "raw",
    top: int | None = None,
    any_of: Sequence[str] = (),
    all_of: Sequence[str] = (),
    candidates: Sequence[str] = (),
    periods: int = 1,
    parts: Sequence[Tally] = (),
) -> Answer:
    """Answer a metric from the tally of its reports; for several periods or labels, from the sum of theirs.

    top: how many of the largest shares to return, with intervals that hold for all options at once; None: all
    rows. any_of, all_of: rows that become one, the only one: people who hold any of these options, or of whom
    all these facts are true. candidates: texts to look for, where answers are text. periods: how many periods
    the tally is a sum of. parts: their tallies, where a metric has a memo and they are not independent.

    Raises DomainError for a view, options or candidates that the metric does not have, and for a level
    outside 0.5 to 0.9999.

    >>> from hubbub.declaration import boolean
    >>> import numpy as np
    >>> dark = answer(boolean("dark", epsilon="1.0").of("notepad"), Tally(1000, np.array([500, 500])))
    >>> dark["yes"].value, dark["yes"].population.stderr
    (0.5, 0.03421510...)
    """
    check_level(level)
    if view not in VIEWS:
        raise DomainError(f"view must be one of {', '.join(VIEWS)}, got {str(view)[:64]!r}")
    mechanism = registry.build(metric)
    check_view(metric, mechanism, view)
    asked = texts(metric, candidates)
    if top is not None:
        check_top(metric, mechanism, top)
    one = joined(metric, any_of, all_of)
    if top and one:
        raise DomainError("ask for top or for rows as one, not for both")
    full = [part for part in parts if part.n]
    estimate = estimated(metric, mechanism, tally, candidates=asked, parts=full) if tally.n else None
    if one:
        rows = [_one(metric, estimate, level, view, one)]
    elif estimate:
        each = simultaneous(level, len(estimate.rows)) if top else level
        rows = _rows(metric, estimate, each, view)
    else:
        known = [*mechanism.rows, *(Quantity(text, "share") for text in asked)]
        rows = [Row(title, row.unit) for title, row in _titles(metric, known) if title]
    if top:
        rows = sorted(rows, key=lambda row: -(row.value or 0))[:top]
    whose = " of one option" if one else ""
    advice = [*advise(metric, mechanism, tally.n, level=level, periods=periods, whose=whose)]
    advice += remarks(metric, rows, asked) if tally.n else []
    if not rows and metric.domain.kind == "text":
        advice.append("texts can't be listed; name candidates to look for")
    return Answer(
        metric=metric.name,
        id=metric.id.hex(),
        kind=metric.domain.kind,
        epsilon=str(metric.epsilon),
        mechanism=metric.mechanism,
        exact=mechanism.exact,
        unbiased=mechanism.unbiased,
        n=tally.n,
        level=level,
        view=view,
        rows=tuple(rows),
        advice=tuple(advice),
        top=top,
    )


def _rows(metric: Metric, estimate: Estimate, level: float, view: View) -> list[Row]:
    values = [_known(value) for value in estimate.values.tolist()]
    viewed = [None] * len(values) if view == "raw" else consistency.viewed(estimate, view).tolist()
    errors = (_errors(estimate, level, about) for about in ABOUTS)
    return [
        Row(title, row.unit, *found)
        for (title, row), *found in zip(_titles(metric, estimate.rows), values, *errors, viewed, strict=True)
        if title
    ]


def _one(metric: Metric, estimate: Estimate | None, level: float, view: View, one: Joined) -> Row:
    if estimate is None:
        return Row(one.title, "share")
    found = one.of(metric, estimate)
    viewed = None if view == "raw" else float(consistency.viewed(estimate, view)[list(one.rows)].sum())
    respondents, population = (error for about in ABOUTS for error in _errors(found, level, about))
    return Row(one.title, "share", float(found.values[0]), respondents, population, viewed)


def _titles(metric: Metric, rows: Sequence[Quantity]) -> Iterator[tuple[str | None, Quantity]]:
    return ((metric.domain.title(row.name), row) for row in rows)


def _errors(estimate: Estimate, level: float, about: About) -> Iterator[Error]:
    stderrs, intervals = estimate.stderr(about).tolist(), estimate.interval(level, about).tolist()
    for stderr, (low, high) in zip(stderrs, intervals, strict=True):
        yield Error(_known(stderr), None if math.isnan(low + high) else (low, high))


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
