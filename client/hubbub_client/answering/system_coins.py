"""This file holds a device's coins: fresh words of the operating system for each call.

There is no state, so nothing is shared after a fork, and no seed to hand in.
"""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_BULK = 4096  # bytes: a key for fewer is not worth its while


@dataclass(frozen=True, slots=True)
class SystemCoins:
    """The operating system's randomness."""

    def words(self, size: int) -> NDArray[np.uint8]:
        """Return ``size`` fresh bytes."""
        if size < _BULK:
            return np.frombuffer(os.urandom(size), dtype=np.uint8)
        from hubbub_client.answering.bulk_words import bulk_words  # noqa: PLC0415 - may import a cipher, for batches only

        return np.frombuffer(bulk_words(size), dtype=np.uint8)


def system_coins() -> SystemCoins:
    """Return the coins that a device flips."""
    return SystemCoins()
