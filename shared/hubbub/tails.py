"""This file bounds how likely a sum of coins goes as far as it did, from above and by a few percent at most.

Of a binomial law the probability of the count itself is written with Stirling's series, whose error Robbins
enclosed ("A remark on Stirling's formula", American Mathematical Monthly 1955), in the form of Loader, "Fast
and accurate computation of binomial probabilities", 2000. Each further probability is smaller by a ratio that
falls, so that a geometric sum bounds the tail. All chances are natural logarithms, since most are too small
to be written otherwise, and every function returns an upper bound.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Coins = Sequence[tuple[int, float]]  # numbers of tries, and the chance of each

_FURTHEST = 60.0  # the steepest tilt of a sum that is tried


def binomial_at_least(counts: ArrayLike, tries: ArrayLike, chance: ArrayLike) -> Floats:
    """Return the log of the chance of so many hits or more; 0 up to two standard deviations.

    >>> float(np.exp(binomial_at_least(65, 100, 0.5))), float(np.exp(binomial_at_least(10, 10, 0.5)))
    (0.00183..., 0.0009765625...)
    """
    hits, n, p = np.broadcast_arrays(
        *(np.asarray(each, dtype=np.float64) for each in (counts, tries, chance))
    )
    chances = np.zeros(hits.shape)
    far = hits > n * p + 2 * np.sqrt(n * p * (1 - p))  # which 98 % of honest counts spare us
    hits, n, p = hits[far], n[far], p[far]
    misses = n - hits
    with np.errstate(divide="ignore", invalid="ignore"):
        stirling = 1 / (12 * n) - 1 / (12 * hits + 1) - 1 / (12 * misses + 1)
        middle = 0.5 * np.log(n / (2 * math.pi * hits * misses))
        own = stirling + middle - _divergence(hits, n * p) - _divergence(misses, n * (1 - p))
        own = np.where(misses == 0, hits * np.log(p), own)
        ratio = misses * p / ((hits + 1) * (1 - p))
        chances[far] = np.minimum(own - np.log1p(-ratio), 0)
    return chances


def binomial_at_most(counts: ArrayLike, tries: ArrayLike, chance: ArrayLike) -> Floats:
    """Return the log of the chance of so many hits or fewer; 0 down to two standard deviations."""
    tries = np.asarray(tries)
    return binomial_at_least(tries - np.asarray(counts), tries, 1 - np.asarray(chance))


def _divergence(seen: Floats, expected: Floats) -> Floats:
    """Return x log(x / M) - x + M without losing the digits that cancel."""
    off = seen - expected
    divergence: Floats = seen * np.log1p(off / expected) - off
    return divergence


def sum_at_least(hits: int, coins: Coins) -> float:
    """Return a bound of the log of the chance of so many hits or more of unlike coins (Chernoff 1952).

    Any tilt gives a bound; the best one makes the expected hits those that were seen.

    >>> math.exp(sum_at_least(60, [(50, 0.5), (50, 0.5)]))
    0.133...
    """
    if hits <= sum(n * p for n, p in coins):
        return 0.0
    low, high = 0.0, _FURTHEST
    for _ in range(60):
        tilt = (low + high) / 2
        odds = math.exp(-tilt)
        expected = sum(n * p / (p + (1 - p) * odds) for n, p in coins)
        low, high = (tilt, high) if expected < hits else (low, tilt)
    return math.fsum(n * math.log1p(p * math.expm1(low)) for n, p in coins) - low * hits


def sum_at_most(hits: int, coins: Coins) -> float:
    """Return a bound of the log of the chance of so many hits or fewer of unlike coins."""
    return sum_at_least(sum(n for n, _ in coins) - hits, [(n, 1 - p) for n, p in coins])


def shared_at_least(shared: ArrayLike, n: int, some: ArrayLike, others: ArrayLike) -> Floats:
    """Return the log of the chance that two random sets of given sizes, out of n, share so many or more.

    >>> float(np.exp(shared_at_least(5, 10, 5, 5)))
    0.003968...
    """
    c, a, b = np.broadcast_arrays(*(np.asarray(each, dtype=np.int64) for each in (shared, some, others)))
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    chances = np.zeros(c.shape)
    far = c * n > a * b
    c, a, b = c[far], a[far], b[far]
    whole = [a, b, n - a, n - b]
    parts = [np.full_like(c, n), c, a - c, b - c, n - a - b + c]
    own = sum(factorials[each] for each in whole) - sum(factorials[each] for each in parts)
    ratio = (a - c) * (b - c) / ((c + 1) * (n - a - b + c + 1))
    chances[far] = np.minimum(own - np.log1p(-ratio), 0)
    return chances


def mean_at_least(excess: float, n: int, *, square: float, most: float) -> float:
    """Return a bound of the log of the chance that a sum of n exceeds its expectation so far (Bernstein).

    square: the expected square of one term. most: the largest term.
    """
    return -(excess**2) / (2 * (n * square + most * excess / 3)) if excess > 0 else 0.0


def mean_at_most(lack: float, n: int, *, square: float) -> float:
    """Return a bound of the log of the chance that a sum of n terms, none below 0, falls so short of it."""
    return -(lack**2) / (2 * n * square) if lack > 0 else 0.0
