"""This file puts a backup in the place of a SQLite store, with the one before kept beside it."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

from hubbub.errors import BusyError, StorageError

_SIDES = ("", "-wal", "-shm")


@contextmanager
def copied(backup: Path, database: Path) -> Iterator[Path]:
    """Lend a copy of a backup beside a database, to be checked and put in its place; what is left of it goes.

    Raises StorageError if it can't be copied.
    """
    copy = database.with_name(f"{database.name}.restoring")
    try:
        with backup.open("rb") as source, open(copy, "xb", opener=_private) as target:
            shutil.copyfileobj(source, target, 2**20)
            os.fsync(target.fileno())
    except OSError as error:
        raise StorageError(f"{error.filename or copy} can't be copied: {error.strerror}") from None
    try:
        yield copy
    finally:
        for side in _SIDES:
            Path(f"{copy}{side}").unlink(missing_ok=True)


def put_in_place(copy: Path, database: Path) -> Path | None:
    """Rename a copy that nobody has open to a database, and return where the one before is, if there was one.

    It belongs to whom the one before does, or the directory. Raises BusyError while a collector has the
    database open, StorageError if it belongs to somebody else.
    """
    aside = None
    _give_away(copy, database if database.exists() else database.parent)
    if database.exists():
        _refuse_in_use(database)
        aside = next(path for path in _names(database) if not path.exists())
        for side in reversed(_SIDES):
            if Path(f"{database}{side}").exists():
                Path(f"{database}{side}").rename(f"{aside}{side}")
    copy.rename(database)
    directory = os.open(database.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
    return aside


def _give_away(copy: Path, before: Path) -> None:
    """Give a copy the owner of what was before, and the mode if that was a database."""
    found = before.stat()
    try:
        if found.st_uid != copy.stat().st_uid:
            os.chown(copy, found.st_uid, found.st_gid)
        if before.is_file():
            copy.chmod(stat.S_IMODE(found.st_mode))
    except PermissionError:
        raise StorageError(f"{before} belongs to another user; restore as that user, or as root") from None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _names(database: Path) -> Iterator[Path]:
    return (database.with_name(f"{database.name}.before-{number}") for number in count(1))


def _refuse_in_use(database: Path) -> None:
    """Raise BusyError if another process has the database open; one that is damaged may be replaced."""
    try:
        with closing(sqlite3.connect(database, timeout=1, isolation_level=None)) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise BusyError(f"a collector has {database} open; stop it first") from None
    except sqlite3.DatabaseError:
        return
