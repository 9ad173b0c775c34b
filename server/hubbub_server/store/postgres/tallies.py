"""This file adds to tallies in PostgreSQL; a process adds to rows of its own slot only.

Rows are locked before they are read, so a slot makes nobody wait, and nothing depends on it being held.
"""

from collections.abc import Mapping

from hubbub.tally import Tally
from hubbub_server.store.group import Sum
from hubbub_server.store.postgres.patience import Connection
from hubbub_server.store.sums import bytes_of, tally_of

_READ = """SELECT cell, n, sums, unfolded FROM tally
    WHERE slot = %b AND cell = ANY(%b::bigint[]) ORDER BY cell FOR UPDATE"""
_CHANGE = """UPDATE tally SET n = new.n, sums = new.sums, unfolded = new.unfolded
    FROM unnest(%b::bigint[], %b::bigint[], %b::bytea[], %b::bigint[]) AS new (cell, n, sums, unfolded)
    WHERE tally.cell = new.cell AND tally.slot = %b"""
_ADD = """INSERT INTO tally (slot, cell, n, sums, unfolded)
    SELECT %b, * FROM unnest(%b::bigint[], %b::bigint[], %b::bytea[], %b::bigint[])"""
_FOLDED = "SELECT n, sums FROM folded WHERE cell = %s"
_WRITE_FOLDED = """INSERT INTO folded VALUES (%s, %s, %s)
    ON CONFLICT (cell) DO UPDATE SET n = excluded.n, sums = excluded.sums"""


def add_to_tallies(connection: Connection, slot: int, sums: Mapping[int, Sum]) -> None:
    """Add sums, by the number of the cell, to the rows of a slot."""
    if not sums:
        return
    found = set()
    for cell, n, there, unfolded in connection.execute(_READ, (slot, list(sums)), binary=True).fetchall():
        sums[cell].add(tally_of(n, there), unfolded)
        found.add(cell)
    if found:
        connection.execute(_CHANGE, (*_columns(sums, found), slot))
    if new := sums.keys() - found:
        connection.execute(_ADD, (slot, *_columns(sums, new)))


def add_to_folded(connection: Connection, number: int, tally: Tally) -> None:
    """Add a tally to the sums of a cell that are too many to be written with every batch."""
    for n, sums in connection.execute(_FOLDED, (number,), binary=True).fetchall():
        tally += tally_of(n, sums)
    connection.execute(_WRITE_FOLDED, (number, tally.n, bytes_of(tally)))


def _columns(sums: Mapping[int, Sum], cells: set[int]) -> tuple[list[int], list[int], list[bytes], list[int]]:
    chosen = sorted(cells)
    return (
        chosen,
        [sums[cell].tally.n for cell in chosen],
        [bytes_of(sums[cell].tally) for cell in chosen],
        [sums[cell].unfolded for cell in chosen],
    )
