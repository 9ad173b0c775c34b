"""This file keeps a PostgreSQL store small, quick and whole."""

from collections.abc import Iterator
from pathlib import Path

from psycopg import sql

from hubbub.errors import StorageError
from hubbub_server.store.cells import span_of
from hubbub_server.store.postgres import checking
from hubbub_server.store.postgres.compacting import compact
from hubbub_server.store.postgres.database import SCHEMA, Database
from hubbub_server.store.postgres.errors import named_errors
from hubbub_server.store.postgres.pages import page_of
from hubbub_server.store.postgres.partitions import partitions
from hubbub_server.store.postgres.patience import Connection
from hubbub_server.store.postgres.seat import slots_held
from hubbub_server.store.postgres.slots import merge_silent_slots
from hubbub_server.store.postgres.tallies import add_to_folded
from hubbub_server.store.records import MISSING, AddUp, Fault, Usage

FOLDED_FROM = 2**20  # bytes of reports of a cell: fewer are quicker read than their sums written
ROWS_AT_ONCE = 10_000  # that are deleted in one transaction
BYTES_AT_ONCE = 2**26  # of them, or one row

_FORGET = """DELETE FROM batch WHERE id_hash IN (
    SELECT id_hash FROM batch WHERE forget_after < %s LIMIT %s)"""
_MOST_WAITING = """SELECT number, ends, metric FROM cell JOIN tally ON cell = number
    WHERE unfolded <> 0 GROUP BY number HAVING sum(unfolded) >= %s ORDER BY sum(unfolded) DESC LIMIT 1"""
_ENDED_WAITING = """SELECT number, ends, metric FROM cell JOIN tally ON cell = number
    WHERE raw <> 'gone' AND ends < %s AND unfolded <> 0 GROUP BY number HAVING sum(unfolded) > 0 LIMIT 1"""
_ENDED = "SELECT number, ends FROM cell WHERE raw <> 'gone' AND ends < %s LIMIT 1"
_LESS_WAITING = """UPDATE tally SET unfolded = CASE slot
        WHEN (SELECT min(slot) FROM tally WHERE cell = %(cell)s)
        THEN (SELECT sum(unfolded) FROM tally WHERE cell = %(cell)s) - %(folded)s ELSE 0 END
    WHERE cell = %(cell)s"""
_DELETE = """DELETE FROM reports WHERE ends = %s AND key IN (
    SELECT key FROM (SELECT key, sum(size) OVER (ORDER BY key) - size AS before FROM (
        SELECT key, octet_length(bytes) + octet_length(rest) AS size FROM reports
        WHERE ends = %s AND key BETWEEN %s AND %s ORDER BY key LIMIT %s
    ) AS next) AS sized WHERE before < %s)"""
_LEFT = "SELECT EXISTS (SELECT FROM reports WHERE ends = %s AND key BETWEEN %s AND %s)"
_GONE = "UPDATE cell SET raw = 'gone' WHERE ends >= %s AND ends < %s AND raw <> 'gone'"
_PROBE = """INSERT INTO noted VALUES ('probe', 1)
    ON CONFLICT (name) DO UPDATE SET value = 1 - noted.value"""
_NOTE = "INSERT INTO noted VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


