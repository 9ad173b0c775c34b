"""This file writes a group of batches and withdrawals in SQLite, within one transaction.

Python takes turns between threads at every statement, so a group is written in few of them.
"""

import sqlite3
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hubbub.errors import StorageError
from hubbub.tally import Tally
from hubbub_server.store.cells import MOST_CELLS, draw_keys, number_of
from hubbub_server.store.group import Group, Sum, Taken, waiting
from hubbub_server.store.records import Cell, Deposit, Record
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
_WITHDRAWN = "UPDATE batch SET state = 'withdrawn', keys = x'' WHERE id_hash = ?"
_TRIES = 20


@dataclass(frozen=True, slots=True)
class SqliteRows:
    """The ``Rows`` of one SQLite file."""

    connection: sqlite3.Connection

    def write(self, group: Group) -> None:
        """Write what was gathered: reports before the batches that name their keys."""
        self._find_cells(group.sums)
        rows = self._write_reports(group)
        rows += [(each.id_hash, b"", "withdrawn", each.forget_after, b"", b"") for each in group.tombstones]
        write_rows(self.connection, "INSERT", "batch", rows)
        self._write_cells(group.sums)

    def take(self, id_hash: bytes) -> list[Taken] | None:
        """Take out the reports of a batch one by one, unless some are gone."""
        (packed,) = self.connection.execute("SELECT keys FROM batch WHERE id_hash = ?", (id_hash,)).fetchone()
        keys = struct.unpack(f"<{len(packed) // 8}q", packed)
        if not all(map(self._is_kept, keys)):
            return None
        self.connection.execute(_WITHDRAWN, (id_hash,))
        return [self._take(key) for key in keys]

    def add_to_folded(self, number: int, tally: Tally) -> None:
        """Add to the sums of a cell that are too many to be written with every batch."""
        row = self.connection.execute("SELECT n, sums FROM folded WHERE cell = ?", (number,)).fetchone()
        total = tally_of(*row) + tally if row else tally
        self.connection.execute("REPLACE INTO folded VALUES (?, ?, ?)", (number, total.n, bytes_of(total)))

    def _find_cells(self, sums: Mapping[Cell, Sum]) -> None:
        """Give every sum its cell's number, new cells the next ones, and add what is there already."""
        if not sums:
            return
        places, values = padded(list(sums))
        for *key, number, ends, n, there, unfolded in self.connection.execute(_CELLS.format(places), values):
            found = sums[tuple(key)]  # metric, period, labels
            found.number, found.ends = number, ends
            found.add(tally_of(n, there), unfolded)
        new = [each for each in sums.values() if not each.number]
        if new:
            (last,) = self.connection.execute("SELECT coalesce(max(number), 0) FROM cell").fetchone()
            for number, each in enumerate(new, last + 1):
                each.number = number
            if new[-1].number >= MOST_CELLS:
                raise StorageError("the database holds as many metrics, periods and labels as it can")

    def _write_reports(self, group: Group) -> list[Row]:
        """Write the reports under keys that nobody has, and return the rows of their batches."""
        for _ in range(_TRIES):
            keys = draw_keys(
                [[group.sums[each.cell].number for each in one.portions] for one in group.deposits]
            )
            reports = [
                (key, int(waiting(portion) > 0), portion.reports)
                for own, deposit in zip(keys, group.deposits, strict=True)
                for key, portion in zip(own, deposit.portions, strict=True)
            ]
            try:
                write_rows(self.connection, "INSERT", "reports", reports)
            except sqlite3.IntegrityError:  # a key is in use, which undoes this statement alone
                continue
            return [_batch(own, deposit) for own, deposit in zip(keys, group.deposits, strict=True)]
        raise StorageError("no free key was found for a report")

    def _write_cells(self, sums: Mapping[Cell, Sum]) -> None:
        rows = [(each.number, *cell, *_columns(each)) for cell, each in sums.items()]
        full = [row for row in rows if row[5]]
        write(self.connection, _WRITE_CELLS, full)
        for number in (row[0] for row in rows if not row[5]):
            self.connection.execute("DELETE FROM cell WHERE number = ?", (number,))
            self.connection.execute("DELETE FROM folded WHERE cell = ?", (number,))

    def _is_kept(self, key: int) -> bool:
        return self.connection.execute("SELECT 1 FROM reports WHERE key = ?", (key,)).fetchone() is not None

    def _take(self, key: int) -> Taken:
        ((is_waiting, reports),) = self.connection.execute(_TAKE, (key,)).fetchall()
        *cell, ends, size = self.connection.execute(_CELL, (number_of(key),)).fetchone()
        metric, period, labels = cell
        return Taken((metric, period, labels), ends, number_of(key), reports, size > 0, bool(is_waiting))


def find(connection: sqlite3.Connection, id_hashes: list[bytes]) -> dict[bytes, Record]:
    """Return what is known under the hashes of ids."""
    places, values = padded([(id_hash,) for id_hash in id_hashes])
    rows = connection.execute(_FIND.format(places), values)
    return {id_hash: Record(*rest) for id_hash, *rest in rows}


def _columns(each: Sum) -> Row:
    return each.ends, each.tally.n, bytes_of(each.tally), each.unfolded


def _batch(keys: Sequence[int], deposit: Deposit) -> Row:
    packed = struct.pack(f"<{len(keys)}q", *keys)
    return deposit.id_hash, deposit.digest, "kept", deposit.forget_after, deposit.answer, packed
