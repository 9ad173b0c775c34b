"""This file keeps access keys in SQLite."""

from hubbub_server.store.database import Database
from hubbub_server.store.protocol import StoredKey

_KEY = "SELECT number, kind, secret_hash, note, last_used, revoked FROM key"


class SqliteKeys:
    """The ``Keys`` of one SQLite file."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: StoredKey) -> None:
        """Keep a new key."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO key VALUES (?, ?, ?, ?, ?, ?)",
                (key.number, key.kind, key.secret_hash, key.note, key.last_used, key.revoked),
            )

    def find(self, number: str) -> StoredKey | None:
        """Return a key by its public part."""
        with self._database.reading() as connection:
            row = connection.execute(f"{_KEY} WHERE number = ?", (number,)).fetchone()
        return StoredKey(*row) if row else None

    def all(self) -> list[StoredKey]:
        """Return every key, revoked ones included."""
        with self._database.reading() as connection:
            rows = connection.execute(f"{_KEY} ORDER BY kind, number").fetchall()
        return [StoredKey(*row) for row in rows]

    def use(self, number: str, day: str) -> None:
        """Note the day on which a key was used."""
        with self._database.writing() as connection:
            connection.execute("UPDATE key SET last_used = ? WHERE number = ?", (day, number))

    def revoke(self, number: str, day: str) -> bool:
        """Take a key out of use; False if there is no such key in use."""
        with self._database.writing() as connection:
            update = "UPDATE key SET revoked = ? WHERE number = ? AND revoked = ''"
            return connection.execute(update, (day, number)).rowcount == 1
