"""This file keeps batches, raw reports and tallies in SQLite."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hubbub.tally import Tally
from hubbub_server.store.cells import span_of
from hubbub_server.store.group import Group
from hubbub_server.store.records import Change, Record
from hubbub_server.store.sqlite.database import Database
from hubbub_server.store.sqlite.rows import SqliteRows, find
from hubbub_server.store.sums import tally_of

_TALLIES = """SELECT period, labels, n, sums FROM cell
    WHERE metric = ? AND period >= ? AND period < ? ORDER BY period, labels"""
_CELLS = """SELECT number, period, labels FROM cell
    WHERE metric = ? AND period >= ? AND period < ? ORDER BY period, labels"""
_FOLDED = "SELECT n, sums FROM folded WHERE cell = ?"
_UNFOLDED = "SELECT bytes FROM reports INDEXED BY reports_unfolded WHERE unfolded AND key BETWEEN ? AND ?"
MOST_AT_ONCE = 2**22  # bytes of reports that are read at once, or one row
_PAGE = """SELECT key, bytes FROM reports WHERE key BETWEEN ? AND ?
    AND (?, ?, ?) = (SELECT metric, period, labels FROM cell WHERE number = ?)
    ORDER BY key LIMIT 1000"""  # unless the number, since it was read, has come to another cell


class SqliteBatches:
    """The ``Batches`` of one SQLite file."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, id_hash: bytes) -> Record | None:
        """Return what is known under the hash of an id."""
        with self._database.reading() as connection:
            return find(connection, [id_hash]).get(id_hash)

    def prepare(self) -> None:
        """Make room in the log."""
        self._database.grow_log()

    def commit(self, changes: Sequence[Change]) -> list[Record]:
        """Make all changes durable in one transaction, or none of them; one record a change."""
        with self._database.writing() as connection:
            known = find(connection, list({change.id_hash for change in changes}))
            return Group(SqliteRows(connection), known).carry_out(changes)

    def tallies(self, metric: bytes, periods: range) -> Iterator[tuple[int, bytes, Tally]]:
        """Yield period, labels and tally of each cell; the cost does not grow with the reports."""
        with self._database.reading() as connection:
            rows = connection.execute(_TALLIES, (metric, periods.start, periods.stop))
            yield from ((period, labels, tally_of(n, sums)) for period, labels, n, sums in rows)

    def pieces(self, metric: bytes, periods: range) -> Iterator[tuple[int, bytes, Tally | bytes]]:
        """Yield period, labels and each piece of a sum without numbers, cell by cell, as of one moment."""
        with self._database.reading() as connection, _one_moment(connection):
            for number, *cell in connection.execute(_CELLS, (metric, periods.start, periods.stop)).fetchall():
                period, labels = cell
                for n, sums in connection.execute(_FOLDED, (number,)):
                    yield period, labels, tally_of(n, sums)
                for (reports,) in connection.execute(_UNFOLDED, span_of(number)):
                    yield period, labels, reports

    def reports(
        self, metric: bytes, periods: range, *, most: int | None = None
    ) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield period, labels and raw reports of each portion still kept; pages hold up nobody."""
        with self._database.reading() as connection:
            cells = connection.execute(_CELLS, (metric, periods.start, periods.stop)).fetchall()
        for number, period, labels in cells:
            first, last = span_of(number)
            size = 0
            while most is None or size < most:
                with self._database.reading() as connection:
                    page = _some(connection.execute(_PAGE, (first, last, metric, period, labels, number)))
                if not page:
                    break
                yield from ((period, labels, reports) for _, reports in page)
                first = page[-1][0] + 1
                size += sum(len(reports) for _, reports in page)


def _some(rows: sqlite3.Cursor) -> list[tuple[int, bytes]]:
    """Take rows until they are many bytes: those of gateways can be large."""
    page: list[tuple[int, bytes]] = []
    size = 0
    for key, reports in rows:
        page.append((key, reports))
        size += len(reports)
        if size >= MOST_AT_ONCE:
            break
    rows.close()
    return page


@contextmanager
def _one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN")
    yield
    connection.execute("COMMIT")
