"""This file turns what psycopg raises into errors of ours, without the values that PostgreSQL repeats."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolTimeout

from hubbub.errors import BusyError, RefusedError, StorageError, StorageFullError

RACES = (errors.UniqueViolation, errors.SerializationFailure, errors.DeadlockDetected)  # worth another try
_BUSY = (
    *RACES,
    errors.LockNotAvailable,
    errors.QueryCanceled,
    errors.TooManyConnections,
    errors.CannotConnectNow,
    PoolTimeout,
)
_NO_TEXT = (psycopg.DataError, errors.UntranslatableCharacter, errors.CharacterNotInRepertoire)


@contextmanager
def named_errors() -> Iterator[None]:
    """Raise StorageFullError, BusyError, StorageError or RefusedError instead of an error of psycopg."""
    try:
        yield
    except errors.DiskFull:
        raise StorageFullError("the disk of the database is full") from None
    except _BUSY as error:
        raise BusyError(f"PostgreSQL is busy ({type(error).__name__}); try again") from None
    except psycopg.Error as error:
        if type(error) in _NO_TEXT:
            raise RefusedError("bad_query", "PostgreSQL can't keep such a text") from None
        raise StorageError(f"PostgreSQL failed: {_said(error)}") from None


def _said(error: psycopg.Error) -> str:
    """Name an error; only of a connection that fails is told what was said, since no row is in it."""
    if error.sqlstate:
        return f"{type(error).__name__} ({error.sqlstate})"
    words = str(error) if isinstance(error, psycopg.OperationalError) else ""
    return " ".join(words.split()) or type(error).__name__
