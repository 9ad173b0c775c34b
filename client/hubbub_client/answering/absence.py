"""This file reports about nothing: the absent value of a metric without a report in a period that is over.

Without it the existence of a report would speak. It is charged like any other. A device reports only about a
period in which it was seen at work, on and with consent, and since which it was never found otherwise. To be
off by a variable of the environment leaves no trace, so a device is silent about time in which nobody saw it.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hubbub.domains.number import Number
from hubbub.metric import Metric
from hubbub.period import is_open, period_at, start_of

_OVER = "DELETE FROM seen WHERE metric = ? AND period < ? RETURNING period"


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


def see(connection: sqlite3.Connection, absents: Sequence[Absent], now: int) -> None:
    """Note that this device is on, with its owner's consent, in the present period of each metric."""
    connection.executemany(
        "INSERT OR IGNORE INTO seen VALUES (?, ?)",
        [(one.id, period_at(now, one.metric.period)) for one in absents],
    )


def forget(connection: sqlite3.Connection, absents: Iterable[Absent] | None = None) -> None:
    """Forget when this device was seen: the periods in which consent ended are never reported about.

    absents: the metrics whose consent ended, or None for all.
    """
    if absents is None:
        connection.execute("DELETE FROM seen")
    else:
        connection.executemany("DELETE FROM seen WHERE metric = ?", [(one.id,) for one in absents])


def missed(
    connection: sqlite3.Connection, absents: Sequence[Absent], now: int
) -> Iterator[tuple[Absent, int]]:
    """Yield, once, each metric and period that was seen, is over, and is still taken by a collector."""
    for one in absents:
        days = one.metric.period
        over = connection.execute(_OVER, (one.id, period_at(now, days))).fetchall()
        yield from ((one, period) for (period,) in sorted(over) if is_open(period, days, now))


def next_end(absents: Sequence[Absent], now: int) -> float:
    """Return when the next period of any of these metrics is over."""
    ends = (start_of(period_at(now, days) + 1, days) for days in {one.metric.period for one in absents})
    return min(ends, default=float("inf"))


def _value(metric: Metric) -> object:
    """Encode the declared value, which a metric for numbers keeps as text."""
    is_number = isinstance(metric.domain, Number)
    return metric.domain.encode(Decimal(str(metric.absent)) if is_number else metric.absent)
