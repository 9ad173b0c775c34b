"""This file holds the view of a cumulative distribution that looks like one: from 0 to 1, never falling.

The unbiased sums are what is kept; a view is always named as such.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def isotonic(values: Floats) -> Floats:
    """Return the nearest values that never fall: where some fall, a stretch of them becomes its mean.

    Ayer, Brunk, Ewing, Reid, Silverman, "An empirical distribution function for sampling with incomplete
    information", Annals of Mathematical Statistics 1955.

    >>> isotonic(np.array([1.0, 3.0, 2.0, 4.0])).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    means: list[float] = []
    sizes: list[int] = []
    for value in values.tolist():
        mean, size = value, 1
        while means and means[-1] > mean:
            last, count = means.pop(), sizes.pop()
            mean, size = (last * count + mean * size) / (count + size), count + size
        means.append(mean)
        sizes.append(size)
    return np.repeat(means, sizes)


def monotone_cdf(cdf: Floats) -> Floats:
    """Return the nearest distribution function to sums of shares whose first is 0 and whose last is 1.

    >>> monotone_cdf(np.array([0.0, -0.25, 0.75, 0.5, 1.0])).tolist()
    [0.0, 0.0, 0.625, 0.625, 1.0]
    """
    inner = np.clip(isotonic(cdf[1:-1]), 0, 1)
    return np.concatenate([[0.0], inner, [1.0]])
