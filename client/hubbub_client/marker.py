"""This file holds the marker: the second file, by which a deleted or restored database is noticed.

It names the database by its random identity, and its length says how many charges that database has seen: a
length can't be half written, and needs no space on a full disk.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from hubbub_client.location import MARKER

_NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)  # a pipe in the marker's place would hold up an app for ever


@dataclass(frozen=True, slots=True)
class Mark:
    """What the marker says: which database belongs here, and how many charges it must hold at least."""

    identity: bytes
    charges: int


def read_mark(directory: Path) -> Mark | None:
    """Return what the marker says, or None if there is none.

    Raises OSError if it can't be read.
    """
    try:
        with open(directory / MARKER, "rb", buffering=0, opener=_open_at_once) as file:
            identity = file.read(32) or b""
            return Mark(identity, os.fstat(file.fileno()).st_size - len(identity))
    except FileNotFoundError:
        return None


def write_mark(directory: Path, identity: bytes) -> None:
    """Create the marker of a database without charges; its 32 bytes appear at once or not at all."""
    draft = directory / f"{MARKER}.new"
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_WAIT, 0o600)
    try:
        os.write(handle, identity)
        os.fsync(handle)
    finally:
        os.close(handle)
    draft.replace(directory / MARKER)


def raise_mark(directory: Path, charges: int) -> None:
    """Let the marker's length say how many charges were committed; the caller holds the database's lock.

    Without the lock a slow caller could lower what a later one has raised.
    """
    os.truncate(directory / MARKER, 32 + charges)


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_WAIT)
