"""This file lets SQLite itself find the disk full, for a while: no page may be added."""

import sqlite3

import pytest

from hubbub_server.store.sqlite.database import Database


def fill(disk: pytest.MonkeyPatch) -> None:
    """Have connections that are opened from now on find no room, until this patch is undone."""
    open_one = Database._open

    def opened(database: Database, cache: int) -> sqlite3.Connection:
        connection = open_one(database, cache)
        connection.execute("PRAGMA max_page_count = 1")  # which means: not more than there are
        return connection

    disk.setattr(Database, "_open", opened)
