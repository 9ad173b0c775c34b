"""This file draws sets of categories of one size: a given one is a member or not, the others are uniform.

Members are drawn one by one, or many at once and counted; a category that is in the set already is drawn
again. That is exact: whoever renames the other categories renames every draw, and what becomes of a draw
depends only on whether it is in the set. So no set of the size is likelier than another.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import Bools, Bytes, Coins, Ints, integers

_DIGITS = 6


def sparse_sets(held: Ints, is_member: Bools, *, k: int, size: int, coins: Coins) -> NDArray[np.uint16]:
    """Return the members in ascending order, shape (rows, size): for sets of few.

    held: a category for each row. is_member: whether it is in the row's set.
    """
    rows = held.size
    members = integers(k - 1, rows * size, coins).astype(np.uint16).reshape(rows, size)
    members += members >= held[:, None]
    unfinished = np.arange(rows)
    while unfinished.size:
        some = np.sort(members[unfinished], axis=1)
        row, column = (some[:, 1:] == some[:, :-1]).nonzero()
        again = integers(k - 1, row.size, coins).astype(np.uint16)
        again += again >= held[unfinished[row]]
        some[row, column] = again
        members[unfinished] = some
        unfinished = unfinished[np.unique(row)]
    replaced = integers(size, rows, coins)  # a uniform one of the others makes room
    members[is_member, replaced[is_member]] = held[is_member]
    members.sort(axis=1)
    return members


def packed_sets(held: Ints, is_member: Bools, *, k: int, size: int, coins: Coins) -> Bytes:
    """Return a bit for each category, lowest bit first, shape (rows, bytes): for sets of many.

    Most members are drawn at once, each category with a chance that seldom makes them too many; sets of too
    many are drawn again, and what is missing is filled up. Neither looks at which categories they are.
    """
    rows, width = held.size, 64 * -(-k // 64)  # whole words of bits
    chance = max(0, int((size - 1 - math.sqrt(size)) * 2**_DIGITS / k))
    targets = size + 1 - is_member  # the given category is counted in until the end, so that none draws it
    within = np.packbits(np.arange(width) < k, bitorder="little")

    def begun(some: Ints) -> Bytes:
        bits = _flips(chance, some.size * within.size, coins).reshape(some.size, -1) & within
        given = held[some]
        bits[np.arange(some.size), given // 8] |= np.left_shift(1, given % 8).astype(np.uint8)
        return bits

    every = np.arange(rows)
    bits = begun(every)
    missing = targets - _sizes(bits)
    while (over := (missing < 0).nonzero()[0]).size:
        bits[over] = begun(over)
        missing[over] = targets[over] - _sizes(bits[over])
    chosen = np.unpackbits(bits, axis=1, bitorder="little")
    cells, unfinished = chosen.reshape(-1), every
    while (short := missing.nonzero()[0]).size:
        unfinished = unfinished[short]
        drawn = np.repeat(unfinished * width, missing[short])
        drawn += integers(k, drawn.size, coins).astype(np.int64)
        cells[drawn] = 1
        missing = targets[unfinished] - _sizes(np.packbits(chosen.take(unfinished, axis=0), axis=1))
    chosen[every, held] = is_member
    return np.packbits(chosen[:, :k], axis=1, bitorder="little")


def _flips(chance: int, size: int, coins: Coins) -> Bytes:
    """Return bytes of independent bits, each set with probability chance / 64."""
    bits = np.zeros(size, dtype=np.uint8)
    for digit in range(_DIGITS if chance else 0):  # the last one first: each halves the chance, or adds 1/2
        combine: Any = np.bitwise_or if chance >> digit & 1 else np.bitwise_and
        bits = combine(bits, coins.words(size))
    return bits


def _sizes(bits: Bytes) -> Ints:
    """Count the bits of each row of whole words."""
    counts = np.bitwise_count(bits.view(np.uint64))
    return counts @ np.ones(counts.shape[1], dtype=np.int64)
