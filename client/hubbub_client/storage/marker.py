"""This file holds the marker: the second file, by which a deleted, restored or copied database is noticed.

It says how far the database had come when it was last written. Two records are written in turn, each in a
sector of its own and with a checksum: one of them is whole wherever a write is cut short, and neither needs
space on a full disk.
"""

import hashlib
import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

_NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)  # a pipe in the marker's place would hold up an app for ever
_SECTOR = 512
_RECORD = struct.Struct("<QQQQQ32s")  # turn, generation, spent, delta, file, head
_CHECK = 16
_MOST = 2**63 - 1  # that a database can count to: a record that says more is none of ours


@dataclass(frozen=True, slots=True)
class Mark:
    """What the marker says of the database.

    generation: how many rows its journal has. spent, delta: what they cost, in millionths of epsilon and in
    units of 10**-18. file: the database's number in its file system, or 0 if it has none. head: the last link
    of the journal's chain.
    """

    generation: int
    spent: int
    delta: int
    file: int
    head: bytes


def read_mark(marker: Path) -> Mark | None:
    """Return what the marker says, or None if there is none, or none that is whole.

    Raises OSError if it can't be read.
    """
    return _newest(_content(marker))[2]


def write_mark(marker: Path, mark: Mark) -> None:
    """Let the marker say how far the database has come; the caller holds the database's lock.

    Without the lock a slow caller could take back what a later one has written.

    Raises OSError.
    """
    turn, place, last = _newest(_content(marker))
    packed = _RECORD.pack(turn + 1, mark.generation, mark.spent, mark.delta, mark.file, mark.head)
    record = packed + _checksum(packed)
    if last is None:
        _create(marker, record.ljust(2 * _SECTOR, b"\0"))
        return
    with open(marker, "r+b", buffering=0, opener=_open_at_once) as file:
        file.seek(_SECTOR - place)
        file.write(record)


def _content(marker: Path) -> bytes:
    try:
        with open(marker, "rb", buffering=0, opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(f"{marker} is not a plain file")
            return file.read(2 * _SECTOR) or b""
    except FileNotFoundError:
        return b""


def _newest(content: bytes) -> tuple[int, int, Mark | None]:
    """Return the turn, the place and the words of the record that was written last and is whole."""
    found: tuple[int, int, Mark | None] = (0, 0, None)
    for place in (0, _SECTOR):
        packed = content[place : place + _RECORD.size]
        if packed and content[place + _RECORD.size :][:_CHECK] == _checksum(packed):
            turn, *words = _RECORD.unpack(packed)
            if found[0] < turn <= _MOST and max(words[:3]) <= _MOST:
                found = (turn, place, Mark(*words))
    return found


def _checksum(packed: bytes) -> bytes:
    return hashlib.sha256(packed).digest()[:_CHECK]


def _create(marker: Path, content: bytes) -> None:
    """Write a new marker, which appears at once or not at all."""
    draft = marker.with_name(f"{marker.name}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_WAIT, 0o600)
    try:
        os.write(handle, content)
        os.fsync(handle)
    finally:
        os.close(handle)
    draft.replace(marker)


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_WAIT)
