"""This file holds views of shares that look like shares: not below 0, adding up to 1, and no longer unbiased.

The unbiased values are what is kept; a view is always named as such.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def norm_sub(shares: Floats) -> Floats:
    """Return the nearest point of the simplex: subtract one number from all and put what is below 0 to 0.

    Others call the same view the Euclidean projection on the simplex.

    Wang, Lopuhaa-Zwakenberg, Li, Skoric, Li, "Locally differentially private frequency estimation with
    consistency", NDSS 2020.

    >>> norm_sub(np.array([0.75, 0.5, -0.125])).tolist()
    [0.625, 0.375, 0.0]
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, shares.size + 1)
    kept = np.flatnonzero(falling > excess)[-1]
    lifted: Floats = np.maximum(shares - excess[kept], 0)
    return lifted
