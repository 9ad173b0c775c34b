"""This file reads the noisy reports that are asked for, cell by cell."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub_server.analysis.gathering import names_of, wanted_labels
from hubbub_server.analysis.spans import day, span
from hubbub_server.catalog import Catalog, Question
from hubbub_server.exporting.shuffling import shuffled
from hubbub_server.store.protocol import Batches

TOGETHER = 2**14  # numbers that are written at once


@dataclass(frozen=True, slots=True)
class Some:
    """Some reports of one cell.

    start: the day on which the period starts. labels: by name. reports: shape (n,) or (n, width).
    """

    start: str
    labels: Mapping[str, str]
    reports: NDArray[Any]


@dataclass(frozen=True, slots=True)
class Export:
    """The noisy reports of a metric that are still kept, of some periods and labels."""

    batches: Batches
    question: Question
    periods: range
    wanted: Mapping[str, frozenset[str]]

    @property
    def width(self) -> int:
        """How many integers a report is."""
        return int(np.prod(self.question.mechanism.layout.shape, dtype=np.int64))

    def read(self) -> Iterator[Some]:
        """Yield them in the order of periods and labels, in random order within."""
        metric, layout = self.question.metric, self.question.mechanism.layout
        counts = {
            (period, labels): tally.n
            for period, labels, tally in self.batches.tallies(metric.id, self.periods)
        }
        rows = self.batches.reports(metric.id, self.periods)
        for (period, labels), own in groupby(rows, key=lambda row: row[:2]):
            names = dict(names_of(labels, metric))
            if all(names[name] in values for name, values in self.wanted.items()):
                start, portions = day(period, metric), (reports for *_, reports in own)
                for reports in shuffled(portions, layout, n=counts.get((period, labels), 0)):
                    step = max(1, TOGETHER // self.width)
                    for first in range(0, len(reports), step):
                        yield Some(start, names, reports[first : first + step])


def export(
    batches: Batches,
    catalog: Catalog,
    *,
    metric: str,
    first: str = "",
    last: str = "",
    labels: Sequence[str] = (),
) -> Export:
    """Find what is asked for.

    metric: id, name or app/name. first, last: a period's number or a date; periods that start between.
    labels: such as "version:1.1"; of one label, any that is named.

    Raises RefusedError for an unknown metric, DomainError for anything else that is wrong.
    """
    question = catalog.find(metric)
    found = question.metric
    return Export(batches, question, span(first, last, found), wanted_labels(labels, [found]))
