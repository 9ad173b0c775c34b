"""This file reads the journal: every byte that left or will, what it cost, and what became of it."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hubbub.batch import Batch, decode
from hubbub.epsilon import decimal_text
from hubbub_client.storage.device import Device

PAGE = 100  # rows read at a time, so that a reader never holds up a record for long
_PAGE = """SELECT number, at, metric, source, starts, ends, cost, delta, batch, status, code, due, leased != 0
    FROM journal WHERE number > ? ORDER BY number LIMIT ?"""
_COUNTS = """SELECT iif(status = 'dropped' AND leased != 0, 'tried', status) AS became, code, count(*)
    FROM journal WHERE status != 'note' GROUP BY became, code"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One report, or a note.

    at, starts, ends, due: Unix times of the charge, of its period, and from which on it may leave; only the
    period itself leaves. micro: its cost in millionths of epsilon. atto: its delta in units of 10**-18.
    body: the bytes that leave. status: "waiting", "sent", "refused" or "dropped"; once asked back
    "withdrawing", "withdrawn", or "kept" if the collector would not. code: the reason where there is one; of
    a report that waits, why it did not leave when it was tried. A "note" is a word about the device itself,
    such as that it was reset: it has no body, and a cost only where it accounts for reports of which nothing
    else is left. tried: whether one that waits or was dropped may have arrived, though no answer came.
    """

    number: int
    at: int
    metric: str
    source: str
    starts: int
    ends: int
    micro: int
    atto: int
    body: bytes
    status: str
    code: str
    due: int
    tried: bool = False

    @property
    def cost(self) -> Decimal:
        """Epsilon."""
        return Decimal(decimal_text(self.micro))

    @property
    def batch(self) -> Batch:
        """The batch that the bytes are."""
        return decode(self.body)


def entries(device: Device, *, notes: bool = False) -> Iterator[Entry]:
    """Yield the reports, and if wanted the notes among them, oldest first.

    Raises StorageError or BusyError.
    """
    last = 0
    while page := _page(device, last):
        yield from (entry for entry in page if notes or entry.status != "note")
        last = page[-1].number


def counts(connection: sqlite3.Connection | None) -> dict[tuple[str, str], int]:
    """Count the reports by status and code; those dropped after a try are "tried" here."""
    if connection is None:
        return {}
    rows = connection.execute(_COUNTS).fetchall()
    return {(status, code): count for status, code, count in rows}


def _page(device: Device, after: int) -> list[Entry]:
    def rows(connection: sqlite3.Connection | None) -> list[tuple[Any, ...]]:
        if connection is None:
            return []
        return connection.execute(_PAGE, (after, PAGE)).fetchall()

    return [Entry(*(*row, bool(tried))) for *row, tried in device.read(rows)]
