"""This file holds the coins of simulations and tests: the same law as a device's, from a seed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.probability import Real

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SeededCoins:
    """A generator's words, and its binomial and multinomial draws.

    Its generator moves on with each draw, so coins are not for sharing between threads.
    """

    generator: np.random.Generator

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


def seeded_coins(seed: int) -> SeededCoins:
    """Return coins that fall the same way for the same seed.

    >>> seeded_coins(7).words(4).tolist() == seeded_coins(7).words(4).tolist()
    True
    """
    return SeededCoins(np.random.Generator(np.random.SFC64(seed)))
