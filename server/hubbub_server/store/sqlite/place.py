"""This file notices that a SQLite file, its log or the log's index was moved, deleted or replaced.

What is written into a file that no path leads to is lost with its process, whatever SQLite says.
"""

import os
import time
from contextlib import suppress
from pathlib import Path

from hubbub.errors import StorageError

SETTLED = 2 * 10**9  # nanoseconds until a change has another time than the last, on whatever file system

Identity = tuple[int, int]


class Place:
    """Where a database is, and which files were there when it was opened.

    Every look at a file lets other threads take the interpreter. So the directory is looked at first: while
    its time of change stands, and is so old that it hides no other change, nothing in it has moved.

    Raises OSError if there is no such file.
    """

    __slots__ = ("_directory", "_file", "_real", "_seen", "_sides", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._directory = None if path.is_symlink() else path.parent  # a link may come to lead elsewhere
        self._real = os.path.realpath(path)  # which is where SQLite has the log
        self._file = _identity(path.stat())
        self._sides: tuple[Identity, ...] = ()  # of log and index, while SQLite has them open
        self._seen: tuple[
            int, ...
        ] = ()  # of the directory when all was last looked at, or none if it is young

    def check(self) -> None:
        """Raise StorageError if what is written would not be found again."""
        seen = self._settled()
        if seen and seen == self._seen:
            return
        if self._file != _found(self.path):
            raise StorageError(
                f"the database {self.path} was moved, deleted or replaced; "
                "put it back, or restart on the right one"
            )
        if self._sides and self._sides != self._find_sides():
            raise StorageError(
                f"the log {self.path}-wal or its index {self.path}-shm was moved, deleted or replaced; "
                "stop every process that has the database open, then start the collector again"
            )
        self._seen = seen

    def learn_sides(self) -> None:
        """Note which log and index SQLite has open by now, unless that is known."""
        if not self._sides:
            self._seen, self._sides = (), self._find_sides()

    def forget_sides(self) -> None:
        """Note that SQLite has none open any more."""
        self._seen, self._sides = (), ()

    def _settled(self) -> tuple[int, ...]:
        """Return which directory this is and when it was changed, or nothing if that was a moment ago."""
        with suppress(OSError):
            if self._directory:
                found = os.stat(self._directory)  # noqa: PTH116 - twice for each request
                times = found.st_mtime_ns, found.st_ctime_ns  # the first is whatever rsync or tar sets it to
                if time.time_ns() - max(times) > SETTLED:
                    return *_identity(found), *times
        return ()

    def _find_sides(self) -> tuple[Identity, ...]:
        """Find log and index; nothing unless both are there, as they are not without a log."""
        found = tuple(filter(None, (_found(f"{self._real}{end}") for end in ("-wal", "-shm"))))
        return found if len(found) == 2 else ()


def _found(path: Path | str) -> Identity | None:
    with suppress(OSError):
        return _identity(os.stat(path))  # noqa: PTH116 - and Path is slow
    return None


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino
