"""This file writes a group of batches and withdrawals within one transaction, in few statements.

Deposits of many processes go on side by side: each locks ids, cells and its own sums in this order, sorted
within, so that no two wait for each other. A group with a withdrawal is alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hubbub.errors import StorageError
from hubbub.tally import Tally
from hubbub_server.store.cells import MOST_CELLS, draw_key, number_of
from hubbub_server.store.postgres.database import Connection
from hubbub_server.store.postgres.tallies import Sum, add_to_folded, add_to_tallies
from hubbub_server.store.records import Cell, Deposit, Portion, Record, Withdrawal

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
_REPORTS = "INSERT INTO reports SELECT * FROM unnest(%b::bigint[], %b::integer[], %b::bytea[])"
_WAIT = "INSERT INTO waiting SELECT * FROM unnest(%b::bigint[])"
_KEYS = "SELECT keys FROM batch WHERE id_hash = %s"
_TAKEN_FROM = """SELECT number, ends, metric, period, labels,
        EXISTS (SELECT FROM tally WHERE cell = number AND octet_length(sums) > 0)
    FROM cell WHERE number = ANY(%b::bigint[])"""
_TAKE = "DELETE FROM reports WHERE ends = ANY(%b::integer[]) AND key = ANY(%b::bigint[]) RETURNING key, bytes"
_WAIT_NO_MORE = "DELETE FROM waiting WHERE key = ANY(%b::bigint[]) RETURNING key"
_WITHDRAWN = "UPDATE batch SET state = 'withdrawn', keys = '{}' WHERE id_hash = %s"
_CLEAR = """WITH empty AS (
        SELECT cell FROM tally WHERE cell = ANY(%b::bigint[]) GROUP BY cell HAVING sum(n) = 0
    ), without_sums AS (
        DELETE FROM folded WHERE cell IN (SELECT cell FROM empty)
    ), without_tallies AS (
        DELETE FROM tally WHERE cell IN (SELECT cell FROM empty)
    ) DELETE FROM cell WHERE number IN (SELECT cell FROM empty)"""

Row = tuple[object, ...]


@dataclass(slots=True)
class Group:
    """The changes of one transaction, gathered until ``write``."""

    connection: Connection
    slot: int
    known: dict[bytes, Record]  # by id_hash
    deposits: list[Deposit] = field(default_factory=list)
    sums: dict[Cell, Sum] = field(default_factory=dict)
    tombstones: list[Row] = field(default_factory=list)
    is_smaller: bool = False  # whether something was taken out

    def deposit(self, deposit: Deposit) -> Record:
        """Take a batch, unless its id is known."""
        if deposit.id_hash in self.known:
            return self.known[deposit.id_hash]
        for portion in deposit.portions:
            self._add(portion.cell, Sum(portion.ends, portion.tally, _waiting(portion)))
        self.deposits.append(deposit)
        return self._now_known(deposit.id_hash, Record(deposit.digest, "kept", deposit.answer))

    def withdraw(self, withdrawal: Withdrawal) -> Record:
        """Subtract a batch if its raw reports are here; put up a tombstone if the id is not known."""
        known = self.known.get(withdrawal.id_hash)
        if known is None:
            self.tombstones.append((withdrawal.id_hash, b"", "withdrawn", withdrawal.forget_after, b"", "{}"))
            return self._now_known(withdrawal.id_hash, Record(b"", "withdrawn", b""))
        if known.state != "kept":
            return known
        self.write()
        if not self._take(withdrawal):
            return Record(known.digest, "folded", known.answer)
        self.connection.execute(_WITHDRAWN, (withdrawal.id_hash,))
        return self._now_known(withdrawal.id_hash, Record(known.digest, "withdrawn", known.answer))

    def write(self) -> bool:
        """Write what was gathered; False if another process brought one of the batches first."""
        if self.sums:
            self._find_cells()
        keys = [self._draw_keys(deposit) for deposit in self.deposits]
        rows = [_batch(own, each) for own, each in zip(keys, self.deposits, strict=True)] + self.tombstones
        if rows and self.connection.execute(_BATCHES, _columns(sorted(rows))).rowcount < len(rows):
            return False
        self._write_reports(keys)
        add_to_tallies(self.connection, self.slot, {each.number: each for each in self.sums.values()})
        if self.is_smaller and self.sums:
            self.connection.execute(_CLEAR, ([each.number for each in self.sums.values()],))
        self.deposits, self.sums, self.tombstones = [], {}, []
        return True

    def _now_known(self, id_hash: bytes, record: Record) -> Record:
        self.known[id_hash] = record
        return record

    def _add(self, cell: Cell, new: Sum) -> None:
        if cell in self.sums:
            self.sums[cell].add(new.tally, new.unfolded)
        else:
            self.sums[cell] = new

    def _find_cells(self) -> None:
        """Give every sum its cell's number, new cells the next ones.

        Another process may be faster, with such a cell or with a number: then that is waited for, and the
        rest is tried again. A sequence would never give a number twice, and so run out by withdrawals.
        """
        self._number_cells()
        while missing := sorted((*cell, each.ends) for cell, each in self.sums.items() if not each.number):
            self.connection.execute(_NEW_CELLS, _columns(missing))
            self._number_cells()
        if any(each.number >= MOST_CELLS for each in self.sums.values()):
            raise StorageError("the database holds as many metrics, periods and labels as it can")

    def _number_cells(self) -> None:
        asked = _columns([cell for cell, each in self.sums.items() if not each.number])
        gone = []
        for *key, number, ends, raw in self.connection.execute(_CELLS, asked, binary=True).fetchall():
            found = self.sums[tuple(key)]  # metric, period, labels
            found.number, found.ends = number, ends
            if raw == "gone":
                gone.append(number)
        if gone:
            self.connection.execute(_NOT_GONE, (sorted(gone),))

    def _draw_keys(self, deposit: Deposit) -> list[int]:
        return [draw_key(self.sums[portion.cell].number) for portion in deposit.portions]

    def _write_reports(self, keys: Sequence[Sequence[int]]) -> None:
        """Write the reports; a key in use already fails the transaction, which is then tried again."""
        rows = [
            (key, self.sums[portion.cell].ends, portion.reports, _waiting(portion) > 0)
            for own, deposit in zip(keys, self.deposits, strict=True)
            for key, portion in zip(own, deposit.portions, strict=True)
        ]
        if rows:
            self.connection.execute(_REPORTS, _columns([row[:3] for row in rows]))
        waiting = [row[0] for row in rows if row[3]]
        if waiting:
            self.connection.execute(_WAIT, (waiting,))

    def _take(self, withdrawal: Withdrawal) -> bool:
        """Take a batch out of the reports and of the sums that it is in; False if some are gone."""
        ((keys,),) = self.connection.execute(_KEYS, (withdrawal.id_hash,)).fetchall()
        if not keys:
            return True
        numbers = list({number_of(key) for key in keys})
        cells = {
            number: rest
            for number, *rest in self.connection.execute(_TAKEN_FROM, (numbers,), binary=True).fetchall()
        }
        days = list({ends for ends, *_ in cells.values()})
        self.connection.execute("SAVEPOINT whole")
        taken = self.connection.execute(_TAKE, (days, keys), binary=True).fetchall() if days else []
        if len(taken) < len(keys):
            self.connection.execute("ROLLBACK TO whole")
            return False
        waiting = {key for (key,) in self.connection.execute(_WAIT_NO_MORE, (keys,)).fetchall()}
        for key, reports in taken:
            ends, metric, period, labels, is_summed = cells[number_of(key)]
            tally = withdrawal.add_up(metric, reports)
            gone = Tally.zero(tally.cells.size) - tally
            if not is_summed and key not in waiting:
                add_to_folded(self.connection, number_of(key), gone)
            part = gone if is_summed else Tally(gone.n, np.zeros(0, np.int64))
            self._add((metric, period, labels), Sum(ends, part, -len(reports) * (key in waiting)))
        self.is_smaller = True
        return True


def find(connection: Connection, id_hashes: list[bytes]) -> dict[bytes, Record]:
    """Return what is known under the hashes of ids."""
    rows = connection.execute(_FIND, (id_hashes,), binary=True).fetchall()
    return {id_hash: Record(*rest) for id_hash, *rest in rows}


def _waiting(portion: Portion) -> int:
    """How many bytes of a portion are not in its sum."""
    return 0 if portion.tally.cells.size else len(portion.reports)


def _batch(keys: Sequence[int], deposit: Deposit) -> Row:
    named = "{" + ",".join(map(str, keys)) + "}"
    return deposit.id_hash, deposit.digest, "kept", deposit.forget_after, deposit.answer, named


def _columns(rows: Sequence[Row]) -> list[list[object]]:
    """Return rows as columns, which PostgreSQL takes as arrays: one statement for any number of them."""
    return [list(column) for column in zip(*rows, strict=True)]
