"""This file writes a group of batches and withdrawals in PostgreSQL, in few statements of one transaction.

Deposits of many processes go on side by side: each locks ids, cells and its own sums in this order, sorted
within, so that no two wait for each other. A group with a withdrawal is alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg import errors

from hubbub.errors import StorageError
from hubbub.tally import Tally
from hubbub_server.store.cells import MOST_CELLS, draw_keys, number_of
from hubbub_server.store.group import Group, Sum, Taken, waiting
from hubbub_server.store.postgres.patience import Connection
from hubbub_server.store.postgres.tallies import add_to_folded, add_to_tallies
from hubbub_server.store.records import Cell, Deposit, Record

_FIND = """SELECT id_hash, digest, state, answer
    FROM unnest(%b::bytea[]) AS asked (id_hash) JOIN batch USING (id_hash)"""
_CELLS = """SELECT metric, period, labels, number, ends, raw
    FROM unnest(%b::bytea[], %b::bigint[], %b::bytea[]) AS asked (metric, period, labels)
    JOIN cell USING (metric, period, labels)"""
_NEW_CELLS = """INSERT INTO cell (number, metric, period, labels, ends)
    SELECT (SELECT coalesce(max(number), 0) FROM cell) + row_number() OVER (), *
    FROM unnest(%b::bytea[], %b::bigint[], %b::bytea[], %b::integer[]) ON CONFLICT DO NOTHING"""
_NOT_GONE = "UPDATE cell SET raw = 'going' WHERE number = ANY(%b::bigint[])"  # what came late goes, too
_BATCHES = """INSERT INTO batch
    SELECT id_hash, digest, state, forget_after, answer, keys::bigint[] FROM unnest(
        %b::bytea[], %b::bytea[], %b::text[], %b::bigint[], %b::bytea[], %b::text[]
    ) AS new (id_hash, digest, state, forget_after, answer, keys) ON CONFLICT DO NOTHING"""
_REPORTS = "INSERT INTO reports SELECT * FROM unnest(%b::bigint[], %b::integer[], %b::bytea[], %b::bytea[])"
_WAIT = "INSERT INTO waiting SELECT * FROM unnest(%b::bigint[])"
_KEYS = "SELECT keys FROM batch WHERE id_hash = %s"
_TAKEN_FROM = """SELECT number, metric, period, labels, ends,
        EXISTS (SELECT FROM tally WHERE cell = number AND octet_length(sums) > 0)
    FROM cell WHERE number = ANY(%b::bigint[])"""
_TAKE = """DELETE FROM reports WHERE ends = ANY(%b::integer[]) AND key = ANY(%b::bigint[])
    RETURNING key, bytes || rest"""
_WAIT_NO_MORE = "DELETE FROM waiting WHERE key = ANY(%b::bigint[]) RETURNING key"
_WITHDRAWN = "UPDATE batch SET state = 'withdrawn', keys = '{}' WHERE id_hash = %s"
_CLEAR = """WITH empty AS (
        SELECT cell FROM tally WHERE cell = ANY(%b::bigint[]) GROUP BY cell HAVING sum(n) = 0
    ), without_sums AS (
        DELETE FROM folded WHERE cell IN (SELECT cell FROM empty)
    ), without_tallies AS (
        DELETE FROM tally WHERE cell IN (SELECT cell FROM empty)
    ) DELETE FROM cell WHERE number IN (SELECT cell FROM empty)"""

CHUNK = (
    1996  # bytes in which PostgreSQL keeps what is large; one with a few would take the place of a full one
)
Row = tuple[object, ...]


@dataclass(slots=True)
class PostgresRows:
    """The ``Rows`` of one PostgreSQL database. is_smaller: whether something was taken out."""

    connection: Connection
    slot: int
    is_smaller: bool = False

    def write(self, group: Group) -> None:
        """Write what was gathered; raises what a lost race raises if another process was first."""
        self._find_cells(group.sums)
        keys = draw_keys([[group.sums[each.cell].number for each in one.portions] for one in group.deposits])
        rows = [_batch(own, each) for own, each in zip(keys, group.deposits, strict=True)]
        rows += [(each.id_hash, b"", "withdrawn", each.forget_after, b"", "{}") for each in group.tombstones]
        if rows and self.connection.execute(_BATCHES, _columns(sorted(rows))).rowcount < len(rows):
            raise errors.UniqueViolation  # which PostgreSQL would write into its log, with the row
        self._write_reports(group, keys)
        add_to_tallies(self.connection, self.slot, {each.number: each for each in group.sums.values()})
        if self.is_smaller and group.sums:
            self.connection.execute(_CLEAR, ([each.number for each in group.sums.values()],))

    def take(self, id_hash: bytes) -> list[Taken] | None:
        """Take out the reports of a batch, unless some are gone."""
        ((keys,),) = self.connection.execute(_KEYS, (id_hash,)).fetchall()
        numbers = list({number_of(key) for key in keys})
        cells = {
            number: rest
            for number, *rest in self.connection.execute(_TAKEN_FROM, (numbers,), binary=True).fetchall()
        }
        days = list({ends for _, _, _, ends, _ in cells.values()})
        self.connection.execute("SAVEPOINT whole")
        taken = self.connection.execute(_TAKE, (days, keys), binary=True).fetchall()
        if len(taken) < len(keys):
            self.connection.execute("ROLLBACK TO whole")
            return None
        waited = {key for (key,) in self.connection.execute(_WAIT_NO_MORE, (keys,)).fetchall()}
        self.connection.execute(_WITHDRAWN, (id_hash,))
        self.is_smaller = True
        return [
            Taken((metric, period, labels), ends, number_of(key), reports, is_summed, key in waited)
            for key, reports in taken
            for metric, period, labels, ends, is_summed in [cells[number_of(key)]]
        ]

    def add_to_folded(self, number: int, tally: Tally) -> None:
        """Add to the sums of a cell that are too many to be written with every batch."""
        add_to_folded(self.connection, number, tally)

    def _find_cells(self, sums: Mapping[Cell, Sum]) -> None:
        """Give every sum its cell's number, new cells the next ones.

        Another process may be faster, with such a cell or with a number: then that is waited for, and the
        rest is tried again. A sequence would never give a number twice, and so run out by withdrawals.
        """
        self._number_cells(sums)
        while missing := sorted((*cell, each.ends) for cell, each in sums.items() if not each.number):
            self.connection.execute(_NEW_CELLS, _columns(missing))
            self._number_cells(sums)
        if any(each.number >= MOST_CELLS for each in sums.values()):
            raise StorageError("the database holds as many metrics, periods and labels as it can")

    def _number_cells(self, sums: Mapping[Cell, Sum]) -> None:
        asked = _columns([cell for cell, each in sums.items() if not each.number])
        if not asked:
            return
        gone = []
        for *key, number, ends, raw in self.connection.execute(_CELLS, asked, binary=True).fetchall():
            found = sums[tuple(key)]  # metric, period, labels
            found.number, found.ends = number, ends
            if raw == "gone":
                gone.append(number)
        if gone:
            self.connection.execute(_NOT_GONE, (sorted(gone),))

    def _write_reports(self, group: Group, keys: Sequence[Sequence[int]]) -> None:
        """Write the reports; a key in use already fails the transaction, which is then tried again."""
        rows = [
            (key, group.sums[portion.cell].ends, *_parts(portion.reports), waiting(portion) > 0)
            for own, deposit in zip(keys, group.deposits, strict=True)
            for key, portion in zip(own, deposit.portions, strict=True)
        ]
        if rows:
            self.connection.execute(_REPORTS, _columns([row[:4] for row in rows]))
        if waits := [row[0] for row in rows if row[4]]:
            self.connection.execute(_WAIT, (waits,))


def find(connection: Connection, id_hashes: list[bytes]) -> dict[bytes, Record]:
    """Return what is known under the hashes of ids."""
    rows = connection.execute(_FIND, (id_hashes,), binary=True).fetchall()
    return {id_hash: Record(*rest) for id_hash, *rest in rows}


def _parts(reports: bytes) -> tuple[bytes, bytes]:
    """Cut off what fills no chunk, which is kept in the row itself."""
    whole = len(reports) // CHUNK * CHUNK
    return reports[:whole], reports[whole:]


def _batch(keys: Sequence[int], deposit: Deposit) -> Row:
    named = "{" + ",".join(map(str, keys)) + "}"
    return deposit.id_hash, deposit.digest, "kept", deposit.forget_after, deposit.answer, named


def _columns(rows: Sequence[Row]) -> list[list[object]]:
    """Return rows as columns, which PostgreSQL takes as arrays: one statement for any number of them."""
    return [list(column) for column in zip(*rows, strict=True)]
