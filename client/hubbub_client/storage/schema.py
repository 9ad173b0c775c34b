"""This file holds the tables of a device's database, and tells whether a file has them."""

import os
import sqlite3
from pathlib import Path

from hubbub.errors import StorageError

VERSION = 3
TABLES = (  # each compared, to the letter, with what a file has
    # secret: hides which states a memo was drawn for. marker: where it lies, if not beside the database.
    "CREATE TABLE device (identity BLOB NOT NULL, secret BLOB NOT NULL, marker TEXT NOT NULL DEFAULT '')",
    # One row is one report: its charge, the bytes that leave, and how far they got; or, with the status
    # "note", a word about the device itself. No row is ever deleted.
    """CREATE TABLE journal (
        number INTEGER PRIMARY KEY,
        at INTEGER NOT NULL, source TEXT NOT NULL, metric TEXT NOT NULL,
        starts INTEGER NOT NULL, ends INTEGER NOT NULL,
        cost INTEGER NOT NULL CHECK (cost >= 0),
        delta INTEGER NOT NULL DEFAULT 0 CHECK (delta >= 0),
        batch BLOB NOT NULL, chain BLOB NOT NULL,
        status TEXT NOT NULL DEFAULT 'waiting', code TEXT NOT NULL DEFAULT '',
        due INTEGER NOT NULL, leased INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX charges ON journal (source, at, cost)",
    "CREATE INDEX answers ON journal (metric, ends)",
    "CREATE INDEX letters ON journal (due) WHERE status IN ('waiting', 'withdrawing')",
    "CREATE INDEX notes ON journal (number) WHERE status = 'note'",
    # state: what the memo was drawn for, hashed where that would tell a value.
    """CREATE TABLE memo (
        number INTEGER PRIMARY KEY, metric BLOB NOT NULL, state BLOB NOT NULL, memo BLOB NOT NULL,
        UNIQUE (metric, state))""",
    "CREATE TABLE seen (metric BLOB, period INTEGER, PRIMARY KEY (metric, period)) WITHOUT ROWID",
    f"PRAGMA user_version = {VERSION}",
)

_TYPES = {
    "integer": ("at", "starts", "ends", "cost", "delta", "due", "leased"),
    "text": ("source", "metric", "status", "code"),
    "blob": ("batch", "chain"),
}
_OWN = {statement for statement in TABLES if statement.startswith("CREATE")}
_STATEMENTS = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
_WRONG = (f"typeof({column}) != '{kind}'" for kind, columns in _TYPES.items() for column in columns)
_UNTYPED = f"SELECT 1 FROM journal WHERE {' OR '.join(_WRONG)}"  # noqa: S608 - of constants


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of the tables, or 0 for a file without any.

    Raises StorageError for a database of something else.
    """
    is_used = connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # first: another may begin it now
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0 and is_used:
        raise StorageError("it is not a device's database")
    return int(version)


def check_version(connection: sqlite3.Connection, database: Path) -> None:
    """Raise StorageError for tables of another version."""
    version = version_of(connection)
    if version != VERSION:
        raise StorageError(f"{database} has version {version}, this hubbub knows {VERSION}")


def is_sound(connection: sqlite3.Connection) -> bool:
    """Tell whether a file has our tables and nothing else, whole, and in the journal values of their types.

    Nothing is read from what somebody else made: a view or a trigger may go on without end.
    """
    if {statement for (statement,) in connection.execute(_STATEMENTS).fetchall()} != _OWN:
        return False
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    return verdict == "ok" and connection.execute(_UNTYPED).fetchone() is None


def has(connection: sqlite3.Connection, table: str) -> bool:
    """Tell whether a file has a table as we make it, whatever else there is."""
    found = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return found is not None and found[0] in _OWN


def create(connection: sqlite3.Connection, *, secret: bytes | None = None) -> None:
    """Make the tables; the caller commits.

    secret: of an earlier database whose memos are carried over.
    """
    for statement in TABLES:
        connection.execute(statement)
    row = (os.urandom(32), secret or os.urandom(32))
    connection.execute("INSERT INTO device (identity, secret) VALUES (?, ?)", row)
