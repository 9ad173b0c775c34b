"""This file draws normal variables as floats, for mechanisms that claim nothing exact, and no others."""

import math

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import Coins

Floats = NDArray[np.float64]


def uniforms(size: int, coins: Coins) -> Floats:
    """Draw uniform floats in (0, 1), shape (size,)."""
    digits = (coins.words(8 * size).view("<u8") >> np.uint64(12)).astype(np.float64)
    return (digits + 0.5) * 2.0**-52


def normals(size: int, coins: Coins) -> Floats:
    """Draw standard normal floats, shape (size,): two at a time (Box, Muller 1958)."""
    pairs = -(-size // 2)
    lengths = np.sqrt(-2 * np.log(uniforms(pairs, coins)))
    angles = 2 * math.pi * uniforms(pairs, coins)
    return np.concatenate([lengths * np.cos(angles), lengths * np.sin(angles)])[:size]


def above(bound: float, size: int, coins: Coins) -> Floats:
    """Draw standard normal floats that are above a bound of 0 or more (Marsaglia 1964)."""
    drawn = np.empty(size)
    missing = np.arange(size)
    while missing.size:
        if bound < 1:  # where one magnitude in three or more is
            tried = np.abs(normals(missing.size, coins))
            is_taken = tried > bound
        else:
            tried = np.sqrt(bound**2 - 2 * np.log(uniforms(missing.size, coins)))
            is_taken = uniforms(missing.size, coins) * tried < bound
        drawn[missing] = tried
        missing = missing[~is_taken]
    return drawn


def at_most(bound: float, size: int, coins: Coins) -> Floats:
    """Draw standard normal floats that are at most a bound of 0 or more."""
    drawn = normals(size, coins)
    missing = np.flatnonzero(drawn > bound)
    while missing.size:
        drawn[missing] = normals(missing.size, coins)
        missing = missing[drawn[missing] > bound]
    return drawn
