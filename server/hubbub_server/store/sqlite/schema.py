"""This file creates the tables and brings older ones up to date, in one IMMEDIATE transaction.

So processes that start together take turns, and a kill in the middle leaves the version before.
"""

import sqlite3
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from hubbub.errors import StorageError
from hubbub_server.store.sqlite.database import Database
from hubbub_server.store.sqlite.into_cells import into_cells

if TYPE_CHECKING:
    from sqlite_utils.db import Database as Tables

APPLICATION = 0x48424242  # "HBBB", in the file's header

Step = str | Callable[["Tables"], object]  # a statement where sqlite-utils has no words for it
Migrations = tuple[tuple[Step, ...], ...]  # by version

_METRIC = {
    "id": bytes,
    "app": str,
    "name": str,
    "serial": int,  # the newest that holds it
    "definition": str,
}
_KEY = {
    "number": str,
    "kind": str,
    "secret_hash": bytes,
    "note": str,
    "last_used": str,  # a day
    "revoked": str,  # a day
}

MIGRATIONS: Migrations = (
    (
        """CREATE TABLE batch (
            id_hash BLOB PRIMARY KEY,         -- SHA-256 of the id
            digest BLOB NOT NULL,             -- SHA-256 of the canonical bytes; empty if only withdrawn
            state TEXT NOT NULL,              -- kept or withdrawn
            forget_after INTEGER NOT NULL,    -- Unix day, from the periods
            answer BLOB NOT NULL,
            keys BLOB NOT NULL                -- of its rows in reports, 8 bytes each
        ) WITHOUT ROWID""",
        lambda tables: tables.table("batch").create_index(["forget_after"], "batch_by_day"),
        """CREATE TABLE reports (
            key INTEGER PRIMARY KEY,          -- 63 random bits, so that no order of arrival is kept
            metric BLOB NOT NULL,
            period INTEGER NOT NULL,
            labels BLOB NOT NULL,
            n INTEGER NOT NULL,
            bytes BLOB NOT NULL
        )""",
        """CREATE TABLE tally (
            metric BLOB NOT NULL,
            period INTEGER NOT NULL,
            labels BLOB NOT NULL,
            n INTEGER NOT NULL,
            cells BLOB NOT NULL,              -- little-endian 64-bit integers
            PRIMARY KEY (metric, period, labels)
        ) WITHOUT ROWID""",
        """CREATE TABLE manifest (
            app TEXT NOT NULL,
            serial INTEGER NOT NULL,
            document TEXT NOT NULL,
            PRIMARY KEY (app, serial)
        ) WITHOUT ROWID""",
        lambda tables: tables.table("metric").create(_METRIC, pk="id", not_null=_METRIC),
        lambda tables: tables.table("key").create(_KEY, pk="number", not_null=_KEY),
    ),
    (
        lambda tables: tables.table("reports").add_column(
            "is_raw", int, not_null_default=0
        ),  # no sum is kept
        "CREATE INDEX reports_without_sum ON reports (metric, period, labels) WHERE is_raw",
    ),
    (lambda tables: tables.table("manifest").add_column("signed", bytes),),  # as its maker signed it, or NULL
    (
        """CREATE TABLE cell (
            number INTEGER PRIMARY KEY,       -- the upper bits of the keys of its reports
            metric BLOB NOT NULL,
            period INTEGER NOT NULL,
            labels BLOB NOT NULL,
            ends INTEGER NOT NULL,            -- Unix day on which the period ends
            n INTEGER NOT NULL,
            sums BLOB NOT NULL,               -- little-endian 64-bit integers; none if they are too many
            unfolded INTEGER NOT NULL,        -- bytes of reports that are not in the sums
            raw TEXT NOT NULL,                -- its reports are kept, going or gone
            UNIQUE (metric, period, labels)
        )""",
        "CREATE INDEX cell_unfolded ON cell (unfolded) WHERE unfolded",
        "CREATE INDEX cell_by_end ON cell (ends) WHERE raw != 'gone'",
        """CREATE TABLE folded (
            cell INTEGER PRIMARY KEY,
            n INTEGER NOT NULL,
            sums BLOB NOT NULL
        )""",
        "CREATE TABLE noted (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
        into_cells,
    ),
    (lambda tables: tables.table("key").add_column("expires", str, not_null_default=""),),  # a day
)
_STATE = """SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master)
    FROM pragma_user_version, pragma_application_id"""  # as of one moment: others may be making the tables


def migrate(database: Database, migrations: Migrations = MIGRATIONS) -> None:
    """Bring a database, empty or old, to today's tables; one that has them is opened while others write.

    Raises StorageError if the file is not ours or newer than this program.
    """
    with database.reading() as connection:  # before anything is written into a file that is not ours
        version = _version(connection, database.path, len(migrations))
    database.use_log()
    if version == len(migrations):
        return
    from sqlite_utils.db import Database as Tables  # noqa: PLC0415 - slow, above all beside pandas

    with database.writing() as connection:
        version = _version(connection, database.path, len(migrations))
        tables = Tables(connection, recursive_triggers=False, execute_plugins=False)
        for step in chain.from_iterable(migrations[version:]):
            connection.execute(step) if isinstance(step, str) else step(tables)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")


def _version(connection: sqlite3.Connection, path: Path, newest: int) -> int:
    version, application, tables = connection.execute(_STATE).fetchone()
    if application != APPLICATION and (tables or version):
        raise StorageError(f"{path} is a database of another program; name another file")
    if version > newest:
        raise StorageError(f"{path} was written by a newer hubbub-server; upgrade this one")
    return int(version)
