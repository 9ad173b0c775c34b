"""This file moves the reports and sums of a database before version 4 into cells, inside its transaction."""

import sqlite3
import struct
from typing import TYPE_CHECKING

from hubbub_server.store.cells import draw_keys

if TYPE_CHECKING:
    from sqlite_utils.db import Database as Tables

_CELLS = """INSERT INTO cell
    SELECT row_number() OVER (), t.metric, t.period, t.labels,
           4 + (t.period + 1) * CAST(rtrim(json_extract(m.definition, '$.period'), 'd') AS INTEGER),
           t.n, t.cells, 0, 'kept'
    FROM tally t JOIN metric m ON m.id = t.metric"""  # the first period starts on day 4
_OLD = """SELECT r.key, c.number, r.is_raw, r.bytes FROM old_reports r
    JOIN cell c ON c.metric = r.metric AND c.period = r.period AND c.labels = r.labels"""
_TABLES = (
    "ALTER TABLE reports RENAME TO old_reports",
    "DROP INDEX reports_without_sum",
    """CREATE TABLE reports (
        key INTEGER PRIMARY KEY,          -- its cell's number, then 36 random bits
        unfolded INTEGER NOT NULL,        -- 1 if they are not in any sum yet
        bytes BLOB NOT NULL
    )""",
    "CREATE INDEX reports_unfolded ON reports (key) WHERE unfolded",
    "CREATE TEMP TABLE moved (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)",
)
_UNFOLDED = """UPDATE cell SET unfolded = coalesce((SELECT sum(length(r.bytes)) FROM old_reports r
    WHERE r.is_raw AND r.metric = cell.metric AND r.period = cell.period AND r.labels = cell.labels), 0)"""


def into_cells(tables: "Tables") -> None:
    """Give every report a key of its cell, and every batch the new keys of its reports."""
    connection = tables.conn
    connection.execute(_CELLS)
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute(_UNFOLDED)
    for old, number, is_raw, reports in connection.execute(_OLD):
        new = _free(connection, number)
        connection.execute("INSERT INTO reports VALUES (?, ?, ?)", (new, is_raw, reports))
        connection.execute("INSERT INTO moved VALUES (?, ?)", (old, new))
    for id_hash, keys in connection.execute("SELECT id_hash, keys FROM batch WHERE keys != x''").fetchall():
        connection.execute("UPDATE batch SET keys = ? WHERE id_hash = ?", (_moved(connection, keys), id_hash))
    for name in ("moved", "old_reports", "tally"):
        tables.table(name).drop()


def _free(connection: sqlite3.Connection, number: int) -> int:
    while True:
        ((key,),) = draw_keys([[number]])
        if not connection.execute("SELECT 1 FROM reports WHERE key = ?", (key,)).fetchone():
            return key


def _moved(connection: sqlite3.Connection, keys: bytes) -> bytes:
    """Return the keys that took the place of others; 0, which is no key, for those whose reports are gone."""
    old = struct.unpack(f"<{len(keys) // 8}q", keys)
    new = [connection.execute("SELECT new FROM moved WHERE old = ?", (key,)).fetchone() for key in old]
    return struct.pack(f"<{len(old)}q", *(row[0] if row else 0 for row in new))
