"""This file asks the store: it gathers what is asked for in groups, and has each group answered."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub_server.analysis.answers import answered
from hubbub_server.analysis.asking import ask
from hubbub_server.analysis.elsewhere import elsewhere
from hubbub_server.analysis.gathering import Grouping, wanted_labels
from hubbub_server.analysis.groups import Answers, Group
from hubbub_server.analysis.pairs import Pair, alone, since_before, since_then
from hubbub_server.analysis.samples import Sample
from hubbub_server.analysis.spans import BEFORE, check_lengths, day, earlier_span, span
from hubbub_server.analysis.versions import left_out
from hubbub_server.analysis.versions import versions as versions_of
from hubbub_server.catalog import Catalog, Question
from hubbub_server.store.protocol import Batches

By = Literal["", "period", "label", "period,label", "label,period"]
MOST_ROWS = 2**17  # of all groups together, which are 35 MB of JSON
LONGEST = 20.0  # seconds that all groups but the last may take


def estimate(
    batches: Batches,
    catalog: Catalog,
    *,
    metric: str,
    first: str = "",
    last: str = "",
    by: str = "",
    labels: Sequence[str] = (),
    versions: Sequence[str] = (),
    against: str = "",
    view: str = "raw",
    top: int | None = None,
    any_of: Sequence[str] = (),
    all_of: Sequence[str] = (),
    candidates: Sequence[str] = (),
    level: float = 0.95,
    clock: Callable[[], float] = time.monotonic,
) -> Answers:
    """Answer a metric, as one group or by period or label; or tell what changed.

    metric: id, name or app/name. first, last: a period's number or a date; periods that start between. by:
    "period", "label" or both, with a comma. labels: those to count, such as "version:1.1"; of one label, any
    that is named. versions: "all" or ids: of the metric, answered together. against: what to compare with: a
    period by its number or a date in it, a span "2027-05-03/2027-05-31", or "before": each period with the
    one before it. Without ``first``, all later periods are compared. view, level: see ``ask``. top: how many
    of the largest shares or changes; None: all rows. any_of, all_of: rows that become one, the only one.
    candidates: texts to look for. clock: seconds, from whenever.

    Raises RefusedError for an unknown metric, DomainError for anything else that is wrong, and for groups
    that are too many for memory or time.
    """
    if by not in get_args(By):
        raise DomainError("by must be period, label, or period,label")
    questions = versions_of(catalog, metric, versions)
    metrics = [question.metric for question in questions]

    def wanted(some: Sequence[Question]) -> dict[str, frozenset[str]]:
        check_lengths([question.metric for question in some], *by.split(","), first, last, against)
        return wanted_labels(labels, [question.metric for question in some])

    grouping = Grouping("period" in by, "label" in by, wanted(questions))
    asked = ask(
        questions[0],
        level=level,
        view=view,
        top=top,
        any_of=any_of,
        all_of=all_of,
        candidates=candidates,
        is_change=bool(against),
    )
    pairs = _paired(batches, questions, grouping, first=first, last=last, against=against)
    if len(pairs) > 1:
        rows = 1 if asked.one else len(questions[0].mechanism.rows) + len(asked.candidates)
        _check_rows(len(pairs), min(rows, top or rows))
    besides = left_out(batches, catalog, questions, check=wanted)
    if not (against or any(sample.n for _, sample, _ in pairs)):
        besides += elsewhere(batches, metrics, [span(first, last, metric) for metric in metrics])
    groups = (
        Group(
            answered(questions, sample, asked, before=before, besides=besides),
            period,
            None if period is None else day(period, metrics[0]),
            None if labelled is None else dict(labelled),
        )
        for (period, labelled), sample, before in _in_time(pairs, clock)
    )
    nothing = Group(answered(questions, Sample(), asked, besides=besides), labels=_unknown(metrics, grouping))
    return Answers(tuple(groups), nothing)


def _unknown(metrics: Sequence[Metric], grouping: Grouping) -> dict[str, str] | None:
    """Name the labels that groups would have."""
    if not grouping.by_label:
        return None
    return {label.name: "" for metric in metrics for label in metric.labels}


def _paired(
    batches: Batches,
    questions: Sequence[Question],
    grouping: Grouping,
    *,
    first: str,
    last: str,
    against: str,
) -> list[Pair]:
    spans = [span(first, last, question.metric) for question in questions]
    if not against:
        return alone(batches, questions, spans, grouping)
    if against == BEFORE:
        return since_before(batches, questions, spans, grouping)
    earlier = [earlier_span(against, question.metric) for question in questions]
    if not first:
        spans = [range(then.stop, now.stop) for then, now in zip(earlier, spans, strict=True)]
    return since_then(batches, questions, spans, grouping, earlier)


def _check_rows(groups: int, each: int) -> None:
    if groups * each > MOST_ROWS:
        raise DomainError(
            f"{groups:,} groups of {each:,} rows are over {MOST_ROWS:,} rows together; "
            "ask for the largest by top, for fewer periods, or for fewer groups"
        )


def _in_time(pairs: Sequence[Pair], clock: Callable[[], float]) -> Iterator[Pair]:
    began = clock()
    for number, pair in enumerate(pairs):
        if clock() - began > LONGEST:
            raise DomainError(
                f"{number:,} of {len(pairs):,} groups took {LONGEST:g} seconds already; "
                "ask for fewer periods, or for fewer groups"
            )
        yield pair
