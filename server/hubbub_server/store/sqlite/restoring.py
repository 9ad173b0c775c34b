"""This file puts a backup in the place of a SQLite store, with the one before kept beside it."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

from hubbub.errors import BusyError, StorageError

_SIDES = ("", "-journal", "-wal", "-shm")


@contextmanager
def copied(backup: Path, database: Path) -> Iterator[Path]:
    """Lend a copy of a backup beside a database, to be checked and put in its place; what is left of it goes.

    Raises StorageError if it is no whole backup, or can't be copied.
    """
    copy = database.with_name(f"{database.name}.restoring")
    try:
        os.close(_private(str(copy), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        raise StorageError(f"{copy} is there: another restore runs, or was killed; delete it then") from None
    except OSError as error:
        raise StorageError(f"{copy} can't be written: {error.strerror}") from None
    try:
        _remove(copy, _SIDES[1:])  # SQLite would read the log of another into it
        _copy(backup, copy)
        yield copy
    finally:
        _remove(copy, _SIDES)


def put_in_place(copy: Path, database: Path) -> Path | None:
    """Rename a copy that nobody has open to a database, and return where the one before is, if there was one.

    It belongs to whom the one before does, or the directory. Raises BusyError while a collector has the
    database open, StorageError if it belongs to somebody else.
    """
    is_there = database.exists()
    _give_away(copy, database if is_there else database.parent)
    if is_there:
        _refuse_in_use(database)
    aside = next(path for path in _names(database) if not _sides_of(path))
    for side in reversed(_sides_of(database)):  # the log of a database that is lost, too
        Path(f"{database}{side}").rename(f"{aside}{side}")
    copy.rename(database)
    directory = os.open(database.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
    return aside if is_there else None


def _copy(backup: Path, copy: Path) -> None:
    log = Path(f"{backup}-wal")
    if log.exists() and log.stat().st_size:
        raise StorageError(f"{backup} is a database in use and no backup: {log} is beside it")
    try:
        with backup.open("rb") as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target, 2**20)
            size = target.tell()
            target.flush()
            os.fsync(target.fileno())
    except OSError as error:
        raise StorageError(f"{backup} can't be copied: {error.strerror}") from None
    if not size:
        raise StorageError(f"{backup} is empty")


def _sides_of(path: Path) -> list[str]:
    return [side for side in _SIDES if Path(f"{path}{side}").exists()]


def _remove(path: Path, sides: Iterable[str]) -> None:
    for side in sides:
        Path(f"{path}{side}").unlink(missing_ok=True)


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
