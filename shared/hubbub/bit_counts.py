"""This file counts, for each bit position, how many of many packed rows have it set.

Rows are added up in binary, 64 positions to a word: a full adder turns three rows of one weight into a row of
that weight and a row of carries, which weigh twice as much (Harley and Seal, in Warren, "Hacker's Delight",
2012, 5-1).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import slices

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_CHUNK = 1 << 19  # bytes added up at a time


def count_bits(rows: NDArray[Any]) -> Ints:
    """Return how often each bit is set in rows of bytes, lowest bit of each byte first, shape (8 * width,).

    >>> count_bits(np.array([[0b0101], [0b0001]], dtype=np.uint8)).tolist()
    [2, 0, 1, 0, 0, 0, 0, 0]
    """
    height, width = rows.shape
    joined = 8 // math.gcd(width, 8)  # that many rows fill whole words
    whole = height - height % joined
    counts: Ints = _unpacked(rows[whole:]).sum(axis=0, dtype=np.int64)
    words = np.ascontiguousarray(rows[:whole]).reshape(-1).view(np.uint64).reshape(-1, width * joined // 8)
    for some in slices(len(words), max(1, _CHUNK // 8 // words.shape[1])):
        counts += _added(words[some].copy()).reshape(joined, -1).sum(axis=0)
    return counts


def _added(words: Words) -> Ints:
    """Return how often each bit of a row is set, destroying the rows."""
    counts = np.zeros(64 * words.shape[1], dtype=np.int64)
    weight = 0
    while len(words):
        words, carries = _reduced(words)
        counts += _unpacked(words.view(np.uint8)).sum(axis=0, dtype=np.int64) << weight
        words, weight = carries, weight + 1
    return counts


def _reduced(words: Words) -> tuple[Words, Words]:
    """Add rows up to at most two of their weight, and return these and the carries."""
    carries = np.empty((len(words) // 2, words.shape[1]), dtype=np.uint64)
    filled = 0
    while len(words) > 2:
        third = len(words) // 3
        a, b, c = words[:third], words[third : 2 * third], words[2 * third : 3 * third]
        carry = carries[filled : filled + third]
        np.bitwise_and(a, b, out=carry)
        np.bitwise_xor(a, b, out=a)
        np.bitwise_and(a, c, out=b)
        np.bitwise_or(carry, b, out=carry)
        np.bitwise_xor(a, c, out=a)
        rest = words[3 * third :]
        words[third : third + len(rest)] = rest
        words, filled = words[: third + len(rest)], filled + third
    return words, carries[:filled]


def _unpacked(rows: NDArray[Any]) -> NDArray[np.uint8]:
    return np.unpackbits(rows, axis=1, bitorder="little")
