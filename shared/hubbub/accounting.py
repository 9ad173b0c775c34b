"""This file says what several reports about one person tell together.

Adding epsilons up is always right, and what a device's ledger does. For reports of one epsilon each, the
least (epsilon, delta) of all of them is known exactly, even where each question depends on the answers before
(Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", ICML 2015). In the local model it
gains next to nothing before hundreds of reports of a small epsilon, so it is for display only.

None of this is about reports from one memo: see ``longitudinal``. All but ``basic`` is in double precision.
"""

import math
from collections.abc import Callable, Iterable

import numpy as np

from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Floats


def basic(epsilons: Iterable[EpsilonLike]) -> int:
    """Return the sum of what reports cost, in millionths of epsilon.

    >>> basic(["0.1"] * 10)
    1000000
    """
    return sum(Epsilon.parse(epsilon).micro for epsilon in epsilons)


def composed_delta(epsilon: float, reports: int, total: float) -> float:
    """Return the least delta for which reports of ``epsilon`` each are (total, delta)-private together.

    >>> round(composed_delta(1.0, 10, 5.0), 6)
    0.363591
    """
    check_epsilon(epsilon)
    check_reports(reports)
    truths = np.arange(reports + 1)
    gain = (2 * truths - reports) * epsilon - total  # log-likelihood ratio of randomized response, less total
    some = gain > 0
    return min(1.0, float(np.exp(_log_masses(reports, epsilon)[some]) @ -np.expm1(-gain[some])))


def composed_epsilon(epsilon: float, reports: int, delta: float) -> float:
    """Return the least total for which reports of ``epsilon`` each are (total, delta)-private together.

    >>> round(composed_epsilon(0.1, 100, 1e-6), 3), round(composed_epsilon(1.0, 10, 1e-6), 3)
    (4.775, 10.0)
    """
    check_delta(delta)
    return least(lambda total: composed_delta(epsilon, reports, total) <= delta, reports * epsilon)


def _log_masses(reports: int, epsilon: float) -> Floats:
    """Return the logarithms of the law of how often randomized response tells the truth."""
    told = np.arange(reports, dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log((reports - told) / (told + 1)) + epsilon)])
    logs -= logs.max()
    normalised: Floats = logs - math.log(np.exp(logs).sum())
    return normalised


def least(holds: Callable[[float], bool], high: float) -> float:
    """Return a number for which something holds that holds from the least one on, and at ``high``.

    It is at most a billionth above the least.
    """
    low = 0.0
    if holds(low):
        return low
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def check_epsilon(epsilon: float) -> None:
    """Refuse what is not above 0 and at most 100.

    Raises DomainError.
    """
    if not 0 < epsilon <= 100:
        raise DomainError(f"epsilon must be above 0 and at most 100, got {epsilon}")


def check_delta(delta: float) -> None:
    """Refuse a delta that is no probability between 0 and 1.

    Raises DomainError.
    """
    if not 0 < delta < 1:
        raise DomainError(f"delta must be between 0 and 1, got {delta}")


def check_reports(reports: int) -> None:
    """Refuse a number of reports outside 1 to 10,000,000.

    Raises DomainError.
    """
    if isinstance(reports, bool) or not isinstance(reports, int) or not 1 <= reports <= 10**7:
        raise DomainError(f"a number of reports must be from 1 to 10000000, got {reports}")
