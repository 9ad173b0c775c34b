"""This file turns reports into bytes and back: a batch is an id and columns of fixed-width reports.

One binary form is canonical and carries the digest; ``batch_json`` is the same data model for people and for
other languages. Layout, little-endian, no padding::

    48 42 42 01                 "HBB", version 1
    id                          16 random bytes
    columns             u16     1 to 1024, and for each:
        metric                  32 bytes, the metric's id
        period          i32     0 or more
        labels          u8      how many, 0 to 2, and one byte each: the position of the label's value
        count           u32     how many reports, 1 or more
        size            u32     bytes that follow, a multiple of count
        reports                 back to back, each size / count bytes wide
"""

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

from hubbub.errors import BatchError

MAGIC = b"HBB\x01"
BINARY = "application/vnd.hubbub.batch"  # content type
MOST_COLUMNS = 1024
_HEAD = struct.Struct("<4s16sH")
_COLUMN = struct.Struct("<32siB")
_REPORTS = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Column:
    """Reports of one metric, period and combination of labels.

    metric: the id, 32 bytes. labels: positions in each label's list of values. reports: count x width bytes.
    """

    metric: bytes
    period: int
    labels: tuple[int, ...]
    count: int
    reports: bytes

    def __post_init__(self) -> None:
        facts = (
            (len(self.metric) == 32, "a metric id has 32 bytes"),
            (0 <= self.period < 2**31, "a period is a whole number from 0"),
            (len(self.labels) <= 2, "a column has at most 2 labels"),
            (all(0 <= label < 32 for label in self.labels), "a label's position is from 0 to 31"),
            (1 <= self.count < 2**32, "a column has at least one report"),
            (1 <= len(self.reports) < 2**32, "a column has at least one byte of reports"),
            (
                self.count > 0 and len(self.reports) % self.count == 0,
                "all reports of a column are equally wide",
            ),
        )
        for holds, rule in facts:
            if not holds:
                raise BatchError(f"{rule}; this column breaks that")

    @property
    def width(self) -> int:
        """Bytes of one report."""
        return len(self.reports) // self.count


@dataclass(frozen=True, slots=True)
class Batch:
    """Reports that travel together.

    id: 16 random bytes, drawn once, so that a retry can be told from a new batch.

    >>> batch = Batch(bytes(16), (Column(bytes(32), 2969, (), 3, bytes([1, 0, 1])),))
    >>> decode(encode(batch)) == batch
    True
    """

    id: bytes
    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if len(self.id) != 16:
            raise BatchError(f"a batch id has 16 bytes, got {len(self.id)}")
        if not 1 <= len(self.columns) <= MOST_COLUMNS:
            raise BatchError(f"a batch has 1 to {MOST_COLUMNS} columns, got {len(self.columns)}")


def encode(batch: Batch) -> bytes:
    """Return the canonical bytes of a batch."""
    parts = [_HEAD.pack(MAGIC, batch.id, len(batch.columns))]
    for column in batch.columns:
        parts.append(_COLUMN.pack(column.metric, column.period, len(column.labels)))
        parts.append(bytes(column.labels))
        parts.append(_REPORTS.pack(column.count, len(column.reports)))
        parts.append(column.reports)
    return b"".join(parts)


def decode(data: bytes) -> Batch:
    """Read a batch from its canonical bytes.

    Raises BatchError if they are anything else, a batch of another version included.
    """
    reader = _Reader(data)
    magic, batch_id, columns = reader.take(_HEAD)
    if magic[:3] != MAGIC[:3]:
        raise BatchError("these bytes are not a batch: they do not begin with HBB")
    if magic != MAGIC:
        raise BatchError(f"batch version {magic[3]} is not known here, 1 is", code="unknown_version")
    batch = Batch(batch_id, tuple(_column(reader) for _ in range(columns)))
    if reader.at != len(data):
        raise BatchError(f"{len(data) - reader.at} bytes follow the last column")
    return batch


def digest(batch: Batch) -> bytes:
    """Return the SHA-256 of the canonical bytes: JSON, gzip and padded forms of a batch share it."""
    return hashlib.sha256(encode(batch)).digest()


def _column(reader: "_Reader") -> Column:
    metric, period, labels = reader.take(_COLUMN)
    positions = tuple(reader.bytes(labels))
    count, size = reader.take(_REPORTS)
    return Column(metric, period, positions, count, reader.bytes(size))


class _Reader:
    """Walk through bytes and refuse to read past their end."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def bytes(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise BatchError(f"the batch ends after {len(self.data)} bytes, in the middle of a column")
        self.at += size
        return self.data[self.at - size : self.at]

    def take(self, form: struct.Struct) -> tuple[Any, ...]:
        return form.unpack(self.bytes(form.size))
