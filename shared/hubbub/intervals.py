"""This file computes the quantiles that confidence intervals are made of."""

import math
from statistics import NormalDist

from hubbub.errors import DomainError

_LOWEST, _HIGHEST = 0.5, 0.9999
_FURTHEST = 1 - 1e-9  # of one of many intervals that shall hold all at once
_LARGE = 200  # degrees of freedom from which the expansion is exact to ten digits


def check_level(level: float, highest: float = _HIGHEST) -> float:
    """Return a confidence level, refusing those outside 0.5 to 0.9999.

    Raises DomainError.
    """
    if not _LOWEST <= level <= highest:
        raise DomainError(f"a confidence level must be from {_LOWEST} to {highest}, got {level}; try 0.95")
    return level


def simultaneous(level: float, count: int) -> float:
    """Return the level for each of so many intervals if all shall hold at once with probability ``level``.

    It is Bonferroni's: each may fail with an equal part of the chance, whatever goes together with what.

    Raises DomainError for a level outside 0.5 to 0.9999.

    >>> simultaneous(0.95, 10)
    0.995
    """
    return 1 - (1 - check_level(level)) / count


def normal_quantile(level: float) -> float:
    """Return z so that a standard normal lies within z of 0 with probability ``level``, at most 1 - 1e-9.

    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    return NormalDist().inv_cdf((1 + check_level(level, _FURTHEST)) / 2)


def student_quantile(level: float, degrees: int) -> float:
    """Return t so that a Student variable lies within t of 0 with probability ``level``.

    >>> round(student_quantile(0.95, 10), 6)
    2.228139
    """
    check_level(level)
    if degrees >= _LARGE:
        return _expanded(normal_quantile(level), degrees)
    low, high = 0.0, 1e5
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_within(middle, degrees) < level else (low, middle)
    return high


def _student_within(t: float, degrees: int) -> float:
    """Return P(|T| <= t): a finite trigonometric sum (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    angle = math.atan2(t, math.sqrt(degrees))
    cosine, odd = math.cos(angle), degrees % 2
    term = total = cosine if odd else 1.0
    for j in range(2 + odd, degrees - 1, 2):
        term *= cosine * cosine * (j - 1) / j
        total += term
    if odd:
        return 2 / math.pi * (angle + (math.sin(angle) * total if degrees > 1 else 0.0))
    return math.sin(angle) * total


def _expanded(z: float, degrees: int) -> float:
    """Return the Student quantile by its expansion about the normal one (Abramowitz and Stegun 26.7.5)."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(degrees) ** power for power, term in enumerate(terms, start=1))
