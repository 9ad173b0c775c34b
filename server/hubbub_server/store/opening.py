"""This file opens the store that a configuration names."""

from pathlib import Path
from types import ModuleType

from hubbub.errors import MissingExtraError
from hubbub_server.store.keys import KeptKeys
from hubbub_server.store.manifests import KeptManifests
from hubbub_server.store.protocol import Store
from hubbub_server.store.sqlite.batches import SqliteBatches
from hubbub_server.store.sqlite.database import Database
from hubbub_server.store.sqlite.schema import migrate
from hubbub_server.store.sqlite.upkeep import SqliteUpkeep


def open_store(where: Path | str) -> Store:
    """Open a store on the database that a path or a PostgreSQL URL names, creating or upgrading it.

    Raises StorageError, or MissingExtraError without psycopg.
    """
    return open_sqlite(where) if isinstance(where, Path) else _postgres().open_postgres(where)


def is_set_up(where: Path | str) -> bool:
    """Tell whether a database has something in it, of PostgreSQL something of ours; nothing is created.

    Raises StorageError, or MissingExtraError without psycopg.
    """
    if isinstance(where, Path):
        return where.exists() and where.stat().st_size > 0
    return bool(_postgres().is_set_up(where))


def open_sqlite(path: Path) -> Store:
    """Open a store on one SQLite file, creating or upgrading it.

    Raises StorageError.
    """
    database = Database(path)
    migrate(database)
    database.close()  # so that nothing is open when a server forks, not even one that Python isn't told of
    upkeep = SqliteUpkeep(database)

    def close() -> None:
        upkeep.leave()
        database.close()

    return Store(
        SqliteBatches(database),
        KeptManifests(database),
        KeptKeys(database),
        upkeep,
        close,
    )


def _postgres() -> ModuleType:
    try:
        from hubbub_server.store.postgres import store  # noqa: PLC0415 - only where it is used
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"psycopg", "psycopg_pool"}:
            raise
        raise MissingExtraError("a PostgreSQL database", "postgres") from None
    return store
