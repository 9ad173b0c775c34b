"""This file counts the processes that serve on one SQLite file: each has locked a byte of a file beside it.

The system gives a lock back when its process ends, however it ends.
"""

import os
import threading
from pathlib import Path

from hubbub.errors import StorageError

MOST = 256  # processes that are told apart


class Presence:
    """The places that processes hold. A child of a fork takes one of its own."""

    __slots__ = ("_locks", "_path", "_places")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._locks: dict[int, threading.Lock] = {}  # by process id, as a fork may copy one that is held
        self._places: dict[int, tuple[int, int]] = {}  # by process id: open file, and place

    def count(self) -> int:
        """Return how many processes asked this and still run, this one included; 1 without such locks.

        Raises StorageError if the file can't be used.
        """
        if os.name != "posix":
            return 1
        with self._locks.setdefault(os.getpid(), threading.Lock()):
            try:
                file, mine = self._places.get(os.getpid()) or self._take()
                others = [place for place in range(MOST) if place != mine]
                return 1 + sum(not _lock(file, place, keep=False) for place in others)
            except OSError as error:
                raise StorageError(f"{self._path} can't be used: {error.strerror}") from None

    def leave(self) -> None:
        """Give back the place of this process."""
        file, _ = self._places.pop(os.getpid(), (None, 0))
        if file is not None:
            os.close(file)

    def _take(self) -> tuple[int, int]:
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        mine = next((place for place in range(MOST) if _lock(file, place, keep=True)), MOST)
        self._places[os.getpid()] = file, mine
        return file, mine


def _lock(file: int, place: int, *, keep: bool) -> bool:
    """Tell whether a byte could be locked: for good, or shared and for a moment, which disturbs no other."""
    import fcntl  # noqa: PLC0415 - which not every system has

    try:
        fcntl.lockf(file, (fcntl.LOCK_EX if keep else fcntl.LOCK_SH) | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):
        return False
    if not keep:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)
    return True
