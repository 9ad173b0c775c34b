"""This file keeps manifests and metrics in SQLite."""

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, replace

from hubbub.errors import BusyError
from hubbub_server.store.records import StoredMetric
from hubbub_server.store.sqlite.database import Database, tables


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
            kept = tables(connection)
            kept.table("manifest").insert({"app": app, "serial": serial, "document": document})
            kept.table("metric").upsert_all(
                (asdict(replace(metric, serial=serial)) for metric in metrics), pk="id"
            )

    def latest(self, app: str) -> tuple[int, str] | None:
        """Return serial and document of an app's newest manifest."""
        with self._database.reading() as connection:
            return _latest(connection, app)

    def keep_signed(self, app: str, serial: int, signed: bytes) -> None:
        """Keep the signed form of a manifest that is published."""
        with self._database.writing() as connection:
            tables(connection).table("manifest").update((app, serial), {"signed": signed})

    def signed(self, app: str) -> bytes | None:
        """Return the signed form of the newest manifest of an app that has one."""
        with self._database.reading() as connection:
            newest = (
                tables(connection)
                .table("manifest")
                .rows_where("app = ? AND signed NOT NULL", [app], order_by="serial DESC", limit=1)
            )
            return next((row["signed"] for row in newest), None)

    def metric(self, metric: bytes) -> StoredMetric | None:
        """Return a metric by its id."""
        with self._database.reading() as connection:
            rows = list(tables(connection).table("metric").rows_where("id = ?", [metric]))
        return StoredMetric(**rows[0]) if rows else None

    def metrics(self) -> list[StoredMetric]:
        """Return every metric, by app and name, newest first."""
        with self._database.reading() as connection:
            rows = list(tables(connection).table("metric").rows_where(order_by="app, name, serial DESC"))
        return [StoredMetric(**row) for row in rows]


def _latest(connection: sqlite3.Connection, app: str) -> tuple[int, str] | None:
    newest = (
        tables(connection).table("manifest").rows_where("app = ?", [app], order_by="serial DESC", limit=1)
    )
    return next(((row["serial"], row["document"]) for row in newest), None)
