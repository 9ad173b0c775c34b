"""This file checks a PostgreSQL store: rows without those that they need, tallies that are not their sum.

Whether PostgreSQL's files are whole is for its own checksums to say. Cells are read one by one, each as of
one moment, so that a long check holds up nobody.
"""

from collections.abc import Iterator

from hubbub.tally import Tally
from hubbub_server.store.postgres.database import Database
from hubbub_server.store.postgres.pages import pages
from hubbub_server.store.postgres.patience import Connection
from hubbub_server.store.records import AddUp, Fault
from hubbub_server.store.sums import tally_of

_CELL = """SELECT metric, period, ends, raw, folded.n, folded.sums
    FROM cell LEFT JOIN folded ON folded.cell = number WHERE number = %s"""
_TALLIES = "SELECT n, sums, unfolded FROM tally WHERE cell = %s"
_STRAYS = """SELECT count(*) FROM reports LEFT JOIN cell ON number = key >> 36 AND cell.ends = reports.ends
    WHERE number IS NULL"""
_MISSING = """SELECT id_hash, count(*) FROM batch
    CROSS JOIN unnest(keys) AS named LEFT JOIN cell ON number = named >> 36
    WHERE raw IS DISTINCT FROM 'gone' AND raw IS DISTINCT FROM 'going'
    AND NOT EXISTS (SELECT FROM reports WHERE key = named AND reports.ends = cell.ends)
    GROUP BY id_hash ORDER BY id_hash"""
_TWICE = """SELECT (array_agg(id_hash ORDER BY id_hash))[1] FROM batch CROSS JOIN unnest(keys) AS named
    GROUP BY named HAVING count(*) > 1 ORDER BY 1"""


def faults(database: Database, add_up: AddUp) -> Iterator[Fault]:
    """Yield what is wrong.

    Raises StorageError if the database can't be read at all.
    """
    with database.moment() as connection:
        yield from _of_rows(connection)
        numbers = [number for (number,) in connection.execute("SELECT number FROM cell ORDER BY number")]
    for number in numbers:
        with database.moment() as connection:
            try:
                yield from _of_cell(connection, number, add_up)
            except ValueError:
                yield Fault(f"cell {number}", "its reports or sums can't be read")


def _of_rows(connection: Connection) -> Iterator[Fault]:
    ((strays,),) = connection.execute(_STRAYS).fetchall()
    if strays:
        yield Fault("reports", f"{strays:,} rows belong to no metric and period")
    for id_hash, missing in connection.execute(_MISSING):
        yield Fault(f"batch {id_hash.hex()[:16]}", f"{missing:,} of its reports are missing")
    for (id_hash,) in connection.execute(_TWICE):
        yield Fault(f"batch {id_hash.hex()[:16]}", "it names reports of another batch")


def _of_cell(connection: Connection, number: int, add_up: AddUp) -> Iterator[Fault]:
    for metric, period, ends, raw, folded_n, folded_sums in connection.execute(
        _CELL, (number,), binary=True
    ).fetchall():  # none if all of it was withdrawn meanwhile
        place = f"metric {metric.hex()[:16]} period {period}"
        slots = connection.execute(_TALLIES, (number,), binary=True).fetchall()
        n, unfolded = sum(slot[0] for slot in slots), sum(slot[2] for slot in slots)
        waiting, size = _added(connection, number, ends, metric, add_up, waiting=True)
        if size != unfolded:
            yield Fault(place, f"{size:,} bytes wait to be added up, {unfolded:,} are noted")
        if raw != "kept":
            continue
        whole, _ = _added(connection, number, ends, metric, add_up)
        kept = waiting if folded_sums is None else _plus(tally_of(folded_n, folded_sums), waiting)
        for slot_n, sums, _ in slots:
            kept = _plus(tally_of(slot_n, sums), kept) if sums else kept
        if (whole.n if whole else 0) != n:
            yield Fault(place, f"{whole.n if whole else 0:,} reports are kept, the tally counts {n:,}")
        elif kept != whole:
            yield Fault(place, "the tally is not the sum of its reports")


def _added(
    connection: Connection, number: int, ends: int, metric: bytes, add_up: AddUp, *, waiting: bool = False
) -> tuple[Tally | None, int]:
    """Add up raw reports of a cell; return their tally, None without any, and their bytes."""
    total: Tally | None = None
    size = 0
    for page in pages(connection, number, ends, waiting=waiting):
        reports = b"".join(each for _, each in page)
        total, size = _plus(add_up(metric, reports), total), size + len(reports)
    return total, size


def _plus(one: Tally, other: Tally | None) -> Tally:
    return one + other if other else one
