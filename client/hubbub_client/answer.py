"""This file gives one answer inside the device's transaction: every check, the charge, the report.

What is checked and charged depends on the metric, the time and the past, and never on the value.
"""

import secrets
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from hubbub import registry
from hubbub.batch import Batch, encode
from hubbub.delta import Delta
from hubbub.epsilon import decimal_text
from hubbub.metric import Metric
from hubbub.period import DAY, start_of
from hubbub.spending import Limits
from hubbub_client import ledger, outbox
from hubbub_client.delivery import Delivery
from hubbub_client.outcome import Recorded, Skipped
from hubbub_client.question import Question

_ANSWERED = """SELECT
    EXISTS (SELECT 1 FROM journal WHERE metric = :metric AND ends > :starts AND starts < :ends)
    OR (:once AND EXISTS (SELECT 1 FROM journal WHERE source = :source))"""
_METRICS = "SELECT count(DISTINCT metric) FROM journal WHERE metric != ?"
_INSERT = """INSERT INTO journal (at, source, metric, starts, ends, cost, delta, batch, due)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a device goes by: its caps, and how its batches travel."""

    limits: Limits
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Fact:
    """A value on its way into ``perturb``; its repr is silent.

    value: what the domain's ``encode`` returned. labels: their positions. period: which one it is about.
    """

    value: object
    labels: tuple[int, ...]
    period: int

    def __repr__(self) -> str:
        return "Fact(...)"


def answer(
    connection: sqlite3.Connection, question: Question, fact: Fact, *, now: int, rules: Rules
) -> Recorded | Skipped:
    """Charge and perturb one fact and put it in line, or say why not; the caller commits."""
    metric, cost = question.metric, question.metric.epsilon.micro
    starts, ends = (start_of(fact.period + later, metric.period) for later in (0, 1))
    caps = ledger.caps(connection, metric.source, rules.limits, now)
    refusal = (
        _against_policy(connection, question, rules.limits)
        or _out_of_time(question, fact.period, now)
        or _already_answered(connection, question, starts, ends)
        or _over_budget(connection, question, caps, now)
        or _over_delta(connection, metric, rules.limits)
        or outbox.is_full(connection, rules.delivery)
    )
    if refusal:
        return refusal
    column = question.column(fact.value, fact.labels, fact.period)
    batch = encode(Batch(secrets.token_bytes(16), (column,)))
    chance = secrets.randbelow(2**32) / 2**32
    due = rules.delivery.due(now, (starts, ends), chance, has_absent=metric.absent is not None)
    row = (now, metric.source, metric.name, starts, ends, cost, metric.delta.atto, batch, due)
    connection.execute(_INSERT, row)
    left = min(cap.left for cap in caps) - cost
    return Recorded(Decimal(decimal_text(cost)), Decimal(decimal_text(left)))


def _against_policy(connection: sqlite3.Connection, question: Question, limits: Limits) -> Skipped | None:
    metric = question.metric
    if not question.mechanism.exact:
        return Skipped(
            "policy", f'mechanism "{metric.mechanism}" of "{metric.name}" is not exact; use another'
        )
    if registry.entry(metric.mechanism).remembers:
        return Skipped(
            "policy",
            f'mechanism "{metric.mechanism}" of "{metric.name}" needs permanent answers, which this version '
            "does not keep; use another",
        )
    if metric.epsilon.micro > limits.report:
        return Skipped(
            "policy",
            f'"{metric.name}" asks epsilon {metric.epsilon}, this device allows at most '
            f"{decimal_text(limits.report)} a report; declare less",
        )
    (others,) = connection.execute(_METRICS, (metric.name,)).fetchone()
    if others >= limits.metrics:
        return Skipped("policy", f"this device answers at most {limits.metrics} metrics; declare fewer")
    return None


def _out_of_time(question: Question, period: int, now: int) -> Skipped | None:
    expires = question.metric.expires
    if (
        expires is not None
        and now >= datetime(expires.year, expires.month, expires.day, tzinfo=UTC).timestamp()
    ):
        return Skipped("expired", f'"{question.metric.name}" expired on {expires}; remove it or extend it')
    if period < 0:
        return Skipped("paused", "the clock of this device stands before 1970-01-05; set it")
    return None


def _already_answered(
    connection: sqlite3.Connection, question: Question, starts: int, ends: int
) -> Skipped | None:
    """Compare times and not period numbers: a metric whose period was changed gains no second report."""
    metric = question.metric
    facts = {
        "metric": metric.name,
        "source": metric.source,
        "once": metric.once,
        "starts": starts,
        "ends": ends,
    }
    (is_answered,) = connection.execute(_ANSWERED, facts).fetchone()
    if not is_answered:
        return None
    span = "for good" if metric.once else f"in this {metric.period}-day period"
    return Skipped(
        "already_answered", f'"{metric.name}" was answered {span}; nothing more is sent or charged'
    )


def _over_budget(
    connection: sqlite3.Connection, question: Question, caps: tuple[ledger.Cap, ...], now: int
) -> Skipped | None:
    metric, cost = question.metric, question.metric.epsilon.micro
    tightest = min(caps, key=lambda cap: cap.left)
    if tightest.left >= cost:
        return None
    opens = [ledger.opens_at(connection, cap, cost, now) for cap in caps if cap.left < cost]
    when = "it never opens again"
    if all(time is not None for time in opens):
        days = -(-(max(time for time in opens if time is not None) - now) // DAY)
        when = f"it opens again in {days} day{'s' * (days != 1)}"
    return Skipped(
        "budget",
        f'budget exhausted: "{metric.name}" asks epsilon {metric.epsilon}, {decimal_text(tightest.left)} of '
        f"{decimal_text(tightest.allowed)} is left {tightest.what}; {when}",
    )


def _over_delta(connection: sqlite3.Connection, metric: Metric, limits: Limits) -> Skipped | None:
    if not metric.delta.atto:
        return None
    left = limits.delta - ledger.delta_spent(connection)
    if metric.delta.atto <= left:
        return None
    return Skipped(
        "budget",
        f'"{metric.name}" fails its epsilon with probability {metric.delta}; {Delta(max(0, left))} of '
        f"{Delta(limits.delta)} is left for this device for life",
    )
