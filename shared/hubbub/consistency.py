"""This file holds views of shares that look like shares: not below 0, adding up to 1, and no longer unbiased.

The unbiased values are what is kept; a view is always named as such.
"""

from typing import Literal, Protocol, runtime_checkable

import numpy as np

from hubbub.errors import DomainError
from hubbub.estimate import Estimate, Floats

View = Literal["norm-sub", "shrunk", "monotone"]

_STEPS = 21  # of what is subtracted, from nothing to what norm_sub subtracts


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


def shrunk(shares: Floats, variance: float) -> Floats:
    """Return shares with about the least squared error: less is subtracted, and all are drawn together.

    Subtract a number, put what is below 0 to 0, scale to 1, and mix with equal shares; of all such mixtures,
    the one with the least estimated risk (Stein, "Estimation of the mean of a multivariate normal
    distribution", Annals of Statistics 1981). Where noise covers the shares they come out nearly equal, and
    where it does not, as ``norm_sub`` has them.

    variance: of the noise in each.

    >>> shares = np.array([0.75, 0.5, -0.25])
    >>> [shrunk(shares, variance).round(2).tolist() for variance in (1e-9, 0.1, 10.0)]
    [[0.62, 0.38, 0.0], [0.6, 0.4, 0.0], [0.33, 0.33, 0.33]]
    """
    equal = np.full(shares.size, 1 / shares.size)
    nearest = norm_sub(shares)
    top = int(np.argmax(shares))
    risks, mixtures = [], []
    for threshold in _thresholds(shares[top] - nearest[top]):
        lowered = np.maximum(shares - threshold, 0)
        total = lowered.sum()
        apart = lowered / total - equal
        freedom = (np.count_nonzero(lowered) - 1) / total
        square = max(float(apart @ apart), 1e-300)
        part = min(max(float((shares - equal) @ apart - variance * freedom) / square, 0.0), 1.0)
        mixtures.append(equal + part * apart)
        risks.append(((mixtures[-1] - shares) ** 2).sum() + 2 * variance * part * freedom)
    best: Floats = mixtures[int(np.argmin(risks))]
    return best


def _thresholds(last: float) -> Floats:
    return np.linspace(0, last, _STEPS) if last > 0 else np.array([last])


@runtime_checkable
class Distributed(Protocol):
    """An estimate of the distribution of a number."""

    @property
    def monotone(self) -> Floats:
        """The values that the nearest distribution function has which never falls, shape (rows,)."""
        ...


def viewed(estimate: Estimate, view: View) -> Floats:
    """Return the values of an estimate in a view; ``monotone`` is for distributions, others are for shares.

    Raises DomainError for a view that the estimate does not have.
    """
    if isinstance(estimate, Distributed) != (view == "monotone"):
        raise DomainError(f"view {view} is not for this estimate; monotone is for distributions only")
    if isinstance(estimate, Distributed):
        return estimate.monotone
    if view == "norm-sub":
        return norm_sub(estimate.values)
    return shrunk(estimate.values, float((estimate.stderr("respondents") ** 2).mean()))
