"""This file makes one durable all-or-nothing change to a SQLite file."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def immediately(connection: sqlite3.Connection, act: Callable[[], T]) -> T:
    """Do something while holding the database's write lock, and keep all of its changes or none."""
    try:
        if connection.in_transaction:  # a signal's handler raised where it should have been ended
            connection.rollback()
        connection.execute("BEGIN IMMEDIATE")  # in here, since it may fail after it has begun
        done = act()
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.rollback()
        raise
    return done
