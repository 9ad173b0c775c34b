"""This file says how many people can hold a category, given how many reports support it: exact tails.

Of n reports, T from holders, Bin(T, p) + Bin(n - T, q) support the category. The more holders, the larger
that count tends to be, so the numbers of holders that leave both tails of a count likely enough are an
interval (Clopper, Pearson, "The use of confidence or fiducial limits", Biometrika 1934).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Holders:
    """The law of a support count.

    p, q: the chance that the report of a holder / of another person supports the category.
    """

    n: int
    p: float
    q: float

    def interval(self, count: int, level: float, start: int) -> tuple[int, int] | None:
        """Return the least and the largest plausible number of holders; None if not even ``start`` is.

        start: the likeliest number, from 0 to n.
        """
        tail = (1 - level) / 2

        def many(holders: int) -> bool:
            return 1 - self.at_most(count - 1, holders) > tail

        def few(holders: int) -> bool:
            return self.at_most(count, holders) > tail

        if not (many(start) and few(start)):
            return None
        return -_last(lambda t: many(-t), -start, 0), _last(few, start, self.n)

    def at_most(self, count: int, holders: int) -> float:
        """Return the probability that at most ``count`` reports support the category."""
        first, masses = binomial(holders, self.p)
        start, others = binomial(self.n - holders, self.q)
        below = np.concatenate([[0.0], np.cumsum(others)])
        rest = count - first - start + 1 - np.arange(masses.size)
        return float(masses @ below[np.clip(rest, 0, others.size)])


def binomial(n: int, p: float) -> tuple[int, Floats]:
    """Return the least likely enough value of a binomial variable, and the masses from there on.

    What is left out weighs less than 1e-15.
    """
    middle, reach = int((n + 1) * p), int(12 * (n * p * (1 - p)) ** 0.5) + 40
    lowest, highest = max(0, middle - reach), min(n, middle + reach)
    below = np.arange(lowest, highest, dtype=np.float64)
    steps = np.log((n - below) / (below + 1) * (p / (1 - p)))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    masses = np.exp(logs - logs.max())
    return lowest, masses / masses.sum()


def _last(holds: Callable[[int], bool], start: int, limit: int) -> int:
    """Return the last integer up to ``limit`` for which it holds, given that it holds at ``start``."""
    step = 1
    while start < limit and holds(min(start + step, limit)):
        start, step = min(start + step, limit), 2 * step
    end = min(start + step, limit + 1)  # it holds at start and no longer at end
    while end - start > 1:
        middle = (start + end) // 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start
