"""This file keeps batches, raw reports and tallies in PostgreSQL."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import psycopg
from psycopg import errors

from hubbub.errors import BusyError
from hubbub.tally import Tally
from hubbub_server.store.group import Group
from hubbub_server.store.postgres.database import Database
from hubbub_server.store.postgres.errors import RACES, named_errors
from hubbub_server.store.postgres.pages import next_page, pages
from hubbub_server.store.postgres.partitions import first_day, make_partitions
from hubbub_server.store.postgres.rows import PostgresRows, find
from hubbub_server.store.records import Change, Deposit, Record, Withdrawal
from hubbub_server.store.sums import tally_of

_TRIES = 20
MOST_AT_ONCE = 2**23  # bytes of sums of a slot that are read at once, or one
_TALLIES = """SELECT period, labels, t.n, sums FROM cell JOIN tally t ON cell = number
    WHERE metric = %s AND period >= %s AND period < %s AND number = ANY(%s) ORDER BY period, labels"""
_CELLS = """SELECT number, ends, period, labels FROM cell
    WHERE metric = %s AND period >= %s AND period < %s ORDER BY period, labels"""


class PostgresBatches:
    """The ``Batches`` of one PostgreSQL database."""

    __slots__ = ("_database", "_partitions")

    def __init__(self, database: Database) -> None:
        self._database = database
        self._partitions = set[int]()  # that this process saw: the first day of each

    def find(self, id_hash: bytes) -> Record | None:
        """Return what is known under the hash of an id."""
        with self._database.reading() as connection:
            return find(connection, [id_hash]).get(id_hash)

    def prepare(self) -> None:
        """Take a slot."""
        self._database.take_seat()

    def commit(self, changes: Sequence[Change]) -> list[Record]:
        """Make all changes durable in one transaction, or none of them; one record a change.

        It is tried again where another process was faster, and once where the connection was lost: what was
        kept all the same is then found by its id.
        """
        is_lost = False
        if self._days(changes) - self._partitions:
            self._make_partitions(changes)
        with named_errors():
            for _ in range(_TRIES):
                try:
                    return self._try(changes)
                except errors.CheckViolation:  # the partition for the reports was dropped
                    self._make_partitions(changes)
                except RACES:
                    continue
                except psycopg.Error:
                    if is_lost or self._database.is_seated:
                        raise
                    is_lost = True
        raise BusyError("other processes were faster each time; try again")

    def _try(self, changes: Sequence[Change]) -> list[Record]:
        alone = any(isinstance(change, Withdrawal) for change in changes)
        with self._database.committing(alone=alone) as (connection, slot):
            known = find(connection, list({change.id_hash for change in changes}))
            return Group(PostgresRows(connection, slot), known).carry_out(changes)

    def _make_partitions(self, changes: Sequence[Change]) -> None:
        days = self._days(changes)
        with self._database.alone() as connection:
            make_partitions(connection, days)
        self._partitions |= days

    @staticmethod
    def _days(changes: Sequence[Change]) -> set[int]:
        """Return the first days of the partitions that changes need."""
        deposits = [change for change in changes if isinstance(change, Deposit)]
        return {first_day(each.ends) for deposit in deposits for each in deposit.portions}

    def tallies(self, metric: bytes, periods: range) -> Iterator[tuple[int, bytes, Tally]]:
        """Yield period, labels and tally of each cell; the cost does not grow with the reports."""
        values = (metric, periods.start, periods.stop)
        with self._database.reading() as connection:
            numbers = [number for number, *_ in connection.execute(_CELLS, values, binary=True)]
        start, many = 0, 1
        while start < len(numbers):
            with self._database.reading() as connection:
                some = numbers[start : start + many]
                rows = connection.execute(_TALLIES, (*values, some), binary=True).fetchall()
            for (period, labels), slots in groupby(rows, key=lambda row: row[:2]):
                first, *rest = (tally_of(n, sums) for _, _, n, sums in slots)
                total = sum(rest, start=first)
                if total.n:
                    yield period, labels, total
            start, many = (
                start + many,
                max(1, MOST_AT_ONCE // max((len(row[3]) + 1 for row in rows), default=1)),
            )

    def pieces(self, metric: bytes, periods: range) -> Iterator[tuple[int, bytes, Tally | bytes]]:
        """Yield period, labels and each piece of a sum without numbers, cell by cell, as of one moment."""
        with self._database.moment() as connection:
            cells = connection.execute(_CELLS, (metric, periods.start, periods.stop), binary=True).fetchall()
            for number, ends, period, labels in cells:
                for n, sums in connection.execute(
                    "SELECT n, sums FROM folded WHERE cell = %s", (number,), binary=True
                ).fetchall():
                    yield period, labels, tally_of(n, sums)
                for page in pages(connection, number, ends, waiting=True):
                    yield from ((period, labels, reports) for _, reports in page)

    def reports(
        self, metric: bytes, periods: range, *, most: int | None = None
    ) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield period, labels and raw reports of each portion still kept; pages hold up nobody."""
        with self._database.reading() as connection:
            cells = connection.execute(_CELLS, (metric, periods.start, periods.stop), binary=True).fetchall()
        for number, ends, period, labels in cells:
            after, size = 0, 0
            while most is None or size < most:
                with self._database.reading() as connection:
                    page = next_page(connection, (metric, period, labels), number, ends, after=after)
                if not page:
                    break
                yield from ((period, labels, reports) for _, reports in page)
                after = page[-1][0]
                size += sum(len(reports) for _, reports in page)
