"""This file knows where a device keeps its files: ``<user data dir>/hubbub/<app>``."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from hubbub.errors import StorageError

DATABASE = "device.sqlite3"
MARKER = "device.marker"
ENDINGS = ("", "-journal", "-wal", "-shm")  # of the files that SQLite opens


def home() -> Path:
    """Return the directory that holds a directory for each app.

    Raises StorageError for a user without a home.
    """
    import platformdirs  # noqa: PLC0415 - a client that records nothing never needs it

    try:
        found = Path(platformdirs.user_data_dir("hubbub", appauthor=False))
    except RuntimeError:  # newer releases say so themselves
        found = Path()
    if not found.is_absolute():
        raise StorageError("this user has no data directory; set HOME or pass data_dir")
    return found


def holds_device(directory: Path) -> bool:
    """Tell whether a device has kept anything here; a first start cut short leaves an empty file."""
    database = directory / DATABASE
    return (directory / MARKER).exists() or (database.exists() and database.stat().st_size > 0)


def in_the_way(directory: Path) -> str:
    """Say what is no plain file where the database has its own, or "": a pipe is waited for without end."""
    for ending in ENDINGS:
        place = f"{directory / DATABASE}{ending}"
        with suppress(OSError):
            if not stat.S_ISREG(os.stat(place).st_mode):  # noqa: PTH116 - at each record, and Path is slow
                return f"{place} is no plain file and would hold up this app; take it away"
    return ""


def refusal(directory: Path) -> str:
    """Say why nothing can be kept here, or "" if it can, as far as a look tells that makes nothing."""
    nearest = directory
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        return f"{nearest} is no directory, so nothing can be kept in {directory}"
    can_act = os.access in os.supports_effective_ids
    for place, mode in ((nearest, os.W_OK | os.X_OK), (directory / DATABASE, os.W_OK)):
        if os.path.lexists(place) and not os.access(place, mode, effective_ids=can_act):
            return f"this user may not write to {place}, so nothing can be kept in {directory}"
    return in_the_way(directory)


def make_private(directory: Path) -> None:
    """Create a directory, and what is missing above it, for its owner alone.

    Raises OSError.
    """
    if not directory.parent.exists():
        make_private(directory.parent)
    directory.mkdir(mode=0o700, exist_ok=True)
