"""This file puts the store on PostgreSQL together."""

from hubbub_server.store.keys import KeptKeys
from hubbub_server.store.manifests import KeptManifests
from hubbub_server.store.postgres.batches import PostgresBatches
from hubbub_server.store.postgres.database import Database
from hubbub_server.store.postgres.schema import has_tables, migrate
from hubbub_server.store.postgres.upkeep import PostgresUpkeep
from hubbub_server.store.protocol import Store


def open_postgres(url: str) -> Store:
    """Open a store on a PostgreSQL database, creating or upgrading its tables.

    Raises StorageError.
    """
    database = Database(url)
    migrate(database)
    return Store(
        PostgresBatches(database),
        KeptManifests(database),
        KeptKeys(database),
        PostgresUpkeep(database),
        database.close,
    )


def is_set_up(url: str) -> bool:
    """Tell whether a PostgreSQL database has our tables.

    Raises StorageError.
    """
    return has_tables(Database(url))
