"""This file knows where a device keeps its files: ``<user data dir>/hubbub/<app>``."""

from pathlib import Path

from hubbub.errors import StorageError

DATABASE = "device.sqlite3"
MARKER = "device.marker"


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


def make_private(directory: Path) -> None:
    """Create a directory, and what is missing above it, for its owner alone.

    Raises OSError.
    """
    if not directory.parent.exists():
        make_private(directory.parent)
    directory.mkdir(mode=0o700, exist_ok=True)
