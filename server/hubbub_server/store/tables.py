"""This file says what small tables need of a database: SQL that both kinds know, with ? for each value."""

from contextlib import AbstractContextManager
from typing import Any, Protocol


class Done(Protocol):
    """What became of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the rows that it found."""
        ...


class Execute(Protocol):
    """Execute a statement with its values."""

    def __call__(self, statement: str, /, *values: object) -> Done:  # noqa: D102 - the class says it
        ...


class Tables(Protocol):
    """The tables of one database."""

    def select(self, query: str, *values: object) -> list[Any]:
        """Return the rows that a query finds.

        Raises BusyError or StorageError.
        """
        ...

    def changing(self, *, alone: bool = False) -> AbstractContextManager[Execute]:
        """Lend what executes statements in one transaction; alone: while nobody else writes.

        Raises StorageFullError, BusyError or StorageError.
        """
        ...
