"""This file turns a sample into an answer: unbiased values, two kinds of error, and advice in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from hubbub import registry
from hubbub.errors import DomainError, MissingExtraError
from hubbub.estimate import Estimate, Quantity
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_server.analysis.advice import advise, advise_change, exposure, remarks
from hubbub_server.analysis.asking import Asked, View, ask
from hubbub_server.analysis.rows import Row, one_of, rows_of
from hubbub_server.analysis.samples import Sample, estimated
from hubbub_server.analysis.suspicion import Finding, suspicions
from hubbub_server.catalog import Question

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class Version:
    """A definition of a metric, and how many reports an answer has by it.

    id: in hex.
    """

    id: str
    epsilon: str
    mechanism: str
    n: int


@dataclass(frozen=True, slots=True)
class Since:
    """What an answer is compared with: reports of periods that start in a span of days, half-open."""

    start: str
    end: str
    n: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What the reports say about a metric.

    id: of the metric, in hex. exact, unbiased: what the mechanism claims. n: reports, not people. level: of
    the intervals; of all of them at once, over every row that there is, where ``top`` says how many of the
    rows are shown. advice: sentences for people. periods: how many the reports are of. versions: of the
    metric, if several were asked for: id is that of the newest then, epsilon the largest. since: with what
    the reports are compared, if they are; values are what was added since then. warnings: what tells that
    some reports are fake.
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
    periods: int = 1
    versions: tuple[Version, ...] = ()
    since: Since | None = None
    warnings: tuple[Finding, ...] = ()

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise DomainError(f"the answer has no row {name[:64]!r}")

    def document(self) -> dict[str, Any]:
        """Return plain data that JSON can carry; what is unknown is null."""
        document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return document

    def to_frame(self) -> "DataFrame":
        """Return the rows as a pandas frame.

        Raises MissingExtraError without pandas.
        """
        return frame([{"metric": self.metric, "n": self.n, **row.flat()} for row in self.rows])


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
    question = Question(metric, registry.build(metric), tally.cells.size)
    asked = ask(
        question, level=level, view=view, top=top, any_of=any_of, all_of=all_of, candidates=candidates
    )
    sample = Sample(tuple((question, part) for part in parts or [tally]), periods)
    return answered([question], sample, asked)


def answered(
    questions: Sequence[Question],
    sample: Sample,
    asked: Asked,
    *,
    before: Sample | None = None,
    besides: Sequence[str] = (),
) -> Answer:
    """Answer versions of a metric, the newest first, from a sample; or what changed since another one.

    besides: advice about what was asked.

    Raises DomainError where they do not tell what is asked for.
    """
    newest = questions[0]
    metric, mechanism = newest.metric, newest.mechanism
    estimate = estimated(sample, candidates=asked.candidates, since=before)
    rows = _rows(newest, estimate, asked, is_change=before is not None)
    whose = " of one option" if asked.one else ""
    if before is None:
        told = advise(metric, mechanism, sample.n, level=asked.level, periods=sample.periods, whose=whose)
    else:
        told = advise_change(
            metric,
            mechanism,
            sample.n,
            before.n,
            level=asked.level,
            periods=max(sample.periods, before.periods),
            whose=whose,
        )
    advice = [*told, *(remarks(metric, rows, asked.candidates) if estimate and before is None else [])]
    if estimate:
        advice += exposure(metric, rows, estimate.n)
    advice += besides
    if not rows and metric.domain.kind == "text":
        advice.append("texts can't be listed; name candidates to look for")
    return Answer(
        metric=metric.name,
        id=metric.id.hex(),
        kind=metric.domain.kind,
        epsilon=str(max(question.metric.epsilon for question in questions)),
        mechanism=", ".join(dict.fromkeys(question.metric.mechanism for question in questions)),
        exact=all(question.mechanism.exact for question in questions),
        unbiased=all(question.mechanism.unbiased for question in questions),
        n=sample.n,
        level=asked.level,
        view=asked.view,
        rows=tuple(rows),
        advice=tuple(advice),
        top=asked.top,
        periods=sample.periods,
        versions=_versions(questions, sample) if len(questions) > 1 else (),
        since=None if before is None else Since(before.start, before.end, before.n),
        warnings=_warnings(sample, before or Sample()),
    )


def _rows(question: Question, estimate: Estimate | None, asked: Asked, *, is_change: bool) -> list[Row]:
    metric = question.metric
    if estimate is None:
        if asked.one:
            return [Row(asked.one.title, "share")]
        known = [*question.mechanism.rows, *(Quantity(text, "share") for text in asked.candidates)]
        titled = ((metric.domain.title(row.name), row) for row in known)
        return [Row(title, row.unit) for title, row in titled if title][: asked.top]
    if asked.one:
        return [one_of(metric, estimate, asked.one, level=asked.level, view=asked.view)]
    return rows_of(metric, estimate, level=asked.level, view=asked.view, top=asked.top, is_change=is_change)


def _warnings(*samples: Sample) -> tuple[Finding, ...]:
    parts = (part for sample in samples for part in sample.parts)
    return tuple(finding for question, tally in parts for finding in suspicions(question, tally))


def _versions(questions: Sequence[Question], sample: Sample) -> tuple[Version, ...]:
    counts = dict.fromkeys((question.metric.id for question in questions), 0)
    for question, tally in sample.parts:
        counts[question.metric.id] += tally.n
    return tuple(
        Version(each.id.hex(), str(each.epsilon), each.mechanism, counts[each.id])
        for each in (question.metric for question in questions)
    )


def frame(lines: Sequence[Mapping[str, object]]) -> "DataFrame":
    """Return lines as a pandas frame.

    Raises MissingExtraError without pandas.
    """
    try:
        from pandas import DataFrame  # noqa: PLC0415 - an optional part
    except ModuleNotFoundError:
        raise MissingExtraError("to_frame", "frames") from None
    return DataFrame(lines)
