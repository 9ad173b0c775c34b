"""This file opens the store that a configuration names."""

from pathlib import Path

from hubbub_server.store.protocol import Store
from hubbub_server.store.sqlite.batches import SqliteBatches
from hubbub_server.store.sqlite.database import Database
from hubbub_server.store.sqlite.keys import SqliteKeys
from hubbub_server.store.sqlite.manifests import SqliteManifests
from hubbub_server.store.sqlite.schema import migrate
from hubbub_server.store.sqlite.upkeep import SqliteUpkeep


def open_sqlite(path: Path) -> Store:
    """Open a store on one SQLite file, creating or upgrading it.

    Raises StorageError.
    """
    database = Database(path)
    migrate(database)
    upkeep = SqliteUpkeep(database)

    def close() -> None:
        upkeep.leave()
        database.close()

    return Store(
        SqliteBatches(database),
        SqliteManifests(database),
        SqliteKeys(database),
        upkeep,
        close,
    )
