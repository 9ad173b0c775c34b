"""This file opens a store on one SQLite file."""

from pathlib import Path

from hubbub_server.store.protocol import Store
from hubbub_server.store.sqlite.batches import SqliteBatches
from hubbub_server.store.sqlite.database import Database
from hubbub_server.store.sqlite.keys import SqliteKeys
from hubbub_server.store.sqlite.manifests import SqliteManifests
from hubbub_server.store.sqlite.schema import migrate


def open_sqlite(path: Path) -> Store:
    """Open a store, creating or upgrading the file.

    Raises StorageError.
    """
    database = Database(path)
    migrate(database)
    return Store(SqliteBatches(database), SqliteManifests(database), SqliteKeys(database), database.close)
