"""This file bounds what reports tell once somebody shuffles them, so that none can be traced to its sender.

Each other person's report is, with probability c, one that the person in question could have sent as well
with either of two values: a clone. The more clones, the better they hide (Feldman, McMillan, Talwar, "Hiding
among the clones", FOCS 2021): c = e^-epsilon for any mechanism. The stronger c = 2 / (e^epsilon + 1) of later
work was withdrawn for mechanisms in general; it holds for randomized response of two categories, and for k
categories there is a bound of the same kind.

Only a true shuffler, which forgets who sent what, earns this. A collector that sees addresses is none.
"""

import math

import numpy as np
from numpy.typing import NDArray

from hubbub.accounting import Figure, check_reports, least, read_delta, read_epsilon, read_number
from hubbub.errors import DomainError
from hubbub.estimate import Floats
from hubbub.holders import binomial

Ints = NDArray[np.int64]

_CUT = 1e-20  # the law of the number of clones leaves out less than 2 e^-60, by Bernstein's inequality


def shuffled_delta(epsilon: Figure, n: int, total: Figure, *, k: int | None = None) -> float:
    """Return a delta for which n shuffled reports are (total, delta)-private for each person.

    epsilon: of each report by itself. n: how many honest people send one. k: how many categories, if the
    mechanism is randomized response; None for any mechanism. The lower of the bounds that hold.

    >>> round(shuffled_delta(1.0, 50, 0.3), 6), round(shuffled_delta(1.0, 50, 0.3, k=2), 6)
    (0.00968, 0.004089)
    """
    epsilon, total = read_epsilon(epsilon), read_number("total", total)
    check_reports(n)
    if not total >= 0:
        raise DomainError(f"a total must not be negative, got {total}")
    any_mechanism = _clones(epsilon, n, total, math.exp(-epsilon))
    if k is None:
        return any_mechanism
    if k < 2:
        raise DomainError(f"k, the number of categories, must be at least 2, got {k}")
    e = math.exp(epsilon)  # it tells even who hears whether the report is one of the two categories
    return min(any_mechanism, (e + 1) / (e + k - 1) * _clones(epsilon, n, total, 2 / (e + k - 1)))


def shuffled_epsilon(epsilon: Figure, n: int, delta: Figure, *, k: int | None = None) -> float:
    """Return the least total for which n shuffled reports are known to be (total, delta)-private.

    >>> round(shuffled_epsilon(1.0, 10_000, 1e-6), 4), round(shuffled_epsilon(1.0, 10_000, 1e-6, k=2), 4)
    (0.053, 0.0432)
    """
    epsilon, delta = read_epsilon(epsilon), read_delta(delta)
    return least(lambda total: shuffled_delta(epsilon, n, total, k=k) <= delta, epsilon)


def _clones(epsilon: float, n: int, total: float, c: float) -> float:
    """Return the mean over the number of clones, C, of what a of C + 1 reports tell more than total.

    With a clones of one kind, a ~ Bin(C, 1/2), the two values are told apart by P = r b(a - 1) + (1 - r) b(a)
    against Q, which is P with r and 1 - r swapped. P / Q rises with a and passes e^total after ``start``.
    """
    if total >= epsilon:
        return 0.0
    e0, e = math.exp(epsilon), math.exp(total)
    above, below = (e * e0 - 1) / (e0 + 1), (e0 - e) / (e0 + 1)
    first, masses = binomial(n - 1, c)
    clones = first + np.arange(masses.size)
    start = np.floor((clones + 1) * (above / (above + below))).astype(np.int64)
    further = _at_least(clones, start)  # P(a >= start), which weighs b(a - 1) from start + 1 on
    onward = np.maximum(further - _half(clones, start), 0)
    gain = np.maximum(below * further - above * onward, 0)
    is_whole = first == 0 and masses.size == n
    return min(1.0, float(masses @ gain) + (0 if is_whole else _CUT))


def _at_least(clones: Ints, start: Ints) -> Floats:
    """Return P(Bin(C, 1/2) >= start) for numbers C that rise by one, where start rises by 0 or 1.

    P(C + 1, s) = P(C, s) + b(C, s - 1) / 2, and P(C + 1, s + 1) = P(C, s) - b(C, s) / 2.
    """
    far = np.arange(start[0], min(clones[0], start[0] + 12 * math.isqrt(int(clones[0])) + 40) + 1)
    begin = float(_half(np.full(far.size, clones[0]), far).sum())
    stays = start[1:] == start[:-1]
    steps = _half(clones[:-1], np.where(stays, start[:-1] - 1, start[:-1])) / 2
    return begin + np.concatenate([[0.0], np.cumsum(np.where(stays, steps, -steps))])


def _half(n: Ints, a: Ints) -> Floats:
    """Return the masses of Bin(n, 1/2) at a, to full precision (as Loader, 2000)."""
    inside = (a > 0) & (a < n)
    x = np.where(inside, a, 1).astype(np.float64)
    m = np.where(inside, n, 2).astype(np.float64)
    off = (2 * x - m) / m
    logs = _stirling(m) - _stirling(x) - _stirling(m - x) - x * np.log1p(off) - (m - x) * np.log1p(-off)
    masses = np.exp(logs) * np.sqrt(m / (2 * math.pi * x * (m - x)))
    at_end = (a == 0) | (a == n)
    return np.where(inside, masses, np.where(at_end, 0.5 ** np.minimum(n, 1100).astype(np.float64), 0.0))


def _stirling(n: Floats) -> Floats:
    """Return log n! less Stirling's formula, for whole n from 1 on."""
    exact = np.array([math.lgamma(m + 1) - (m + 0.5) * math.log(m) + m for m in range(1, 16)])
    square = n * n
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / n
    few = exact[np.minimum(n, 15).astype(np.int64) - 1] - math.log(2 * math.pi) / 2
    return np.where(n <= 15, few, series)
