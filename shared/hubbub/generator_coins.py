"""This file holds the coins of a seeded generator: for simulations, and for what a tally is judged by.

They are no secret, so a device never has any. What is worked out from a tally draws by a seed that is made of
the tally, so that the same reports have the same answer. Who knows them all knows these draws, which is of no
use: they decide a little of how an estimate is smoothed and how large its error is said to be, and a report
that is made up moves both by more than it could by the draws that follow from it.
"""

import hashlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hubbub.probability import Real

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GeneratorCoins:
    """A generator's words, and its binomial and multinomial draws.

    Its generator moves on with each draw, so coins are not for sharing between threads.
    """

    generator: np.random.Generator = field(repr=False)

    @classmethod
    def of(cls, seed: int) -> "GeneratorCoins":
        """Return coins that fall the same way for the same seed, of any size."""
        return cls(np.random.Generator(np.random.SFC64(seed)))

    @classmethod
    def of_tally(cls, counts: Ints) -> "GeneratorCoins":
        """Return coins that fall the same way for the same counts.

        >>> one, other = (GeneratorCoins.of_tally(np.array([5, 6])).words(3).tolist() for _ in range(2))
        >>> one == other
        True
        """
        return cls.of(int.from_bytes(hashlib.sha256(counts.astype("<i8").tobytes()).digest()))

    def words(self, size: int) -> NDArray[np.uint8]:
        """Return the next ``size`` bytes."""
        raw = self.generator.bit_generator.random_raw(-(-size // 8))
        return np.asarray(raw, dtype="<u8").view(np.uint8)[:size]

    def binomial(self, n: Ints, p: Real) -> Ints:
        """Return how many of n flips of bias p are heads, for each n."""
        return self.generator.binomial(n, float(p))

    def multinomial(self, n: int, probabilities: NDArray[np.float64]) -> Ints:
        """Return how many of n things fall into each cell, shape (cells,)."""
        return self.generator.multinomial(n, probabilities)
