"""This file writes a group of batches and withdrawals within one transaction.

Python takes turns between threads at every statement, so a group is written in few of them.
"""

import sqlite3
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hubbub.errors import StorageError
from hubbub.tally import Tally
from hubbub_server.store.cells import MOST_CELLS, draw_key, number_of
from hubbub_server.store.records import Cell, Deposit, Portion, Record, Withdrawal
from hubbub_server.store.sqlite.database import Row, padded, write, write_rows
from hubbub_server.store.sums import bytes_of, tally_of

_FIND = "SELECT id_hash, digest, state, answer FROM batch WHERE id_hash IN (VALUES {})"
_CELLS = """SELECT metric, period, labels, number, ends, n, sums, unfolded FROM (VALUES {}) CROSS JOIN cell
    ON metric = column1 AND period = column2 AND labels = column3"""
_WRITE_CELLS = """INSERT INTO cell SELECT *, 'kept' FROM (VALUES {}) WHERE column1 NOT NULL
    ON CONFLICT (number) DO UPDATE SET n = excluded.n, sums = excluded.sums, unfolded = excluded.unfolded,
        raw = iif(raw = 'gone', 'going', raw)"""  # so that what came late goes, too
_CELL = "SELECT metric, period, labels, ends, length(sums) FROM cell WHERE number = ?"
_TAKE = "DELETE FROM reports WHERE key = ? RETURNING unfolded, bytes"
_TRIES = 20


@dataclass(slots=True)
class _Sum:
    """What a group adds to a cell, or the cell once that is added. unfolded: bytes."""

    ends: int
    tally: Tally
    unfolded: int = 0
    number: int = 0

    def add(self, tally: Tally, unfolded: int) -> None:
        self.tally += tally
        self.unfolded += unfolded


