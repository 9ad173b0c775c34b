"""This file tells whether a database is the one that the marker means: not an older state, nor a copy.

Where it is not, nothing that was spent is given back: what is missing is charged to every source, and a note
in the journal keeps the device silent for a whole window.
"""

import sqlite3
from pathlib import Path

from hubbub.period import DAY
from hubbub.spending import WINDOW
from hubbub_client.storage import chain
from hubbub_client.storage.chain import Row
from hubbub_client.storage.marker import Mark

REASONS = {
    "unmarked": "its marker was missing",
    "restored": "its files were put back from an earlier state",
    "copied": "its files were copied",
    "reset": "it was reset",
}
LOST = "lost"  # what a note is called that charges what is missing, to every source
_HOUR = 3600
_SPENT = "SELECT ifnull(sum(cost), 0), ifnull(sum(delta), 0) FROM journal"
_SILENT = """SELECT at, code FROM journal
    WHERE status = 'note' AND code IN ('unmarked', 'restored', 'copied', 'reset')
    ORDER BY number DESC LIMIT 1"""


def file_number(database: Path) -> int:
    """Return a file's number in its file system, which a copy of it does not have."""
    return database.stat().st_ino & (1 << 64) - 1


def mark_of(connection: sqlite3.Connection, file: int) -> Mark:
    """Return what the marker should say of a database, whose file has this number."""
    generation, head = chain.head(connection)
    spent, delta = connection.execute(_SPENT).fetchone()
    return Mark(generation, spent, delta, file, head)


def doubt(connection: sqlite3.Connection, mark: Mark | None, file: int) -> str:
    """Say what happened to a database since its marker was written, or return ""."""
    if mark is None:
        return "unmarked" if chain.head(connection)[0] else ""
    if chain.link_at(connection, mark.generation) != mark.head:
        return "restored"
    return "copied" if mark.file and file and mark.file != file else ""


def settle(connection: sqlite3.Connection, happened: str, mark: Mark | None, now: int) -> None:
    """Charge what is missing, and let the device be silent from now on; the caller commits.

    Not twice within an hour, should the marker be impossible to write.
    """
    if mark is not None:
        charge_missing(connection, mark, now)
    last = connection.execute(_SILENT).fetchone()
    if last is None or not now - _HOUR < last[0] <= now:
        chain.append(connection, Row(at=now, note=happened))


def charge_missing(connection: sqlite3.Connection, mark: Mark, now: int, *, is_certain: bool = True) -> None:
    """Charge to every source what the marker says was spent and the journal does not.

    is_certain: whether no other row can be missing; else a note says so, whatever it costs.
    """
    spent, delta = connection.execute(_SPENT).fetchone()
    missing = Row(at=now, cost=max(0, mark.spent - spent), delta=max(0, mark.delta - delta), note=LOST)
    if missing.cost or missing.delta or not is_certain:
        chain.append(connection, missing)


def silence(
    connection: sqlite3.Connection | None, now: int, *, starts: int | None = None
) -> tuple[str, int] | None:
    """Return why a device is silent, and until when; None if it is not.

    starts: of a period to report about. What began before the silence may have been reported about by rows
    that are missing, and is never reported about again.
    """
    found = connection.execute(_SILENT).fetchone() if connection is not None else None
    if found is None:
        return None
    at, happened = found
    if now >= at + WINDOW * DAY and (starts is None or starts > at):
        return None
    return REASONS[happened], at + WINDOW * DAY
