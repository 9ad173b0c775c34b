"""This file holds the tables of a device's database, and tells whether a file has them."""

import os
import sqlite3

from hubbub.errors import StorageError

VERSION = 3
TABLES = (
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


def is_typed(connection: sqlite3.Connection) -> bool:
    """Tell whether every value in the journal is of its column's type, which SQLite does not see to."""
    return connection.execute(_UNTYPED).fetchone() is None


def create(connection: sqlite3.Connection, *, secret: bytes | None = None) -> None:
    """Make the tables; the caller commits.

    secret: of an earlier database whose memos are carried over.
    """
    for statement in TABLES:
        connection.execute(statement)
    row = (os.urandom(32), secret or os.urandom(32))
    connection.execute("INSERT INTO device (identity, secret) VALUES (?, ?)", row)
