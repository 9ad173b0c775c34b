"""This file gives one answer inside the device's transaction: every check, the charge, the report.

What is checked and charged depends on the metric, the time and the past, and never on the value.
"""

import secrets
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from hubbub.batch import Batch, Column, encode
from hubbub.delta import Delta
from hubbub.epsilon import decimal_text
from hubbub.metric import Metric
from hubbub.period import DAY, EPOCH, start_of
from hubbub.spending import Limits
from hubbub_client.answering import repetition
from hubbub_client.answering.question import Question
from hubbub_client.answering.rules import Rules
from hubbub_client.outcome import Recorded, Skipped
from hubbub_client.sending import outbox
from hubbub_client.storage import chain, ledger, provenance
from hubbub_client.storage.chain import Row
from hubbub_client.storage.memo import MOST

_METRICS = "SELECT count(DISTINCT metric) FROM journal WHERE metric NOT IN (?, '')"


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
    metric, memory = question.metric, question.memory(connection)
    cost = metric.epsilon.micro if memory is None else memory.price
    starts, ends = (start_of(fact.period + later, metric.period) for later in (0, 1))
    caps = ledger.caps(connection, metric.source, rules.limits, now)
    refusal = (
        _silent(connection, now, starts)
        or _against_policy(connection, question, rules.limits)
        or _out_of_time(metric, (starts, ends), now)
        or repetition.refusal(connection, metric, fact.period)
        or (_over_budget(connection, question, caps, cost, now=now) if cost else None)
        or (_over_delta(connection, metric, rules.limits) if cost else None)
        or outbox.is_full(connection, rules.delivery, now)
    )
    if refusal:
        return refusal
    column = Column(question.id, fact.period, fact.labels, 1, question.report(fact.value, memory))
    batch = encode(Batch(secrets.token_bytes(16), (column,)))
    chance = secrets.randbelow(2**32) / 2**32
    row = Row(
        at=now,
        source=metric.source,
        metric=metric.name,
        starts=starts,
        ends=ends,
        cost=cost,
        delta=metric.delta.atto if cost else 0,
        batch=batch,
        due=rules.delivery.due(now, (starts, ends), chance, has_absent=metric.absent is not None),
    )
    ledger.note_renewal(connection, now)
    chain.append(connection, row)
    left = min(cap.left for cap in caps) - cost
    return Recorded(Decimal(decimal_text(cost)), Decimal(decimal_text(left)))


def _silent(connection: sqlite3.Connection, now: int, starts: int) -> Skipped | None:
    silence = provenance.silence(connection, now, starts=starts)
    if silence is None:
        return None
    reason, until = silence
    days = max(1, -(-(until - now) // DAY))
    return Skipped("paused", f"this device is silent, since {reason}; it opens again in {days} days")


def _against_policy(connection: sqlite3.Connection, question: Question, limits: Limits) -> Skipped | None:
    metric = question.metric
    if not question.mechanism.exact:
        return Skipped(
            "policy", f'mechanism "{metric.mechanism}" of "{metric.name}" is not exact; use another'
        )
    memory = question.memory(connection)
    if memory is not None and memory.most > MOST:
        return Skipped(
            "policy",
            f'"{metric.name}" may need {memory.most} permanent answers, a device keeps at most {MOST}; '
            "declare fewer changes",
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


def _out_of_time(metric: Metric, period: tuple[int, int], now: int) -> Skipped | None:
    """Judge a metric with an absent value by its whole period, after which its silence is told."""
    starts, ends = period
    moment = now if metric.absent is None else ends - 1
    expires = metric.expires
    if (
        expires is not None
        and moment >= datetime(expires.year, expires.month, expires.day, tzinfo=UTC).timestamp()
    ):
        return Skipped("expired", f'"{metric.name}" expired on {expires}; remove it or extend it')
    if starts < EPOCH:
        return Skipped("paused", "the clock of this device stands before 1970-01-05; set it")
    return None


def _over_budget(
    connection: sqlite3.Connection, question: Question, caps: tuple[ledger.Cap, ...], cost: int, *, now: int
) -> Skipped | None:
    metric = question.metric
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
        f'budget exhausted: "{metric.name}" asks epsilon {decimal_text(cost)}, '
        f"{decimal_text(tightest.left)} of {decimal_text(tightest.allowed)} is left {tightest.what}; {when}",
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
