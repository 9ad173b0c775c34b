"""This file bounds how long a PostgreSQL server that hangs, or whose host is gone, keeps a thread waiting."""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.rows import TupleRow

from hubbub.errors import DatabaseAwayError

T = TypeVar("T")


class Connection(psycopg.Connection[TupleRow]):
    """A connection that is given up when it hangs; a class of its own as psycopg has no such setting.

    patience: seconds without a byte; longer than we wait for a lock.
    """

    patience = 15.0

    @contextmanager
    def waiting(self, seconds: float) -> Iterator[None]:
        """Have another patience for a while."""
        before, self.patience = self.patience, seconds
        try:
            yield
        finally:
            self.patience = before

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:
        """Wait for a step of the protocol; close the connection if nothing comes.

        Raises DatabaseAwayError then.
        """
        return super().wait(self._bounded(gen), *args, **kwargs)

    def _bounded(self, steps: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        last = time.monotonic()
        try:
            wanted = next(steps)
            while True:
                ready = yield wanted
                if ready:
                    last = time.monotonic()
                elif time.monotonic() - last > self.patience:
                    self.close()
                    raise DatabaseAwayError(f"PostgreSQL has said nothing for {self.patience:g} seconds")
                wanted = steps.send(ready)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
