"""This file takes over the tallies of processes that ended, so that the rows to sum stay few."""

from hubbub_server.store.group import Sum
from hubbub_server.store.postgres.database import Database
from hubbub_server.store.postgres.patience import Connection
from hubbub_server.store.postgres.seat import LOCKS
from hubbub_server.store.postgres.tallies import add_to_tallies
from hubbub_server.store.sums import tally_of

CELLS_AT_ONCE = 100
_NEXT = "SELECT min(slot) FROM tally WHERE slot > %s"
_IS_SILENT = f"SELECT pg_try_advisory_xact_lock({LOCKS}, %s)"
_TAKE = """DELETE FROM tally WHERE slot = %s AND cell IN (
    SELECT cell FROM tally WHERE slot = %s LIMIT %s) RETURNING cell, n, sums, unfolded"""


def merge_silent_slots(database: Database) -> None:
    """Add the tallies of every slot that nobody holds to those of our own; raises what psycopg raises."""
    slot = 0
    while slot is not None:
        with database.committing(alone=True) as (connection, own):
            ((slot,),) = connection.execute(_NEXT, (slot,)).fetchall()
            if slot not in {None, own} and _merge(connection, slot, own):
                slot -= 1  # there may be more


def _merge(connection: Connection, slot: int, own: int) -> bool:
    """Take over some tallies of a slot; False if it is held, or nothing is left."""
    if connection.execute(_IS_SILENT, (slot,)).fetchall() != [(True,)]:
        return False
    taken = connection.execute(_TAKE, (slot, slot, CELLS_AT_ONCE), binary=True).fetchall()
    add_to_tallies(
        connection, own, {cell: Sum(0, tally_of(n, sums), unfolded) for cell, n, sums, unfolded in taken}
    )
    return bool(taken)
