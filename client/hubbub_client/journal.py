"""This file reads the journal: every byte that left or will, what it cost, and what became of it."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from hubbub.batch import Batch, decode
from hubbub.epsilon import decimal_text
from hubbub_client.device import Device

PAGE = 100  # rows read at a time, so that a reader never holds up a record for long
_COLUMNS = "number, at, metric, source, starts, ends, cost, delta, batch, status, code, due"


@dataclass(frozen=True, slots=True)
class Entry:
    """One report.

    at, starts, ends, due: Unix times of the charge, of its period, and from which on it may leave; only the
    period itself leaves. micro: its cost in millionths of epsilon. atto: its delta in units of 10**-18.
    body: the bytes that leave. status: "waiting", "sent", "refused" or "dropped". code: the reason where
    there is one.
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

    @property
    def cost(self) -> Decimal:
        """Epsilon."""
        return Decimal(decimal_text(self.micro))

    @property
    def batch(self) -> Batch:
        """The batch that the bytes are."""
        return decode(self.body)


def entries(device: Device) -> Iterator[Entry]:
    """Yield the journal, oldest first.

    Raises StorageError or BusyError.
    """
    last = 0
    while page := _page(device, last):
        yield from page
        last = page[-1].number


def counts(connection: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """Count the entries by status and code."""
    rows = connection.execute("SELECT status, code, count(*) FROM journal GROUP BY status, code")
    return {(status, code): count for status, code, count in rows}


def _page(device: Device, after: int) -> list[Entry]:
    with device.reading() as connection:
        if connection is None:
            return []
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM journal WHERE number > ? ORDER BY number LIMIT ?",  # noqa: S608 - a constant
            (after, PAGE),
        ).fetchall()
    return [Entry(*row) for row in rows]
