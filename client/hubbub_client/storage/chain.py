"""This file adds rows to the journal, each of them chained to all before it by a hash.

So a row that was changed, dropped or slipped in by anything but this file is noticed, and one link says of
two journals whether they are the same up to there.
"""

import hashlib
import json
import sqlite3
from dataclasses import dataclass

_LAST = "SELECT number, chain FROM journal ORDER BY number DESC LIMIT 1"
_FIRST = "SELECT identity FROM device"
_INSERT = """INSERT INTO journal
    (number, at, source, metric, starts, ends, cost, delta, batch, chain, status, code, due)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_ROWS = """SELECT number, at, source, metric, starts, ends, cost, delta, batch,
    iif(status = 'note', code, ''), chain FROM journal ORDER BY number"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What is fixed about a row of the journal: a report's charge and bytes, or a note.

    at: Unix time. starts, ends: of the report's period. cost, delta: in millionths of epsilon and in units
    of 10**-18. due: from when on it may leave, which alone of these is not chained. note: why there is a row
    without a report.
    """

    at: int
    source: str = ""
    metric: str = ""
    starts: int = 0
    ends: int = 0
    cost: int = 0
    delta: int = 0
    batch: bytes = b""
    due: int = 0
    note: str = ""


def append(connection: sqlite3.Connection, row: Row) -> None:
    """Add a row; the caller commits."""
    number, link = head(connection)
    facts = (number + 1, row.at, row.source, row.metric, row.starts, row.ends, row.cost, row.delta, row.batch)
    after = _link(link, facts, row.note)
    status = "note" if row.note else "waiting"
    connection.execute(_INSERT, (*facts, after, status, row.note, row.due))


def head(connection: sqlite3.Connection) -> tuple[int, bytes]:
    """Return how many rows there are, and the last link: with no row yet, the database's identity."""
    return connection.execute(_LAST).fetchone() or (0, connection.execute(_FIRST).fetchone()[0])


def link_at(connection: sqlite3.Connection, number: int) -> bytes | None:
    """Return the link of a row, or with 0 the identity; None if there is no such row."""
    query = (_FIRST, ()) if number == 0 else ("SELECT chain FROM journal WHERE number = ?", (number,))
    found = connection.execute(*query).fetchone()
    return None if found is None else found[0]


def is_whole(connection: sqlite3.Connection) -> bool:
    """Tell whether every row is what was written, and none is missing between the first and the last."""
    before = link_at(connection, 0) or b""
    for expected, (*facts, note, link) in enumerate(connection.execute(_ROWS), start=1):
        if facts[0] != expected or link != _link(before, tuple(facts), note):
            return False
        before = link
    return True


def _link(before: bytes, facts: tuple[object, ...], note: str) -> bytes:
    """Hash a row and the link before it; JSON says where each field ends."""
    *plain, batch = facts
    words = json.dumps([*plain, note]).encode()
    return hashlib.sha256(before + words + b"\n" + bytes(batch)).digest()  # type: ignore[call-overload]
