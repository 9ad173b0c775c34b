"""This file pairs each group with what it is compared with: nothing, another span, or the period before."""

from collections.abc import Sequence
from dataclasses import replace

from hubbub.errors import DomainError
from hubbub_server.analysis.gathering import Grouping, Key, gather
from hubbub_server.analysis.samples import Sample
from hubbub_server.analysis.spans import day
from hubbub_server.catalog import Question
from hubbub_server.store.protocol import Batches

Pair = tuple[Key, Sample, Sample | None]
EVERYTHING: Key = (None, None)
NOTHING = Sample()


def alone(
    batches: Batches, questions: Sequence[Question], spans: Sequence[range], grouping: Grouping
) -> list[Pair]:
    """Return each group, compared with nothing.

    spans: periods of each version.
    """
    found = gather(batches, questions, spans, grouping)
    if not found and grouping.is_one:
        return [(EVERYTHING, NOTHING, None)]
    return [(key, sample, None) for key, sample in found.items()]


def since_before(
    batches: Batches, questions: Sequence[Question], spans: Sequence[range], grouping: Grouping
) -> list[Pair]:
    """Return each period with the one before it.

    Raises DomainError unless groups are by period.
    """
    if not grouping.by_period:
        raise DomainError("each period is compared with the one before it by period only; ask by period")
    wider = [range(max(0, span.start - 1), span.stop) for span in spans]
    found = gather(batches, questions, wider, grouping)
    metric, first = questions[0].metric, spans[0].start
    pairs: list[Pair] = []
    for key, sample in found.items():
        period, labels = key
        if period is not None and period >= first:
            before = found.get((period - 1, labels), NOTHING)
            start, end = day(period - 1, metric), day(period, metric)
            pairs.append((key, sample, replace(before, start=start, end=end)))
    return pairs


def since_then(
    batches: Batches,
    questions: Sequence[Question],
    spans: Sequence[range],
    grouping: Grouping,
    earlier: Sequence[range],
) -> list[Pair]:
    """Return each group with what an earlier span holds of its labels.

    Raises DomainError if a period is on both sides.
    """
    if any(
        max(one.start, other.start) < min(one.stop, other.stop)
        for one, other in zip(spans, earlier, strict=True)
    ):
        raise DomainError("no period can be compared with itself; say by from and to which others to compare")
    found = gather(batches, questions, spans, grouping)
    metric, then = questions[0].metric, earlier[0]
    start, end = day(then.start, metric), day(then.stop, metric)
    before = {
        labels: replace(sample, start=start, end=end)
        for (_, labels), sample in gather(
            batches, questions, earlier, replace(grouping, by_period=False)
        ).items()
    }
    if not grouping.by_period:
        gone = [EVERYTHING] if grouping.is_one else [(None, labels) for labels in before]
        found |= {key: NOTHING for key in gone if key not in found}
    nothing = Sample(start=start, end=end)
    return [(key, sample, before.get(key[1], nothing)) for key, sample in found.items()]
