"""This file reports about nothing: the absent value of a metric without a report in a period that is over.

Without it the existence of a report would speak. It is charged like any other, and only a device that knew
the metric, and had consent, before the period ended reports.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hubbub.domain import Number
from hubbub.metric import Metric
from hubbub.period import is_open, period_at, start_of

_SINCE = "SELECT since FROM known WHERE metric = ?"


@dataclass(frozen=True, slots=True)
class Absent:
    """A metric that says what silence means, with its id; every label counts as "other"."""

    metric: Metric
    id: bytes
    value: object
    labels: tuple[int, ...]


def declared(metrics: Iterable[Metric]) -> tuple[Absent, ...]:
    """Return the metrics with an absent value; not those with a label that has no "other"."""
    return tuple(
        Absent(
            metric, metric.id, _value(metric), tuple(label.values.index("other") for label in metric.labels)
        )
        for metric in metrics
        if metric.absent is not None
        and metric.is_resolved
        and all("other" in label.values for label in metric.labels)
    )


def learn(connection: sqlite3.Connection, absents: Sequence[Absent], now: int) -> None:
    """Note since when this device knows each metric with its owner's consent."""
    connection.executemany("INSERT OR IGNORE INTO known VALUES (?, ?)", [(one.id, now) for one in absents])


def forget(connection: sqlite3.Connection) -> None:
    """Forget since when there was consent: time without it is never reported about."""
    connection.execute("DELETE FROM known")


def missed(
    connection: sqlite3.Connection, absents: Sequence[Absent], now: int
) -> Iterator[tuple[Absent, int]]:
    """Yield each metric and period that is over, known before it was, and still taken by a collector."""
    for one in absents:
        days = one.metric.period
        (since,) = connection.execute(_SINCE, (one.id,)).fetchone()
        for period in range(max(0, period_at(since, days)), period_at(now, days)):
            if is_open(period, days, now):
                yield one, period


def next_end(absents: Sequence[Absent], now: int) -> float:
    """Return when the next period of any of these metrics is over."""
    ends = (start_of(period_at(now, days) + 1, days) for days in {one.metric.period for one in absents})
    return min(ends, default=float("inf"))


def _value(metric: Metric) -> object:
    """Encode the declared value, which a metric for numbers keeps as text."""
    is_number = isinstance(metric.domain, Number)
    return metric.domain.encode(Decimal(str(metric.absent)) if is_number else metric.absent)
