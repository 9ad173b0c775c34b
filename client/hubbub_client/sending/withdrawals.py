"""This file withdraws: what waits never leaves, and what left is asked back, one batch a request.

The journal keeps every byte for the owner, and nothing that was spent comes back.
"""

import secrets
import sqlite3
from collections.abc import Mapping

from hubbub.period import GRACE
from hubbub_client.outcome import Withdrawn
from hubbub_client.sending.delivery import Delivery
from hubbub_client.storage import chain
from hubbub_client.storage.chain import Row

# A batch that a sender ever had may have arrived, though its answer did not.
_ASKED = """SELECT number, ends FROM journal WHERE ends > :now - :grace AND (status = 'sent'
    OR leased != 0 AND (status = 'waiting' OR status = 'dropped' AND code = 'withdrawn'))"""
_ASK = "UPDATE journal SET status = 'withdrawing', code = '', due = ?, leased = 0 WHERE number = ?"
_DROP = "UPDATE journal SET status = 'dropped', code = 'withdrawn' WHERE status = 'waiting'"
_LAST = """SELECT number, starts FROM journal WHERE status = 'note' AND code = 'withdrawn'
    ORDER BY number DESC LIMIT 1"""
_STANDING = """SELECT at FROM journal WHERE status = 'note' AND code = 'withdrawn' AND number >
    (SELECT ifnull(max(number), 0) FROM journal WHERE status != 'note') ORDER BY number DESC LIMIT 1"""
_COUNT = "SELECT count(*) FROM journal WHERE status = 'withdrawing'"


def empty(connection: sqlite3.Connection) -> int:
    """Take every batch out of the line for good, and return how many; the caller commits."""
    return connection.execute(_DROP).rowcount


def ask_back(connection: sqlite3.Connection, now: int, delivery: Delivery) -> None:
    """Put in line a request for every batch that a collector may still be able to delete."""
    rows = connection.execute(_ASKED, {"now": now, "grace": GRACE}).fetchall()
    for number, ends in rows:
        due = delivery.due_back(now, ends + GRACE, secrets.randbelow(2**32) / 2**32)
        connection.execute(_ASK, (due, number))


def latest(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the number of the last withdrawal, and its time by the clock, in ms; 0 and 0 if none was."""
    return connection.execute(_LAST).fetchone() or (0, 0)


def standing(connection: sqlite3.Connection | None) -> int | None:
    """Return when everything was withdrawn, if nothing was recorded since."""
    row = connection.execute(_STANDING).fetchone() if connection is not None else None
    return None if row is None else int(row[0])


def withdraw(
    connection: sqlite3.Connection, now: int, clock: float, delivery: Delivery, *, ask_collector: bool
) -> Withdrawn:
    """Empty the outbox, and ask back what left if that is wanted; the caller commits.

    A note lets the other processes on this device know. clock: its time, which the device's may be ahead of.
    """
    chain.append(connection, Row(at=now, starts=int(1000 * clock), note="withdrawn"))
    if ask_collector:
        ask_back(connection, now, delivery)
    dropped = empty(connection)
    return Withdrawn(dropped, connection.execute(_COUNT).fetchone()[0], "")


def outcomes(counts: Mapping[tuple[str, str], int]) -> dict[str, int]:
    """Return what became of what was asked back.

    counts: of the journal's rows by status and code.

    >>> outcomes({("sent", ""): 3, ("withdrawn", ""): 2, ("kept", "already_folded"): 1})
    {'withdrawn': 2, 'already_folded': 1}
    """
    asked: dict[str, int] = {}
    for (status, code), count in counts.items():
        if status in ("withdrawing", "withdrawn", "kept"):
            name = code if status == "kept" else status
            asked[name] = asked.get(name, 0) + count
    return asked
