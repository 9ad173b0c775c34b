"""This file holds the outbox: the letters in the journal, who is sending which, and what became of them.

A sender leases letters for a minute, so that two processes don't send the same one at once. A crash in
between costs a resend of the same bytes, which a collector counts once. ``leased`` says until when; after a
try in vain, when that was; and 0 that no sender ever had the letter, so that it can't have left.
"""

import sqlite3
from collections.abc import Callable, Iterable
from itertools import islice

from hubbub.period import DAY, GRACE
from hubbub_client.outcome import Skipped
from hubbub_client.sending.delivery import Delivery
from hubbub_client.sending.letters import KINDS, Letter

LEASE = 60  # seconds, more than one request may take
AT_A_TIME = 16
PAUSE = 3600  # seconds that a letter is postponed
REMEMBERED = GRACE + DAY  # after a period's end, that a collector knows a batch by its id

# The first half of each condition is that of the index.
_IN_LINE = """SELECT count(*), ifnull(sum(length(batch)), 0) FROM journal
    WHERE status IN ('waiting', 'withdrawing') AND status = 'waiting' AND ends > ?"""
_LAST_TRIED = """SELECT code FROM journal WHERE status IN ('waiting', 'withdrawing') AND code != ''
    ORDER BY leased DESC LIMIT 1"""
# What is too old by the clock does not leave. The clock may be wrong for a moment, so it is dropped only once
# the device has charged something since.
_TOO_OLD = """UPDATE journal SET status = 'dropped', code = 'too_old'
    WHERE status IN ('waiting', 'withdrawing') AND status = 'waiting'
    AND ends <= min(:now, (SELECT at FROM journal ORDER BY number DESC LIMIT 1)) - :grace"""
_TOO_LATE = """UPDATE journal SET status = 'kept', code = 'too_late'
    WHERE status IN ('waiting', 'withdrawing') AND status = 'withdrawing' AND ends <= ?"""
# A lease further away than any lease lasts is one from before the clock was set back. What was tried in vain
# comes last, so that a letter which fails for ever holds up no other.
_FREE = """SELECT number, status, metric, batch, leased FROM journal
    WHERE status IN ('waiting', 'withdrawing') AND (:all OR due <= :now)
    AND (status != 'waiting' OR ends > :now - :grace)
    AND leased NOT BETWEEN :now + 1 AND :now + :lease ORDER BY leased, due"""
_NEXT = """SELECT status, metric, min(max(due, iif(leased BETWEEN :now + 1 AND :now + :lease, leased, 0)))
    FROM journal WHERE status IN ('waiting', 'withdrawing') AND (status != 'waiting' OR ends > :now - :grace)
    GROUP BY status, metric"""

Agrees = Callable[[str], bool]  # whether the owner consents to a metric


def is_full(connection: sqlite3.Connection, delivery: Delivery, now: int) -> Skipped | None:
    """Say so if so much is in line that nothing more may be charged."""
    batches, size = connection.execute(_IN_LINE, (now - GRACE,)).fetchone()
    if batches < delivery.most_batches and size < delivery.most_bytes:
        return None
    return Skipped("paused", f"{batches} batches wait to be sent; recording goes on when they have left")


def waiting(connection: sqlite3.Connection | None) -> tuple[int, str]:
    """Count the batches in line, and say why one of them, the last that was tried, is still there, or ""."""
    if connection is None:
        return 0, ""
    code = connection.execute(_LAST_TRIED).fetchone()
    return int(connection.execute(_IN_LINE, (0,)).fetchone()[0]), code[0] if code else ""


def next_due(connection: sqlite3.Connection, now: int, agrees: Agrees) -> int | None:
    """Return when the next letter may leave and is leased to nobody, or None if there is none."""
    rows = connection.execute(_NEXT, {"now": now, "lease": LEASE, "grace": GRACE}).fetchall()
    return min((due for status, metric, due in rows if _may_leave(status, metric, agrees)), default=None)


def give_up(connection: sqlite3.Connection, now: int) -> None:
    """Give up on batches that no collector takes any more, and on having back what none knows any more."""
    connection.execute(_TOO_OLD, {"now": now, "grace": GRACE})
    connection.execute(_TOO_LATE, (now - REMEMBERED,))


def lease(
    connection: sqlite3.Connection, now: int, agrees: Agrees, *, everything: bool
) -> tuple[Letter, ...]:
    """Take some letters that are due, or any, for this sender alone; the caller commits."""
    rows = connection.execute(_FREE, {"all": everything, "now": now, "lease": LEASE, "grace": GRACE})
    letters = (Letter(*row) for row in rows)
    taken = tuple(islice((one for one in letters if _may_leave(one.status, one.metric, agrees)), AT_A_TIME))
    _set_leases(connection, ((now + LEASE, one.number) for one in taken))
    return taken


def is_in_line(connection: sqlite3.Connection, letter: Letter) -> bool:
    """Tell whether a leased letter is still to be sent: consent that is given again brings none back."""
    query = "SELECT 1 FROM journal WHERE number = ? AND status = ? AND batch = ?"
    return connection.execute(query, (letter.number, letter.status, letter.batch)).fetchone() is not None


def release(connection: sqlite3.Connection, letters: Iterable[Letter]) -> None:
    """End leases on letters that were not tried."""
    _set_leases(connection, ((one.leased, one.number) for one in letters))


def settle(connection: sqlite3.Connection, letter: Letter, status: str, code: str) -> None:
    """Note what became of a letter, and end its lease; and of a batch even if it was dropped on its way."""
    connection.execute(
        """UPDATE journal SET status = ?, code = ?, leased = 0
            WHERE number = ? AND (status = ? OR status = 'dropped')""",
        (status, code, letter.number, letter.status),
    )


def keep(connection: sqlite3.Connection, letter: Letter, code: str, *, now: int) -> None:
    """Leave a letter that was tried in line, and note why it is still there."""
    connection.execute(
        "UPDATE journal SET code = ?, leased = ? WHERE number = ? AND status = ?",
        (code, now, letter.number, letter.status),
    )


def postpone(connection: sqlite3.Connection, letter: Letter, code: str, *, now: int) -> None:
    """Let a letter wait for another hour, and keep its lease, so that nobody tries it again at once."""
    connection.execute(
        "UPDATE journal SET code = ?, due = max(due, ?) WHERE number = ? AND status = ?",
        (code, now + PAUSE, letter.number, letter.status),
    )


def _may_leave(status: str, metric: str, agrees: Agrees) -> bool:
    return not KINDS[status].needs_consent or agrees(metric)


def _set_leases(connection: sqlite3.Connection, leases: Iterable[tuple[int, int]]) -> None:
    connection.executemany("UPDATE journal SET leased = ? WHERE number = ?", leases)
