"""This file cuts rows of bytes to prefixes of so many bits, and extends them by all bits that can follow."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hubbub.public_hashes import Rows


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Prefixes of rows of ``length`` bytes: ``start`` bits, ``step`` more and so on, and twice the whole row.

    The first bit is the highest of the first byte. A prefix is a row with zeros behind.
    """

    length: int
    start: int
    step: int

    @property
    def bits(self) -> tuple[int, ...]:
        """How many bits each prefix has.

        >>> Prefixes(2, 6, 4).bits
        (6, 10, 14, 16, 16)
        """
        whole = 8 * self.length
        return (*range(self.start, whole, self.step), whole, whole)

    def searched(self, kept: int) -> int:
        """Return how many prefixes are looked at where ``kept`` of each length are extended.

        >>> Prefixes(2, 6, 4).searched(32)
        1216
        """
        *found, _ = self.bits
        return int(2 ** found[0] + sum(kept << (end - first) for first, end in pairwise(found)))

    @property
    def root(self) -> Rows:
        """The prefix of no bits, shape (1, length)."""
        return np.zeros((1, self.length), dtype=np.uint8)

    def cut(self, rows: Rows, level: int) -> Rows:
        """Return the prefixes of rows, ``bits[level]`` long."""
        return rows & np.packbits(np.arange(8 * self.length) < self.bits[level])

    def extended(self, prefixes: Rows, level: int) -> Rows:
        """Return all extensions of prefixes of the level before, ``bits[level]`` long.

        >>> Prefixes(1, 6, 2).extended(np.array([[128]], dtype=np.uint8), 1).tolist()
        [[128], [129], [130], [131]]
        """
        first, end = (self.bits[level - 1] if level else 0), self.bits[level]
        tails = np.zeros((1 << (end - first), 8 * self.length), dtype=np.uint8)
        tails[:, first:end] = np.arange(len(tails))[:, None] >> np.arange(end - first)[::-1] & 1
        joined = prefixes[:, None, :] | np.packbits(tails, axis=1)
        return joined.reshape(-1, self.length)
