"""This file bounds a chance by how often it came true, with an error that holds for any number of tries.

Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
Biometrika 1934. The tail of a binomial law is an incomplete beta function (Abramowitz and Stegun 26.5.24),
computed by its continued fraction (26.5.8).
"""

import math


def at_least(hits: int, tries: int, error: float) -> float:
    """Return what the chance is at least, but for a probability of ``error``.

    >>> round(at_least(3, 10, 0.025), 6)
    0.06674
    """
    low, high = 0.0, hits / tries
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _tail(hits, tries, middle) > error else (middle, high)
    return low


def at_most(hits: int, tries: int, error: float) -> float:
    """Return what the chance is at most, but for a probability of ``error``.

    >>> round(at_most(0, 100, 0.05), 6)
    0.029513
    """
    return 1 - at_least(tries - hits, tries, error)


def _tail(hits: int, tries: int, chance: float) -> float:
    """Return the probability of at least so many hits, for a chance below their share of the tries."""
    a, b = hits, tries - hits + 1
    if not 0 < chance < 1:
        return chance
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    logarithm += a * math.log(chance) + b * math.log1p(-chance)
    return math.exp(logarithm) / a / _fraction(a, b, chance)


def _fraction(a: int, b: int, x: float) -> float:
    """Return 1 + d1 / (1 + d2 / (1 + ...)), which converges for x below (a + 1) / (a + b + 2)."""
    value = above = 1.0
    below = 0.0
    step = 1
    change = 0.0
    while abs(change - 1) > 1e-14:
        m = step // 2
        numerator = (a + m) * (a + b + m) * -x / ((a + 2 * m) * (a + 2 * m + 1))
        if step % 2 == 0:
            numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        below = 1 / (1 + numerator * below)
        above = 1 + numerator / above
        change = above * below
        value *= change
        step += 1
    return value
