"""This file looks into a database behind a store's back, and damages it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg


def rows(where: Path | str, query: str) -> list[tuple[Any, ...]]:
    """Return what a query finds, or do what a statement says."""
    if isinstance(where, Path):
        with closing(sqlite3.connect(where, isolation_level=None)) as connection:
            return connection.execute(query).fetchall()
    with psycopg.connect(where, autocommit=True) as other:
        other.execute("SET search_path = hubbub")
        answer = other.execute(query)  # type: ignore[call-overload, unused-ignore] - a test's own words
        return answer.fetchall() if answer.description else []
