"""This file names what statistical tests share: how far is too far, and the distances themselves.

Each test fails by chance less than once in a million runs; a test of several comparisons shares that out.
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Z = 6.0  # standard errors: a normal variable is further off twice in 10**9
CHANCE = 1e-8  # of one chi-square comparison
FEW = 10  # expected observations below which cells are pooled


def far(observed: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many standard errors the mean of replicates (rows) lies from the truth."""
    stderr = observed.std(axis=0, ddof=1) / math.sqrt(len(observed))
    return np.abs(observed.mean(axis=0) - truth) / np.maximum(stderr, 1e-12)


def far_in_variance(errors: NDArray[np.float64], promised: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many standard errors, by the fourth moment, the mean squared error lies from the promise."""
    return far(errors**2, promised)


def chi_square_excess(observed: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """Return chi-square over the value that it passes with probability CHANCE: above 1 is too far."""
    order = np.argsort(expected)
    observed, expected = observed[order], expected[order]
    starts = np.unique((np.cumsum(expected) / (2 * FEW)).astype(int), return_index=True)[1]
    if starts.size > 1 and expected[: starts[1]].sum() < FEW:
        starts = np.delete(starts, 1)
    seen, due = np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)
    degrees = max(1, seen.size - 1)
    spread = 2 / (9 * degrees)
    limit = degrees * (1 - spread + NormalDist().inv_cdf(1 - CHANCE) * math.sqrt(spread)) ** 3
    return float(((seen - due) ** 2 / due).sum() / limit)  # limit: Wilson and Hilferty 1931


def support_law(n: int, holders: int, p: float, q: float) -> NDArray[np.float64]:
    """Return the law of the number of n reports that support what so many people hold, shape (n + 1,)."""
    return np.convolve(_binomial(holders, p), _binomial(n - holders, q))


def _binomial(n: int, p: float) -> NDArray[np.float64]:
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    k = np.arange(n + 1)
    return np.exp(logs[n] - logs - logs[::-1] + k * math.log(p) + (n - k) * math.log1p(-p))
