"""This file keeps reports in partitions by the end of their period, so that old ones go like a file."""

from collections.abc import Iterable

from psycopg import sql

from hubbub_server.store.postgres.patience import Connection

SPAN = 28  # days a partition
_NAMES = """SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid
    WHERE inhparent = 'reports'::regclass"""
_CREATE = sql.SQL("CREATE TABLE {} (LIKE reports INCLUDING STORAGE, PRIMARY KEY (key))")
_ATTACH = sql.SQL("ALTER TABLE reports ATTACH PARTITION {} FOR VALUES FROM ({}) TO ({})")


def make_partitions(connection: Connection, days: Iterable[int]) -> None:
    """Make room for reports of periods that end on these days; the connection is alone."""
    there = partitions(connection)
    for first in sorted({first_day(day) for day in days}):
        if name_of(first) not in there:
            name = sql.Identifier(name_of(first))
            connection.execute(_CREATE.format(name))
            connection.execute(_ATTACH.format(name, first, first + SPAN))


def partitions(connection: Connection) -> dict[str, range]:
    """Return the partitions by name, and the days of each."""
    first = {name: int(name.rpartition("_")[2]) for (name,) in connection.execute(_NAMES)}
    return {name: range(day, day + SPAN) for name, day in sorted(first.items())}


def first_day(day: int) -> int:
    """Return the first day of the partition that a day is in."""
    return day - day % SPAN


def name_of(first: int) -> str:
    """Return the name of the partition that begins on a day."""
    return f"reports_{first}"
