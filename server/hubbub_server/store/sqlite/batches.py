"""This file keeps batches, raw reports and tallies in SQLite.

Python takes turns between threads at every statement, so a group of changes is written in few of them.
"""

import secrets
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from hubbub.tally import Tally
from hubbub_server.store.protocol import Cell, Change, Deposit, Record, Withdrawal
from hubbub_server.store.sqlite.database import Database, Row, padded, write_rows

_FORGET = """DELETE FROM batch WHERE id_hash IN (
    SELECT id_hash FROM batch INDEXED BY batch_by_day WHERE forget_after < ? LIMIT 10000)"""
_FIND = "SELECT id_hash, digest, state, answer FROM batch WHERE id_hash IN (VALUES {})"
_SUMS = """SELECT metric, period, labels, n, cells FROM (VALUES {}) CROSS JOIN tally
    ON metric = column1 AND period = column2 AND labels = column3"""
_TALLIES = "SELECT period, labels, n, cells FROM tally WHERE metric = ? AND period >= ? AND period < ?"
_RAW = """SELECT period, labels, bytes FROM reports INDEXED BY reports_without_sum
    WHERE is_raw AND metric = ? AND period >= ? AND period < ? ORDER BY period, labels"""
_NO_SUM = "DELETE FROM tally WHERE metric = ? AND period = ? AND labels = ?"


class SqliteBatches:
    """The ``Batches`` of one SQLite file."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, id_hash: bytes) -> Record | None:
        """Return what is known under the hash of an id."""
        with self._database.reading() as connection:
            return _find(connection, [id_hash]).get(id_hash)

    def prepare(self) -> None:
        """Make room in the log."""
        self._database.grow_log()

    def commit(self, changes: Sequence[Change]) -> list[Record]:
        """Make all changes durable in one transaction, or none of them; one record a change."""
        with self._database.writing() as connection:
            known = _find(connection, list({change.id_hash for change in changes}))
            group = _Group(connection, known)
            records = [
                group.deposit(change) if isinstance(change, Deposit) else group.withdraw(change)
                for change in changes
            ]
            group.write()
        return records

    def tallies(self, metric: bytes, periods: range) -> Iterator[tuple[int, bytes, Tally]]:
        """Yield period, labels and tally of each cell; the cost does not grow with the reports."""
        with self._database.reading() as connection:
            rows = connection.execute(_TALLIES, (metric, periods.start, periods.stop))
            yield from ((period, labels, _tally(n, cells)) for period, labels, n, cells in rows)

    def raw(self, metric: bytes, periods: range) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield period, labels and reports of each portion without a sum, by period and labels."""
        with self._database.reading() as connection:
            yield from connection.execute(_RAW, (metric, periods.start, periods.stop))

    def tidy(self, today: int) -> None:
        """Empty the log and forget ids whose day has passed."""
        with self._database.writing() as connection:
            connection.execute(_FORGET, (today,))
        self._database.empty_log()


@dataclass(slots=True)
class _Group:
    """The changes of one transaction, gathered until ``write``."""

    connection: sqlite3.Connection
    known: dict[bytes, Record]  # by id_hash
    batches: list[Row] = field(default_factory=list)
    reports: list[Row] = field(default_factory=list)
    sums: dict[Cell, Tally] = field(default_factory=dict)

    def deposit(self, deposit: Deposit) -> Record:
        """Take a batch, unless its id is known."""
        if deposit.id_hash in self.known:
            return self.known[deposit.id_hash]
        keys = [secrets.randbits(63) for _ in deposit.portions]
        for key, portion in zip(keys, deposit.portions, strict=True):
            cell = (portion.metric, portion.period, portion.labels)
            self.reports.append((key, *cell, portion.tally.n, portion.reports, not portion.tally.cells.size))
            self._add(cell, portion.tally)
        packed = struct.pack(f"<{len(keys)}q", *keys)
        self.batches.append(
            (deposit.id_hash, deposit.digest, "kept", deposit.forget_after, deposit.answer, packed)
        )
        return self._now_known(deposit.id_hash, Record(deposit.digest, "kept", deposit.answer))

    def withdraw(self, withdrawal: Withdrawal) -> Record:
        """Subtract a batch if its raw reports are here; put up a tombstone if the id is not known."""
        known = self.known.get(withdrawal.id_hash)
        if known is None:
            self.batches.append((withdrawal.id_hash, b"", "withdrawn", withdrawal.forget_after, b"", b""))
            return self._now_known(withdrawal.id_hash, Record(b"", "withdrawn", b""))
        if known.state != "kept":
            return known
        self.write()
        keys = self._keys(withdrawal.id_hash)
        rows = [self._raw(key) for key in keys]
        if None in rows:
            return Record(known.digest, "folded", known.answer)
        for metric, period, labels, reports in filter(None, rows):
            tally = withdrawal.sum_up(metric, reports)
            self._add((metric, period, labels), Tally.zero(tally.cells.size) - tally)
        self.connection.executemany("DELETE FROM reports WHERE key = ?", [(key,) for key in keys])
        self.connection.execute(
            "UPDATE batch SET state = 'withdrawn', keys = x'' WHERE id_hash = ?", (withdrawal.id_hash,)
        )
        return self._now_known(withdrawal.id_hash, Record(known.digest, "withdrawn", known.answer))

    def write(self) -> None:
        """Write what was gathered."""
        write_rows(self.connection, "INSERT", "reports", self.reports)
        write_rows(self.connection, "INSERT", "batch", self.batches)
        self._write_sums()
        self.reports, self.batches, self.sums = [], [], {}

    def _now_known(self, id_hash: bytes, record: Record) -> Record:
        self.known[id_hash] = record
        return record

    def _add(self, cell: Cell, tally: Tally) -> None:
        self.sums[cell] = self.sums[cell] + tally if cell in self.sums else tally

    def _keys(self, id_hash: bytes) -> tuple[int, ...]:
        (packed,) = self.connection.execute("SELECT keys FROM batch WHERE id_hash = ?", (id_hash,)).fetchone()
        return struct.unpack(f"<{len(packed) // 8}q", packed)

    def _raw(self, key: int) -> tuple[bytes, int, bytes, bytes] | None:
        select = "SELECT metric, period, labels, bytes FROM reports WHERE key = ?"
        row: tuple[bytes, int, bytes, bytes] | None = self.connection.execute(select, (key,)).fetchone()
        return row

    def _write_sums(self) -> None:
        if not self.sums:
            return
        places, values = padded(list(self.sums))
        for metric, period, labels, n, cells in self.connection.execute(_SUMS.format(places), values):
            self._add((metric, period, labels), _tally(n, cells))
        rows = [(*cell, tally.n, _cells(tally)) for cell, tally in self.sums.items()]
        write_rows(self.connection, "REPLACE", "tally", [row for row in rows if row[3]])
        self.connection.executemany(_NO_SUM, [row[:3] for row in rows if not row[3]])


def _find(connection: sqlite3.Connection, id_hashes: list[bytes]) -> dict[bytes, Record]:
    places, values = padded([(id_hash,) for id_hash in id_hashes])
    rows = connection.execute(_FIND.format(places), values)
    return {id_hash: Record(*rest) for id_hash, *rest in rows}


def _cells(tally: Tally) -> bytes:
    return tally.cells.astype("<i8").tobytes()


def _tally(n: int, cells: bytes) -> Tally:
    return Tally(n, np.frombuffer(cells, dtype="<i8"))
