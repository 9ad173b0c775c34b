"""This file puts the reports of a cell in random order, so that nobody sees which came in one batch.

A cell that is too large for memory is scattered over many parts of a temporary file first, each report into
one that is drawn, and every part is then shuffled alone: any order is as likely as any other.
"""

import os
from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import StorageError

LARGEST = 2**24  # bytes of reports that are shuffled in memory
MOST = 2**18  # reports likewise, since each needs a random number

Reports = NDArray[Any]


def shuffled(portions: Iterable[bytes], layout: "np.dtype[Any]", *, n: int) -> Iterator[Reports]:
    """Yield all reports of a cell in random order, some at a time.

    n: how many there are, about: it says into how many parts they are scattered.

    Raises StorageError without room for that.
    """
    size = layout.itemsize
    parts = -(-n * size // LARGEST) + n // MOST
    if parts <= 1:
        yield _permuted(b"".join(portions), layout)
        return
    try:
        yield from _scattered(portions, layout, parts=parts)
    except OSError as error:
        raise StorageError(f"an export needs room for temporary files: {error.strerror}") from error


def _scattered(portions: Iterable[bytes], layout: "np.dtype[Any]", *, parts: int) -> Iterator[Reports]:
    size = layout.itemsize
    with TemporaryFile() as file:
        places: list[list[tuple[int, int]]] = [[] for _ in range(parts)]
        end = 0
        for portion in _gathered(portions, min(LARGEST // size, MOST) * size):
            reports = np.frombuffer(portion, dtype=f"V{size}")
            into = _random(reports.size) % np.uint64(parts)
            for part in np.unique(into).tolist():
                chosen = reports[into == part].tobytes()
                file.write(chosen)
                places[part].append((end, len(chosen)))
                end += len(chosen)
        for own in places:
            pieces = []
            for start, length in own:
                file.seek(start)
                pieces.append(file.read(length))
            yield _permuted(b"".join(pieces), layout)


def _gathered(portions: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the same bytes in pieces of a size, the last maybe shorter."""
    waiting = bytearray()
    for portion in portions:
        waiting += portion
        while len(waiting) >= size:
            yield bytes(waiting[:size])
            del waiting[:size]
    if waiting:
        yield bytes(waiting)


def _permuted(reports: bytes, layout: "np.dtype[Any]") -> Reports:
    size = layout.itemsize
    rows = np.frombuffer(reports, dtype=f"V{size}")
    mixed = rows[np.argsort(_random(rows.size))]
    return np.frombuffer(mixed.tobytes(), dtype=layout)


def _random(count: int) -> NDArray[np.uint64]:
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
