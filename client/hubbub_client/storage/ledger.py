"""This file adds up what was spent: by source and over all, in the sliding window and for life.

The journal's rows are the only account, so a charge without its journal entry can't exist. A row without a
source is a charge to every source, for what was spent by rows that are missing.
"""

import sqlite3
from dataclasses import dataclass

from hubbub.errors import StorageError
from hubbub.period import DAY
from hubbub.spending import WINDOW, Limits
from hubbub_client.storage import chain
from hubbub_client.storage.chain import Row

LATEST = 253_370_764_800  # 9999-01-01: what lies a few periods later is still a date
_SPENT = """SELECT ifnull(sum(cost), 0), ifnull(sum(cost) FILTER (WHERE at > :since), 0),
    ifnull(sum(cost) FILTER (WHERE source IN (:source, '')), 0),
    ifnull(sum(cost) FILTER (WHERE source IN (:source, '') AND at > :since), 0)
    FROM journal"""
_BY_SOURCE = """SELECT source, ifnull(sum(cost) FILTER (WHERE at > :since), 0), sum(cost)
    FROM journal GROUP BY source HAVING sum(cost) > 0 ORDER BY source"""
_CHARGES = (
    "SELECT at, cost FROM journal WHERE at > :since AND (:source = '' OR source IN (:source, '')) ORDER BY at"
)
_LAST = "SELECT at FROM journal ORDER BY number DESC LIMIT 1"


@dataclass(frozen=True, slots=True)
class Cap:
    """One cap: what it covers, how much it allows and how much of that is spent, in millionths."""

    what: str
    allowed: int
    spent: int
    source: str  # "" for all sources
    slides: bool

    @property
    def left(self) -> int:
        """What may still be spent under this cap."""
        return max(0, self.allowed - self.spent)


def caps(connection: sqlite3.Connection | None, source: str, limits: Limits, now: int) -> tuple[Cap, ...]:
    """Return the caps that a charge on a source must fit under, or with "" those on all together.

    connection: None for a device that has spent nothing yet.
    """
    life = window = source_life = source_window = 0
    if connection is not None:
        life, window, source_life, source_window = connection.execute(
            _SPENT, {"source": source, "since": now - WINDOW * DAY}
        ).fetchone()
    overall = (
        Cap(f"for this device in {WINDOW} days", limits.window, window, "", slides=True),
        Cap("for this device for life", limits.life, life, "", slides=False),
    )
    if not source:
        return overall
    return (
        Cap(f'for "{source}" in {WINDOW} days', limits.source_window, source_window, source, slides=True),
        Cap(f'for "{source}" for life', limits.source_life, source_life, source, slides=False),
        *overall,
    )


def by_source(connection: sqlite3.Connection, now: int) -> list[tuple[str, int, int]]:
    """Return each source with what was spent on it in the window and for life, in millionths."""
    return connection.execute(_BY_SOURCE, {"since": now - WINDOW * DAY}).fetchall()


def delta_spent(connection: sqlite3.Connection) -> int:
    """Return the delta that was spent for life, on all sources together, in units of 10**-18."""
    (spent,) = connection.execute("SELECT ifnull(sum(delta), 0) FROM journal").fetchone()
    return int(spent)


def opens_at(connection: sqlite3.Connection, cap: Cap, cost: int, now: int) -> int | None:
    """Return when charges will have slid out of the window so far that ``cost`` fits, or None if never."""
    if not cap.slides:
        return None
    left = cap.allowed - cap.spent
    for at, charge in connection.execute(_CHARGES, {"since": now - WINDOW * DAY, "source": cap.source}):
        left += charge
        if left >= cost:
            return int(at) + WINDOW * DAY
    return None


def note_renewal(connection: sqlite3.Connection, now: int) -> None:
    """Leave a note where the clock has passed a whole window since the last charge, or says that it has."""
    row = connection.execute(_LAST).fetchone()
    if row is not None and row[0] + WINDOW * DAY <= now:
        chain.append(connection, Row(at=now, note="renewed"))


def is_ahead(now: int, clock: float) -> bool:
    """Tell whether a device's time is so far ahead of its clock that the clock was wrong at a charge."""
    return now - clock > DAY


def latest(connection: sqlite3.Connection | None, now: float) -> int:
    """Return the device's time: the clock's, or the last charge's if the clock was set back behind it.

    Raises StorageError if the clock shows what no clock of seconds does: a device would never get over it.
    """
    if not now < LATEST:
        raise StorageError("the clock shows no date before the year 10000; it must count seconds since 1970")
    row = connection.execute(_LAST).fetchone() if connection is not None else None
    return max(int(max(now, -1.0)), row[0] if row else 0)