@dataclass(slots=True)
class Group:
    """The changes of one transaction, gathered until ``write``."""

    connection: sqlite3.Connection
    known: dict[bytes, Record]  # by id_hash
    deposits: list[Deposit] = field(default_factory=list)
    sums: dict[Cell, _Sum] = field(default_factory=dict)
    tombstones: list[Row] = field(default_factory=list)

    def deposit(self, deposit: Deposit) -> Record:
        """Take a batch, unless its id is known."""
        if deposit.id_hash in self.known:
            return self.known[deposit.id_hash]
        for portion in deposit.portions:
            self._add(portion.cell, portion.ends, portion.tally, _waiting(portion))
        self.deposits.append(deposit)
        return self._now_known(deposit.id_hash, Record(deposit.digest, "kept", deposit.answer))

    def withdraw(self, withdrawal: Withdrawal) -> Record:
        """Subtract a batch if its raw reports are here; put up a tombstone if the id is not known."""
        known = self.known.get(withdrawal.id_hash)
        if known is None:
            self.tombstones.append((withdrawal.id_hash, b"", "withdrawn", withdrawal.forget_after, b"", b""))
            return self._now_known(withdrawal.id_hash, Record(b"", "withdrawn", b""))
        if known.state != "kept":
            return known
        self.write()
        keys = self._keys(withdrawal.id_hash)
        if not self._all_kept(keys):
            return Record(known.digest, "folded", known.answer)
        for key in keys:
            self._take(key, withdrawal)
        self.connection.execute(
            "UPDATE batch SET state = 'withdrawn', keys = x'' WHERE id_hash = ?", (withdrawal.id_hash,)
        )
        return self._now_known(withdrawal.id_hash, Record(known.digest, "withdrawn", known.answer))

    def write(self) -> None:
        """Write what was gathered: reports before the batches that name their keys."""
        if self.sums:
            self._find_cells()
        rows = [*self._write_reports(), *self.tombstones]
        write_rows(self.connection, "INSERT", "batch", rows)
        if self.sums:
            self._write_cells()
        self.deposits, self.sums, self.tombstones = [], {}, []

    def _now_known(self, id_hash: bytes, record: Record) -> Record:
        self.known[id_hash] = record
        return record

    def _add(self, cell: Cell, ends: int, tally: Tally, unfolded: int) -> None:
        if cell in self.sums:
            self.sums[cell].add(tally, unfolded)
        else:
            self.sums[cell] = _Sum(ends, tally, unfolded)

    def _find_cells(self) -> None:
        """Give every sum its cell's number, new cells the next ones, and add what is there already."""
        places, values = padded(list(self.sums))
        for *key, number, ends, n, sums, unfolded in self.connection.execute(_CELLS.format(places), values):
            found = self.sums[tuple(key)]  # metric, period, labels
            found.number, found.ends = number, ends
            found.add(tally_of(n, sums), unfolded)
        new = [each for each in self.sums.values() if not each.number]
        if new:
            (last,) = self.connection.execute("SELECT coalesce(max(number), 0) FROM cell").fetchone()
            for number, each in enumerate(new, last + 1):
                each.number = number
            if new[-1].number >= MOST_CELLS:
                raise StorageError("the database holds as many metrics, periods and labels as it can")

    def _write_reports(self) -> list[Row]:
        """Write the reports under keys that nobody has, and return the rows of their batches."""
        for _ in range(_TRIES):
            keys = [
                [draw_key(self.sums[portion.cell].number) for portion in deposit.portions]
                for deposit in self.deposits
            ]
            reports = [
                (key, int(_waiting(portion) > 0), portion.reports)
                for own, deposit in zip(keys, self.deposits, strict=True)
                for key, portion in zip(own, deposit.portions, strict=True)
            ]
            try:
                write_rows(self.connection, "INSERT", "reports", reports)
            except sqlite3.IntegrityError:  # a key is in use, which undoes this statement alone
                continue
            return [_batch(own, deposit) for own, deposit in zip(keys, self.deposits, strict=True)]
        raise StorageError("no free key was found for a report")

    def _write_cells(self) -> None:
        rows = [(each.number, *cell, *_columns(each)) for cell, each in self.sums.items()]
        full = [row for row in rows if row[5]]
        write(self.connection, _WRITE_CELLS, full)
        empty = [(row[0],) for row in rows if not row[5]]
        self.connection.executemany("DELETE FROM cell WHERE number = ?", empty)
        self.connection.executemany("DELETE FROM folded WHERE cell = ?", empty)

    def _keys(self, id_hash: bytes) -> tuple[int, ...]:
        (packed,) = self.connection.execute("SELECT keys FROM batch WHERE id_hash = ?", (id_hash,)).fetchone()
        return struct.unpack(f"<{len(packed) // 8}q", packed)

    def _all_kept(self, keys: Sequence[int]) -> bool:
        return all(
            self.connection.execute("SELECT 1 FROM reports WHERE key = ?", (key,)).fetchone() for key in keys
        )

    def _take(self, key: int, withdrawal: Withdrawal) -> None:
        """Take one portion out of the reports and out of the sums that it is in."""
        ((is_waiting, reports),) = self.connection.execute(_TAKE, (key,)).fetchall()
        number = number_of(key)
        metric, period, labels, ends, is_summed = self.connection.execute(_CELL, (number,)).fetchone()
        tally = withdrawal.add_up(metric, reports)
        gone = Tally.zero(tally.cells.size) - tally
        if is_summed:
            self._add((metric, period, labels), ends, gone, 0)
            return
        number_alone = Tally(gone.n, np.zeros(0, np.int64))
        self._add((metric, period, labels), ends, number_alone, -len(reports) * is_waiting)
        if not is_waiting:
            add_to_folded(self.connection, number, gone)


def add_to_folded(connection: sqlite3.Connection, number: int, tally: Tally) -> None:
    """Add a tally to the sums of a cell that are too many to be written with every batch."""
    row = connection.execute("SELECT n, sums FROM folded WHERE cell = ?", (number,)).fetchone()
    total = tally_of(*row) + tally if row else tally
    connection.execute("REPLACE INTO folded VALUES (?, ?, ?)", (number, total.n, bytes_of(total)))


def find(connection: sqlite3.Connection, id_hashes: list[bytes]) -> dict[bytes, Record]:
    """Return what is known under the hashes of ids."""
    places, values = padded([(id_hash,) for id_hash in id_hashes])
    rows = connection.execute(_FIND.format(places), values)
    return {id_hash: Record(*rest) for id_hash, *rest in rows}


def _waiting(portion: Portion) -> int:
    """How many bytes of a portion are not in its sum."""
    return 0 if portion.tally.cells.size else len(portion.reports)


def _columns(each: _Sum) -> Row:
    return each.ends, each.tally.n, bytes_of(each.tally), each.unfolded


def _batch(keys: Sequence[int], deposit: Deposit) -> Row:
    packed = struct.pack(f"<{len(keys)}q", *keys)
    return deposit.id_hash, deposit.digest, "kept", deposit.forget_after, deposit.answer, packed
