"""This file keeps access keys in SQLite."""

from dataclasses import asdict

from hubbub_server.store.records import StoredKey
from hubbub_server.store.sqlite.database import Database, tables


class SqliteKeys:
    """The ``Keys`` of one SQLite file."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: StoredKey) -> None:
        """Keep a new key."""
        with self._database.writing() as connection:
            tables(connection).table("key").insert(asdict(key))

    def find(self, number: str) -> StoredKey | None:
        """Return a key by its public part."""
        with self._database.reading() as connection:
            rows = list(tables(connection).table("key").rows_where("number = ?", [number]))
        return StoredKey(**rows[0]) if rows else None

    def all(self) -> list[StoredKey]:
        """Return every key, revoked ones included."""
        with self._database.reading() as connection:
            rows = list(tables(connection).table("key").rows_where(order_by="kind, number"))
        return [StoredKey(**row) for row in rows]

    def use(self, number: str, day: str) -> None:
        """Note the day on which a key was used."""
        with self._database.writing() as connection:
            tables(connection).table("key").update(number, {"last_used": day})

    def revoke(self, number: str, day: str) -> bool:
        """Take a key out of use; False if there is no such key in use."""
        with self._database.writing() as connection:
            keys = tables(connection).table("key")
            in_use = keys.count_where("number = ? AND revoked = ''", [number])
            if in_use:
                keys.update(number, {"revoked": day})
        return bool(in_use)

    def replace(self, number: str, successor: StoredKey, expires: str) -> bool:
        """Keep a key in place of one that expires on a day; False, and nothing done, if that is revoked."""
        with self._database.writing() as connection:
            keys = tables(connection).table("key")
            in_use = keys.count_where("number = ? AND revoked = ''", [number])
            if in_use:
                keys.update(number, {"expires": expires})
                keys.insert(asdict(successor))
        return bool(in_use)
