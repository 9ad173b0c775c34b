"""This file keeps manifests and metrics in SQLite."""

import sqlite3
from collections.abc import Sequence

from hubbub.errors import BusyError
from hubbub_server.store.records import StoredMetric
from hubbub_server.store.sqlite.database import Database

_KEEP = "INSERT INTO manifest (app, serial, document) VALUES (?, ?, ?)"
_LATEST = "SELECT serial, document FROM manifest WHERE app = ? ORDER BY serial DESC LIMIT 1"
_KEEP_SIGNED = "UPDATE manifest SET signed = ? WHERE app = ? AND serial = ?"
_SIGNED = "SELECT signed FROM manifest WHERE app = ? AND signed NOT NULL ORDER BY serial DESC LIMIT 1"
_KEEP_METRIC = "REPLACE INTO metric (id, app, name, serial, definition) VALUES (?, ?, ?, ?, ?)"
_METRIC = "SELECT id, app, name, serial, definition FROM metric"


class SqliteManifests:
    """The ``Manifests`` of one SQLite file."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def publish(
        self, app: str, serial: int, document: str, metrics: Sequence[StoredMetric], *, after: int
    ) -> None:
        """Keep a manifest and its metrics; ``after`` is the serial that it was compared with."""
        with self._database.writing() as connection:
            latest = _latest(connection, app)
            if (latest[0] if latest else 0) != after:
                raise BusyError("another manifest of the app was published meanwhile; try again")
            connection.execute(_KEEP, (app, serial, document))
            rows = ((metric.id, metric.app, metric.name, serial, metric.definition) for metric in metrics)
            connection.executemany(_KEEP_METRIC, rows)

    def latest(self, app: str) -> tuple[int, str] | None:
        """Return serial and document of an app's newest manifest."""
        with self._database.reading() as connection:
            return _latest(connection, app)

    def keep_signed(self, app: str, serial: int, signed: bytes) -> None:
        """Keep the signed form of a manifest that is published."""
        with self._database.writing() as connection:
            connection.execute(_KEEP_SIGNED, (signed, app, serial))

    def signed(self, app: str) -> bytes | None:
        """Return the signed form of the newest manifest of an app that has one."""
        with self._database.reading() as connection:
            row = connection.execute(_SIGNED, (app,)).fetchone()
        return row[0] if row else None

    def metric(self, metric: bytes) -> StoredMetric | None:
        """Return a metric by its id."""
        with self._database.reading() as connection:
            row = connection.execute(f"{_METRIC} WHERE id = ?", (metric,)).fetchone()
        return StoredMetric(*row) if row else None

    def metrics(self) -> list[StoredMetric]:
        """Return every metric, by app and name, newest first."""
        with self._database.reading() as connection:
            rows = connection.execute(f"{_METRIC} ORDER BY app, name, serial DESC").fetchall()
        return [StoredMetric(*row) for row in rows]


def _latest(connection: sqlite3.Connection, app: str) -> tuple[int, str] | None:
    row: tuple[int, str] | None = connection.execute(_LATEST, (app,)).fetchone()
    return row
