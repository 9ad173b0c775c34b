"""This file holds the outbox: the journal's waiting rows, who is sending which, and what became of them.

A sender leases rows for a minute, so that two processes don't send the same batch at once. A crash in between
costs a resend of the same bytes, which a collector counts once.
"""

import sqlite3
from dataclasses import dataclass

from hubbub.period import GRACE
from hubbub_client.delivery import Delivery
from hubbub_client.outcome import Skipped

LEASE = 60  # seconds, more than one request may take
AT_A_TIME = 16
PAUSE = 3600  # seconds that a batch is postponed

_IN_LINE = "SELECT count(*), ifnull(sum(length(batch)), 0) FROM journal WHERE status = 'waiting'"
_DROP = "UPDATE journal SET status = 'dropped', code = 'too_old' WHERE status = 'waiting' AND ends <= ?"
# A lease further away than any lease lasts is one from before the clock was set back.
_FREE = """SELECT number, batch FROM journal WHERE status = 'waiting' AND (:all OR due <= :now)
    AND leased NOT BETWEEN :now + 1 AND :now + :lease ORDER BY due LIMIT :most"""
_NEXT = """SELECT min(max(due, iif(leased BETWEEN :now + 1 AND :now + :lease, leased, 0)))
    FROM journal WHERE status = 'waiting'"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A batch in line: its journal number and its bytes, the same at every try."""

    number: int
    batch: bytes


def is_full(connection: sqlite3.Connection, delivery: Delivery) -> Skipped | None:
    """Say so if so much is in line that nothing more may be charged."""
    batches, size = connection.execute(_IN_LINE).fetchone()
    if batches < delivery.most_batches and size < delivery.most_bytes:
        return None
    return Skipped("paused", f"{batches} batches wait to be sent; recording goes on when they have left")


def waiting(connection: sqlite3.Connection) -> int:
    """Count the batches in line."""
    return int(connection.execute(_IN_LINE).fetchone()[0])


def next_due(connection: sqlite3.Connection, now: int) -> int | None:
    """Return when the next batch in line may leave and is leased to nobody, or None if the line is empty."""
    (due,) = connection.execute(_NEXT, {"now": now, "lease": LEASE}).fetchone()
    return None if due is None else int(due)


def drop_old(connection: sqlite3.Connection, now: int) -> None:
    """Give up on batches that no collector takes any more: their period and its grace are over."""
    connection.execute(_DROP, (now - GRACE,))


def lease(connection: sqlite3.Connection, now: int, *, everything: bool) -> tuple[Waiting, ...]:
    """Take some batches that are due, or any in line, for this sender alone; the caller commits."""
    rows = connection.execute(
        _FREE, {"all": everything, "now": now, "lease": LEASE, "most": AT_A_TIME}
    ).fetchall()
    numbers = [(now + LEASE, number) for number, _ in rows]
    connection.executemany("UPDATE journal SET leased = ? WHERE number = ?", numbers)
    return tuple(Waiting(number, batch) for number, batch in rows)


def settle(connection: sqlite3.Connection, number: int, status: str, code: str) -> None:
    """Note what became of a batch, and end its lease."""
    connection.execute(
        "UPDATE journal SET status = ?, code = ?, leased = 0 WHERE number = ? AND status = 'waiting'",
        (status, code, number),
    )


def postpone(connection: sqlite3.Connection, number: int, code: str, *, now: int) -> None:
    """Let a batch wait for another hour, and keep its lease, so that nobody tries it again at once."""
    connection.execute(
        "UPDATE journal SET code = ?, due = max(due, ?) WHERE number = ?", (code, now + PAUSE, number)
    )


def release(connection: sqlite3.Connection, numbers: tuple[int, ...]) -> None:
    """End leases on batches that were not tried."""
    connection.executemany(
        "UPDATE journal SET leased = 0 WHERE number = ?", [(number,) for number in numbers]
    )
