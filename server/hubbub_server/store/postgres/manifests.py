"""This file keeps manifests and metrics in PostgreSQL."""

from collections.abc import Sequence

from hubbub.errors import BusyError
from hubbub_server.store.postgres.database import Connection, Database
from hubbub_server.store.records import StoredMetric

_LATEST = "SELECT serial, document FROM manifest WHERE app = %s ORDER BY serial DESC LIMIT 1"
_SIGNED = """SELECT signed FROM manifest WHERE app = %s AND signed IS NOT NULL
    ORDER BY serial DESC LIMIT 1"""
_KEEP_METRIC = """INSERT INTO metric (id, app, name, serial, definition) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (id) DO UPDATE SET app = excluded.app, name = excluded.name, serial = excluded.serial,
        definition = excluded.definition"""
_METRIC = "SELECT id, app, name, serial, definition FROM metric"
_IN_ORDER = """ ORDER BY app COLLATE "C", name COLLATE "C", serial DESC"""


class PostgresManifests:
    """The ``Manifests`` of one PostgreSQL database."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def publish(
        self, app: str, serial: int, document: str, metrics: Sequence[StoredMetric], *, after: int
    ) -> None:
        """Keep a manifest and its metrics; ``after`` is the serial that it was compared with."""
        with self._database.alone() as connection:
            latest = _latest(connection, app)
            if (latest[0] if latest else 0) != after:
                raise BusyError("another manifest of the app was published meanwhile; try again")
            connection.execute(
                "INSERT INTO manifest (app, serial, document) VALUES (%s, %s, %s)", (app, serial, document)
            )
            for metric in metrics:
                row = (metric.id, metric.app, metric.name, serial, metric.definition)
                connection.execute(_KEEP_METRIC, row)

    def latest(self, app: str) -> tuple[int, str] | None:
        """Return serial and document of an app's newest manifest."""
        with self._database.reading() as connection:
            return _latest(connection, app)

    def keep_signed(self, app: str, serial: int, signed: bytes) -> None:
        """Keep the signed form of a manifest that is published."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE manifest SET signed = %s WHERE app = %s AND serial = %s", (signed, app, serial)
            )

    def signed(self, app: str) -> bytes | None:
        """Return the signed form of the newest manifest of an app that has one."""
        with self._database.reading() as connection:
            rows = connection.execute(_SIGNED, (app,)).fetchall()
        return rows[0][0] if rows else None

    def metric(self, metric: bytes) -> StoredMetric | None:
        """Return a metric by its id."""
        with self._database.reading() as connection:
            rows = connection.execute(f"{_METRIC} WHERE id = %s", (metric,)).fetchall()
        return StoredMetric(*rows[0]) if rows else None

    def metrics(self) -> list[StoredMetric]:
        """Return every metric, by app and name, newest first."""
        with self._database.reading() as connection:
            return [StoredMetric(*row) for row in connection.execute(_METRIC + _IN_ORDER)]


def _latest(connection: Connection, app: str) -> tuple[int, str] | None:
    rows = connection.execute(_LATEST, (app,)).fetchall()
    return (rows[0][0], rows[0][1]) if rows else None
