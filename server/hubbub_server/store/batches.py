"""This file keeps batches, raw reports and tallies in SQLite."""

import secrets
import sqlite3
import struct
from collections.abc import Sequence

import numpy as np

from hubbub.tally import Tally
from hubbub_server.store.database import Database
from hubbub_server.store.protocol import Change, Deposit, Record, Withdrawal

Cell = tuple[bytes, int, bytes]  # metric, period, labels
Sums = dict[Cell, Tally]
_FORGET = """DELETE FROM batch WHERE id_hash IN (
    SELECT id_hash FROM batch INDEXED BY batch_by_day WHERE forget_after < ? LIMIT 10000)"""
_FIND = "SELECT digest, state, answer FROM batch WHERE id_hash = ?"


class SqliteBatches:
    """The ``Batches`` of one SQLite file."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, id_hash: bytes) -> Record | None:
        """Return what is known under the hash of an id."""
        with self._database.reading() as connection:
            return _find(connection, id_hash)

    def prepare(self) -> None:
        """Make room in the log."""
        self._database.grow_log()

    def commit(self, changes: Sequence[Change]) -> list[Record]:
        """Make all changes durable in one transaction, or none of them; one record a change."""
        sums: Sums = {}
        with self._database.writing() as connection:
            records = [
                _deposit(connection, change, sums)
                if isinstance(change, Deposit)
                else _withdraw(connection, change, sums)
                for change in changes
            ]
            for cell, tally in sums.items():
                _add(connection, cell, tally)
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


def _find(connection: sqlite3.Connection, id_hash: bytes) -> Record | None:
    row = connection.execute(_FIND, (id_hash,)).fetchone()
    return Record(*row) if row else None


def _keys(connection: sqlite3.Connection, id_hash: bytes) -> tuple[int, ...]:
    row = connection.execute("SELECT keys FROM batch WHERE id_hash = ?", (id_hash,)).fetchone()
    return struct.unpack(f"<{len(row[0]) // 8}q", row[0]) if row else ()


def _deposit(connection: sqlite3.Connection, deposit: Deposit, sums: Sums) -> Record:
    known = _find(connection, deposit.id_hash)
    if known:
        return known
    keys = tuple(secrets.randbits(63) for _ in deposit.portions)
    connection.executemany(
        "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?)",
        [
            (key, portion.metric, portion.period, portion.labels, portion.tally.n, portion.reports)
            for key, portion in zip(keys, deposit.portions, strict=True)
        ],
    )
    connection.execute(
        "INSERT INTO batch VALUES (?, ?, 'kept', ?, ?, ?)",
        (
            *(deposit.id_hash, deposit.digest, deposit.forget_after, deposit.answer),
            struct.pack(f"<{len(keys)}q", *keys),
        ),
    )
    for portion in deposit.portions:
        _collect(sums, (portion.metric, portion.period, portion.labels), portion.tally)
    return Record(deposit.digest, "kept", deposit.answer)


def _withdraw(connection: sqlite3.Connection, withdrawal: Withdrawal, sums: Sums) -> Record:
    known = _find(connection, withdrawal.id_hash)
    if known is None:
        connection.execute(
            "INSERT INTO batch VALUES (?, x'', 'withdrawn', ?, x'', x'')",
            (withdrawal.id_hash, withdrawal.forget_after),
        )
        return Record(b"", "withdrawn", b"")
    if known.state != "kept":
        return known
    keys = _keys(connection, withdrawal.id_hash)
    for key in keys:
        row = connection.execute(
            "SELECT metric, period, labels, bytes FROM reports WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return Record(known.digest, "folded", known.answer)
        metric, period, labels, reports = row
        tally = withdrawal.sum_up(metric, reports)
        _collect(sums, (metric, period, labels), Tally.zero(tally.cells.size) - tally)
    connection.executemany("DELETE FROM reports WHERE key = ?", [(key,) for key in keys])
    connection.execute(
        "UPDATE batch SET state = 'withdrawn', keys = x'' WHERE id_hash = ?", (withdrawal.id_hash,)
    )
    return Record(known.digest, "withdrawn", known.answer)


def _collect(sums: Sums, cell: Cell, tally: Tally) -> None:
    sums[cell] = sums[cell] + tally if cell in sums else tally


def _add(connection: sqlite3.Connection, cell: Cell, tally: Tally) -> None:
    where = "metric = ? AND period = ? AND labels = ?"
    row = connection.execute(f"SELECT n, cells FROM tally WHERE {where}", cell).fetchone()  # noqa: S608 - constant
    total = _tally(*row) + tally if row else tally
    if total.n:
        connection.execute(
            "INSERT OR REPLACE INTO tally VALUES (?, ?, ?, ?, ?)",
            (*cell, total.n, total.cells.astype("<i8").tobytes()),
        )
    else:
        connection.execute(f"DELETE FROM tally WHERE {where}", cell)  # noqa: S608 - constant


def _tally(n: int, cells: bytes) -> Tally:
    return Tally(n, np.frombuffer(cells, dtype="<i8"))