class PostgresUpkeep:
    """The ``Upkeep`` of one PostgreSQL database."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def forget(self, today: int) -> bool:
        """Forget some of the ids whose day has passed, and take over the tallies of processes that ended."""
        with self._database.alone() as connection:
            forgotten = connection.execute(_FORGET, (today, ROWS_AT_ONCE)).rowcount
        with named_errors():
            merge_silent_slots(self._database)
        return forgotten == ROWS_AT_ONCE

    def fold(self, add_up: AddUp) -> bool:
        """Add up some of the reports that wait for it, of the cell where most do."""
        with self._database.alone() as connection:
            cells = connection.execute(_MOST_WAITING, (FOLDED_FROM,), binary=True).fetchall()
            for number, ends, metric in cells:
                _fold(connection, number, ends, add_up, metric)
        return bool(cells)

    def expire(self, before: int, add_up: AddUp) -> bool:
        """Delete some raw reports of periods that ended before a Unix day, once they are added up."""
        with self._database.alone() as connection:
            for number, ends, metric in connection.execute(_ENDED_WAITING, (before,), binary=True).fetchall():
                _fold(connection, number, ends, add_up, metric)
                return True
            for name, days in partitions(connection).items():
                if days.stop <= before:
                    _drop(connection, name, days)
                    return True
            for number, ends in connection.execute(_ENDED, (before,)).fetchall():
                _delete(connection, number, ends)
                return True
        return False

    def compact(self) -> None:
        """Write the tables anew, each in the order of its keys, which are random."""
        compact(self._database)

    def check(self, add_up: AddUp) -> Iterator[Fault]:
        """Yield what is wrong: tallies that are not the sum of their reports, rows without their others."""
        return checking.faults(self._database, add_up)

    def backup(self, path: Path) -> None:
        """Leave it to PostgreSQL's own program, which sees one moment, too."""
        raise StorageError(
            "PostgreSQL is backed up by its own program, for you only: "
            f"(umask 077; pg_dump --format=custom --schema={SCHEMA} --file={path} URL)"
        )

    def probe(self) -> None:
        """Write something durably, to see whether it can be done."""
        with self._database.writing() as connection:
            connection.execute(_PROBE)

    def usage(self) -> Usage:
        """Return how much room is taken; how much is left, PostgreSQL does not tell."""
        ((taken,),) = self._database.select("SELECT pg_database_size(current_database())")
        return Usage(taken, None)

    def latest_end(self) -> int | None:
        """Return the Unix day on which the newest period with reports ends."""
        ((latest,),) = self._database.select("SELECT max(ends) FROM cell")
        return None if latest is None else int(latest)

    def oldest_raw(self) -> int | None:
        """Return the Unix day on which the oldest period ended that has raw reports, None without any."""
        ((oldest,),) = self._database.select("SELECT min(ends) FROM cell WHERE raw <> 'gone'")
        return None if oldest is None else int(oldest)

    def skim(self, seconds: float) -> bool | None:  # noqa: ARG002 - nothing is tried
        """Leave the files to PostgreSQL, which keeps them."""
        return None

    def instances(self) -> int:
        """Return how many processes serve on this store."""
        if not self._database.is_seated:
            self._database.take_seat()  # which waits for a commit
        with self._database.reading() as connection:
            return slots_held(connection)

    def noted(self, name: str) -> int:
        """Return a number that was noted, 0 if none was."""
        rows = self._database.select("SELECT value FROM noted WHERE name = ?", name)
        return int(rows[0][0]) if rows else 0

    def note(self, name: str, value: int) -> None:
        """Keep a number over restarts."""
        with self._database.writing() as connection:
            connection.execute(_NOTE, (name, value))


def _fold(connection: Connection, number: int, ends: int, add_up: AddUp, metric: bytes) -> None:
    """Add up some of the reports of a cell that wait for it."""
    page = page_of(connection, number, ends, waiting=True)
    reports = b"".join(each for _, each in page)
    if not page:
        raise StorageError(MISSING)
    add_to_folded(connection, number, add_up(metric, reports))
    connection.execute("DELETE FROM waiting WHERE key = ANY(%b::bigint[])", ([key for key, _ in page],))
    connection.execute(_LESS_WAITING, {"cell": number, "folded": len(reports)})


def _drop(connection: Connection, name: str, days: range) -> None:
    """Let a whole partition go."""
    connection.execute("SET LOCAL lock_timeout = '1s'")  # everybody waits behind us for those who read it
    connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(name)))
    connection.execute(_GONE, (days.start, days.stop))


def _delete(connection: Connection, number: int, ends: int) -> None:
    """Let some reports of a cell go, in a partition where others stay."""
    connection.execute(_DELETE, (ends, ends, *span_of(number), ROWS_AT_ONCE, BYTES_AT_ONCE))
    ((is_left,),) = connection.execute(_LEFT, (ends, *span_of(number))).fetchall()
    state = "going" if is_left else "gone"
    connection.execute("UPDATE cell SET raw = %s WHERE number = %s", (state, number))
