"""This file keeps manifests and metrics."""

from collections.abc import Sequence

from hubbub.errors import RefusedError
from hubbub_server.store.records import StoredMetric
from hubbub_server.store.tables import Tables

_KEEP = "INSERT INTO manifest (app, serial, document) VALUES (?, ?, ?)"
_LATEST = "SELECT serial, document FROM manifest WHERE app = ? ORDER BY serial DESC LIMIT 1"
_KEEP_SIGNED = "UPDATE manifest SET signed = ? WHERE app = ? AND serial = ?"
_SIGNED = "SELECT signed FROM manifest WHERE app = ? AND signed IS NOT NULL ORDER BY serial DESC LIMIT 1"
_KEEP_METRIC = """INSERT INTO metric (id, app, name, serial, definition) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET serial = excluded.serial"""
_METRIC = "SELECT id, app, name, serial, definition FROM metric"


class KeptManifests:
    """The ``Manifests`` of a database of either kind."""

    __slots__ = ("_tables",)

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def publish(
        self, app: str, serial: int, document: str, metrics: Sequence[StoredMetric], *, after: int
    ) -> None:
        """Keep a manifest and its metrics; ``after`` is the serial that it was compared with."""
        with self._tables.changing(alone=True) as execute:
            latest = execute(_LATEST, app).fetchall()
            if (latest[0][0] if latest else 0) != after:
                raise RefusedError("serial_conflict", "another manifest of the app was published meanwhile")
            execute(_KEEP, app, serial, document)
            for metric in metrics:
                execute(_KEEP_METRIC, metric.id, metric.app, metric.name, serial, metric.definition)

    def latest(self, app: str) -> tuple[int, str] | None:
        """Return serial and document of an app's newest manifest."""
        rows = self._tables.select(_LATEST, app)
        return rows[0] if rows else None

    def keep_signed(self, app: str, serial: int, signed: bytes) -> None:
        """Keep the signed form of a manifest that is published."""
        with self._tables.changing() as execute:
            execute(_KEEP_SIGNED, signed, app, serial)

    def signed(self, app: str) -> bytes | None:
        """Return the signed form of the newest manifest of an app that has one."""
        rows = self._tables.select(_SIGNED, app)
        return rows[0][0] if rows else None

    def metric(self, metric: bytes) -> StoredMetric | None:
        """Return a metric by its id."""
        rows = self._tables.select(f"{_METRIC} WHERE id = ?", metric)
        return StoredMetric(*rows[0]) if rows else None

    def metrics(self) -> list[StoredMetric]:
        """Return every metric, by app and name, newest first."""
        every = [StoredMetric(*row) for row in self._tables.select(_METRIC)]
        return sorted(every, key=lambda metric: (metric.app, metric.name, -metric.serial))
