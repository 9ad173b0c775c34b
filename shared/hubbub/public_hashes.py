"""This file holds the public hash functions of texts: nothing but SHAKE-128 (FIPS 202), which never changes.

Hash j of a row of bytes is word j of the endless output of SHAKE-128 on "hubbub text", a number of one byte
that keeps families of hashes apart, and the row: 32 bits, little-endian. Into m symbols it goes as the whole
part of m word / 2^32, so that a symbol is by at most 2^-32 likelier than another.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import DomainError
from hubbub.texts import padded

Rows = NDArray[np.uint8]  # shape (n, length)
Ints = NDArray[np.int64]
Words = NDArray[np.uint32]

MOST_CELLS = 1 << 21  # hashes times symbols

_PREFIX = b"hubbub text"
_AT_ONCE = 1 << 20  # words held at a time


def check_sketch(hashes: int, width: int) -> None:
    """Refuse numbers of hashes and of symbols that a sketch can't have.

    Raises DomainError.
    """
    if isinstance(hashes, bool) or not isinstance(hashes, int) or not 1 <= hashes <= 65_536:
        raise DomainError(f"hashes must be an integer from 1 to 65536, got {hashes}")
    if isinstance(width, bool) or width not in {1 << power for power in range(1, 17)}:
        raise DomainError(f"width must be a power of two from 2 to 65536, got {width}")
    if hashes * width > MOST_CELLS:
        raise DomainError(f"hashes times width must be at most {MOST_CELLS}, got {hashes * width}")


def rows_of_texts(texts: Sequence[str], length: int) -> Rows:
    """Return texts that are asked for as rows of bytes.

    Raises DomainError for one that no device can hold.
    """
    joined = b"".join(padded(text, length) for text in texts)
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, length)


def rows_of_bytes(values: NDArray[Any], length: int) -> Rows:
    """Return values as rows of bytes, refusing what is none.

    Raises DomainError, naming no value.
    """
    rows = np.asarray(values)
    if rows.ndim != 2 or rows.shape[1] != length or rows.dtype.kind not in "iu":
        raise DomainError(f"texts must be rows of {length} integers")
    if rows.size and not (rows.min() >= 0 and rows.max() < 256):
        raise DomainError("the bytes of a text must be from 0 to 255")
    return rows.astype(np.uint8)


def words(row: bytes, count: int, *, family: int = 0) -> Words:
    """Return hashes 0 to ``count`` - 1 of a row.

    >>> words(b"linux", 2).tolist()
    [406533198, 1283437850]
    """
    hashed: Words = _all_words(np.frombuffer(row, dtype=np.uint8)[None], count, family)[0]
    return hashed


def symbols(rows: Rows, count: int, size: int, *, family: int = 0) -> Ints:
    """Return hashes 0 to ``count`` - 1 of all rows, each one of ``size`` symbols, shape (n, count)."""
    return _into(_all_words(rows, count, family), size)


def chosen_symbols(rows: Rows, which: Ints, count: int, size: int, *, family: int = 0) -> Ints:
    """Return one hash of each row, of ``count`` that there are, as one of ``size`` symbols, shape (n,).

    Equal rows that stand together are hashed once.
    """
    starts = np.ones(len(rows), dtype=np.bool_)
    starts[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    kinds, of = rows[starts], np.cumsum(starts) - 1
    chosen = np.empty(len(rows), dtype=np.uint32)
    for first in range(0, len(kinds), max(1, _AT_ONCE // count)):
        some = kinds[first : first + max(1, _AT_ONCE // count)]
        here = slice(*np.searchsorted(of, [first, first + len(some)]))
        chosen[here] = _all_words(some, count, family)[of[here] - first, which[here]]
    return _into(chosen, size)


def _all_words(rows: Rows, count: int, family: int) -> Words:
    begun = hashlib.shake_128(_PREFIX + bytes([family]))
    data, length = rows.tobytes(), rows.shape[1]
    digests = []
    for start in range(0, len(data), length):
        hashed = begun.copy()
        hashed.update(data[start : start + length])
        digests.append(hashed.digest(4 * count))
    return np.frombuffer(b"".join(digests), dtype="<u4").reshape(len(rows), count)


def _into(hashed: Words, size: int) -> Ints:
    return (hashed.astype(np.int64) * size) >> 32
