"""This file tells whether a metric has had its answer: one a period, or one for good."""

import sqlite3

from hubbub.metric import Metric
from hubbub.period import start_of
from hubbub_client.outcome import Skipped

_ANSWERED = """SELECT
    EXISTS (SELECT 1 FROM journal WHERE metric = :metric AND ends > :starts AND starts < :ends)
    OR (:once AND EXISTS (SELECT 1 FROM journal WHERE source = :source))
    OR (:once AND EXISTS (SELECT 1 FROM journal
        WHERE status = 'note' AND code IN ('lost', 'unmarked', 'restored', 'copied')))"""


def refusal(connection: sqlite3.Connection, metric: Metric, period: int) -> Skipped | None:
    """Say so if a metric was answered in a period.

    Times are compared and not numbers of periods: a metric whose period was changed gains no second report.
    Where rows may be missing, or another copy of the device be at work, what is asked once may be answered.
    """
    facts = {
        "metric": metric.name,
        "source": metric.source,
        "once": metric.once,
        "starts": start_of(period, metric.period),
        "ends": start_of(period + 1, metric.period),
    }
    (is_answered,) = connection.execute(_ANSWERED, facts).fetchone()
    if not is_answered:
        return None
    span = "for good" if metric.once else f"in this {metric.period}-day period"
    return Skipped(
        "already_answered", f'"{metric.name}" was answered {span}; nothing more is sent or charged'
    )
