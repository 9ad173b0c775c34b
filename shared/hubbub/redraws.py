"""This file draws for what is worked out from a tally afterwards: the same tally draws the same.

No privacy rests on these draws, for what is drawn is compared with an estimate and thrown away.
"""

import hashlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hubbub.probability import Real

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Redraws:
    """Simulation coins that depend on some counts alone.

    >>> Redraws.of(np.array([5, 6])).words(3).tolist() == Redraws.of(np.array([5, 6])).words(3).tolist()
    True
    """

    generator: np.random.Generator = field(repr=False)

    @classmethod
    def of(cls, counts: Ints) -> "Redraws":
        """Return coins for counts."""
        digest = hashlib.sha256(counts.astype("<i8").tobytes()).digest()
        return cls(np.random.Generator(np.random.SFC64(int.from_bytes(digest))))

    def words(self, size: int) -> NDArray[np.uint8]:
        """Return the next ``size`` bytes."""
        return np.frombuffer(self.generator.bytes(size), dtype=np.uint8)

    def binomial(self, n: Ints, p: Real) -> Ints:
        """Return how many of n flips of bias p are heads, for each n."""
        return self.generator.binomial(n, float(p))

    def multinomial(self, n: int, probabilities: NDArray[np.float64]) -> Ints:
        """Return how many of n things fall into each cell, shape (cells,)."""
        return self.generator.multinomial(n, probabilities)
