"""This file keeps manifests and metrics in SQLite."""

from collections.abc import Sequence

from hubbub.errors import BusyError
from hubbub_server.store.database import Database
from hubbub_server.store.protocol import StoredMetric

_METRIC = "SELECT id, app, name, serial, definition FROM metric"
_LATEST = "SELECT serial, document FROM manifest WHERE app = ? ORDER BY serial DESC LIMIT 1"


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
            row = connection.execute(_LATEST, (app,)).fetchone()
            if (row[0] if row else 0) != after:
                raise BusyError("another manifest of the app was published meanwhile; try again")
            connection.execute("INSERT INTO manifest VALUES (?, ?, ?)", (app, serial, document))
            connection.executemany(
                "INSERT INTO metric VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET serial = excluded.serial",
                [(metric.id, metric.app, metric.name, serial, metric.definition) for metric in metrics],
            )

    def latest(self, app: str) -> tuple[int, str] | None:
        """Return serial and document of an app's newest manifest."""
        with self._database.reading() as connection:
            row: tuple[int, str] | None = connection.execute(_LATEST, (app,)).fetchone()
        return row

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
