"""This file keeps batches, raw reports and tallies in SQLite.

Python takes turns between threads at every statement, so a group of changes is written in few of them.
"""

import secrets
import sqlite3
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hubbub.tally import Tally
from hubbub_server.store.database import Database, insert
from hubbub_server.store.protocol import Change, Deposit, Record, Withdrawal

Cell = tuple[bytes, int, bytes]  # metric, period, labels
_FORGET = """DELETE FROM batch WHERE id_hash IN (
    SELECT id_hash FROM batch INDEXED BY batch_by_day WHERE forget_after < ? LIMIT 10000)"""
_SUM = "SELECT n, cells FROM tally WHERE metric = ? AND period = ? AND labels = ?"
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

    def tallies(self, metric: bytes, periods: range) -> list[tuple[int, bytes, Tally]]:
        """Return period, labels and tally of each cell; the cost does not grow with the reports."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT period, labels, n, cells FROM tally WHERE metric = ? AND period >= ? AND period < ?",
                (metric, periods.start, periods.stop),
            ).fetchall()
        return [(period, labels, _tally(n, cells)) for period, labels, n, cells in rows]

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
    batches: list[tuple[object, ...]] = field(default_factory=list)
    reports: list[tuple[object, ...]] = field(default_factory=list)
    sums: dict[Cell, Tally] = field(default_factory=dict)

    def deposit(self, deposit: Deposit) -> Record:
        """Take a batch, unless its id is known."""
        if deposit.id_hash in self.known:
            return self.known[deposit.id_hash]
        keys = [secrets.randbits(63) for _ in deposit.portions]
        for key, portion in zip(keys, deposit.portions, strict=True):
            cell = (portion.metric, portion.period, portion.labels)
            self.reports.append((key, *cell, portion.tally.n, portion.reports))
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
        insert(self.connection, "reports", self.reports)
        insert(self.connection, "batch", self.batches)
        for cell, tally in self.sums.items():
            self._write_sum(cell, tally)
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

    def _write_sum(self, cell: Cell, tally: Tally) -> None:
        row = self.connection.execute(_SUM, cell).fetchone()
        total = _tally(*row) + tally if row else tally
        if not total.n:
            self.connection.execute(_NO_SUM, cell)
            return
        cells = total.cells.astype("<i8").tobytes()
        self.connection.execute("REPLACE INTO tally VALUES (?, ?, ?, ?, ?)", (*cell, total.n, cells))


def _find(connection: sqlite3.Connection, id_hashes: list[bytes]) -> dict[bytes, Record]:
    size = 1 << (len(id_hashes) - 1).bit_length()  # padded to a power of two: few statements are compiled
    places = ", ".join("?" * size)
    select = f"SELECT id_hash, digest, state, answer FROM batch WHERE id_hash IN ({places})"  # noqa: S608 - only ?
    padded = id_hashes + id_hashes[:1] * (size - len(id_hashes))
    return {id_hash: Record(*rest) for id_hash, *rest in connection.execute(select, padded)}


def _tally(n: int, cells: bytes) -> Tally:
    return Tally(n, np.frombuffer(cells, dtype="<i8"))
