"""This file gathers the tallies of a metric's versions in groups: by period, by label, or all in one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hubbub import registry
from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_server.analysis.raw_sums import MOST_AT_ONCE, sums
from hubbub_server.analysis.samples import Sample
from hubbub_server.catalog import Question
from hubbub_server.store.protocol import Batches

Labels = tuple[tuple[str, str], ...]  # names and values
Key = tuple[int | None, Labels | None]  # period and labels; None unless they tell groups apart


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which reports count, and what tells their groups apart.

    wanted: the values of labels that count; of labels that are not named, all do.
    """

    by_period: bool
    by_label: bool
    wanted: Mapping[str, frozenset[str]]

    @property
    def is_one(self) -> bool:
        """Whether all that counts is one group."""
        return not (self.by_period or self.by_label)

    def counts(self, labels: Labels) -> bool:
        """Tell whether reports with these labels count."""
        return all(value in self.wanted[name] for name, value in labels if name in self.wanted)

    def key(self, period: int, labels: Labels) -> Key:
        """Return the group of a cell."""
        return (period if self.by_period else None, labels if self.by_label else None)


@dataclass(slots=True)
class _Pile:
    """What was gathered of a group: tallies by version, and by period where these are not independent."""

    parts: dict[tuple[int, int], Tally] = field(default_factory=dict)
    periods: set[tuple[int, int]] = field(default_factory=set)

    def add(self, place: tuple[int, int], tally: Tally) -> int:
        """Add a tally, and return how many numbers it takes to hold it."""
        known = self.parts.get(place)
        self.parts[place] = tally if known is None else known + tally
        return tally.cells.size if known is None else 0


def gather(
    batches: Batches, questions: Sequence[Question], spans: Sequence[range], grouping: Grouping
) -> dict[Key, Sample]:
    """Add up the tallies of each group, in order of period and labels.

    spans: periods of each version.

    Raises DomainError if they are more than memory should hold.
    """
    piles: dict[Key, _Pile] = {}
    held = 0
    for version, (question, span) in enumerate(zip(questions, spans, strict=True)):
        metric = question.metric
        is_apart = registry.entry(metric.mechanism).remembers

        def counts(labels: bytes, metric: Metric = metric) -> bool:
            return grouping.counts(names_of(labels, metric))

        for period, labels, tally in sums(batches, question, span, counts=counts):
            key = grouping.key(period, names_of(labels, metric))
            pile = piles.setdefault(key, _Pile())
            pile.periods.add((metric.period, period))
            held += pile.add((version, period if is_apart else 0), tally)
            if held > MOST_AT_ONCE:
                raise DomainError(
                    f"the sums of {len(piles):,} groups or more are too large together; "
                    "ask for fewer periods, or for fewer groups"
                )
    places = _places([question.metric for question in questions])

    def order(key: Key) -> tuple[int, list[int]]:
        period, labels = key
        return period or 0, [places[label] for label in labels or ()]

    return {
        key: Sample(
            tuple((questions[version], tally) for (version, _), tally in piles[key].parts.items()),
            len(piles[key].periods),
        )
        for key in sorted(piles, key=order)
    }


def names_of(labels: bytes, metric: Metric) -> Labels:
    """Return labels as they are stored by name and value."""
    return tuple(
        (label.name, label.values[place]) for label, place in zip(metric.labels, labels, strict=True)
    )


def wanted_labels(texts: Sequence[str], metrics: Sequence[Metric]) -> dict[str, frozenset[str]]:
    """Read "version:1.1" and its like; of one label, any of the values that are named counts.

    Raises DomainError for a label that a version of the metric does not have, and for a value that none has.
    """
    wanted: dict[str, frozenset[str]] = {}
    for text in texts:
        name, colon, value = text.partition(":")
        declared = [label for metric in metrics for label in metric.labels if label.name == name]
        if not colon or len(declared) < len(metrics):
            known = ", ".join(label.name for label in metrics[0].labels) or "none"
            raise DomainError(
                f"a label to count is told by name:value, and every version must have it; labels are {known}"
            )
        values = dict.fromkeys(value for label in declared for value in label.values)
        if value not in values:
            raise DomainError(f"label {name} has no value {value[:64]!r}; values are {', '.join(values)}")
        wanted[name] = wanted.get(name, frozenset()) | {value}
    return wanted


def _places(metrics: Sequence[Metric]) -> dict[tuple[str, str], int]:
    """Return the place of each value of a label, as the newest version that has it declares them."""
    return {
        (label.name, value): place
        for metric in reversed(metrics)
        for label in metric.labels
        for place, value in enumerate(label.values)
    }
