"""This file says between what ends a chance lies that came true so many times of n, the tries independent.

The interval is Wilson's ("Probable inference, the law of succession, and statistical inference", Journal of
the American Statistical Association 1927). Where it came true or failed a few times only, which Wilson's
misses far more often than stated, it is the exact one (Clopper, Pearson, "The use of confidence or fiducial
limits illustrated in the case of the binomial", Biometrika 1934).
"""

import numpy as np
from numpy.typing import NDArray

from hubbub.intervals import normal_quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FEW = 40
_HALVINGS = 50


def chance_interval(hits: Ints, n: int, level: float) -> Floats:
    """Return an interval of the chance of each count of hits, shape (counts, 2).

    >>> chance_interval(np.array([0, 3, 50]), 100, 0.95).round(3).tolist()
    [[0.0, 0.036], [0.006, 0.085], [0.404, 0.596]]
    """
    shares, unit = hits / n, normal_quantile(level) ** 2 / n
    half = np.sqrt(unit * (shares * (1 - shares) + unit / 4))
    ends: Floats = (shares[:, None] + unit / 2 + np.outer(half, [-1, 1])) / (1 + unit)
    is_rare, is_usual = (2 * hits <= n) & (hits < _FEW), (2 * hits > n) & (n - hits < _FEW)
    ends[is_rare] = _exact(hits[is_rare], n, level)
    ends[is_usual] = 1 - _exact(n - hits[is_usual], n, level)[:, ::-1]
    return ends


def _exact(hits: Ints, n: int, level: float) -> Floats:
    """Return exact intervals of chances that came true a few times only."""
    counts, places = np.unique(hits, return_inverse=True)
    tail = (1 - level) / 2
    ends: Floats = np.stack([_crossing(counts - 1, n, 1 - tail), _crossing(counts, n, tail)], axis=1)[places]
    return ends


def _crossing(counts: Ints, n: int, probability: float) -> Floats:
    """Return for what chance so many hits or fewer have a probability; it falls as the chance rises."""
    terms = np.arange(min(_FEW, n))
    ways = np.concatenate([[0.0], np.cumsum(np.log((n - terms[:-1]) / (terms[:-1] + 1)))])
    low, high = np.zeros(counts.size), np.ones(counts.size)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        logs = ways + np.outer(np.log(middle), terms) + np.outer(np.log1p(-middle), n - terms)
        is_below = (np.exp(logs) * (terms <= counts[:, None])).sum(axis=1) > probability
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return low
