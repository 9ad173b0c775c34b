"""This file keeps access keys."""

from dataclasses import astuple

from hubbub_server.store.records import StoredKey
from hubbub_server.store.tables import Tables

_COLUMNS = "number, kind, secret_hash, note, last_used, revoked, expires"
_ADD = f"INSERT INTO key ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - ours
_FIND = f"SELECT {_COLUMNS} FROM key WHERE number = ?"  # noqa: S608 - ours
_ALL = f"SELECT {_COLUMNS} FROM key ORDER BY kind, number"  # noqa: S608 - ours
_USE = "UPDATE key SET last_used = ? WHERE number = ?"
_REVOKE = "UPDATE key SET revoked = ? WHERE number = ? AND revoked = ''"
_EXPIRE = "UPDATE key SET expires = ? WHERE number = ? AND revoked = '' AND expires = ''"


class KeptKeys:
    """The ``Keys`` of a database of either kind."""

    __slots__ = ("_tables",)

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, key: StoredKey) -> None:
        """Keep a new key."""
        with self._tables.changing() as execute:
            execute(_ADD, *astuple(key))

    def find(self, number: str) -> StoredKey | None:
        """Return a key by its public part."""
        rows = self._tables.select(_FIND, number)
        return StoredKey(*rows[0]) if rows else None

    def all(self) -> list[StoredKey]:
        """Return every key, revoked ones included."""
        return [StoredKey(*row) for row in self._tables.select(_ALL)]

    def use(self, number: str, day: str) -> None:
        """Note the day on which a key was used."""
        with self._tables.changing() as execute:
            execute(_USE, day, number)

    def revoke(self, number: str, day: str) -> bool:
        """Take a key out of use; False if there is no such key in use."""
        with self._tables.changing() as execute:
            return execute(_REVOKE, day, number).rowcount == 1

    def replace(self, number: str, successor: StoredKey, expires: str) -> bool:
        """Keep a key in place of one that expires on a day; False, with nothing done, if it ends anyway."""
        with self._tables.changing() as execute:
            is_replaced = execute(_EXPIRE, expires, number).rowcount == 1
            if is_replaced:
                execute(_ADD, *astuple(successor))
        return is_replaced
