"""This file says what several reports about one person tell together.

Adding epsilons up is always right, and what a device's ledger does. For reports of one epsilon each, the
least (epsilon, delta) of all of them is known exactly, even where each question depends on the answers before
(Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", ICML 2015). In the local model it
gains next to nothing before hundreds of reports of a small epsilon, so it is for display only.

None of this is about reports from one memo: see ``longitudinal``. All but ``basic`` is in double precision.
"""

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from hubbub.delta import Delta
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Floats

Figure: TypeAlias = float | str | Decimal | Fraction | Epsilon | Delta  # an epsilon or a delta, to be shown


def basic(epsilons: Iterable[EpsilonLike]) -> int:
    """Return the sum of what reports cost, in millionths of epsilon.

    >>> basic(["0.1"] * 10)
    1000000
    """
    return sum(Epsilon.parse(epsilon).micro for epsilon in epsilons)


def composed_delta(epsilon: Figure, reports: int, total: Figure) -> float:
    """Return the least delta for which reports of ``epsilon`` each are (total, delta)-private together.

    >>> round(composed_delta(1.0, 10, 5.0), 6)
    0.363591
    """
    epsilon, total = read_epsilon(epsilon), read_number("total", total)
    check_reports(reports)
    if not total >= 0:
        raise DomainError(f"a total must not be negative, got {total}")
    truths = np.arange(reports + 1)
    gain = (2 * truths - reports) * epsilon - total  # log-likelihood ratio of randomized response, less total
    some = gain > 0
    return min(1.0, float(np.exp(_log_masses(reports, epsilon)[some]) @ -np.expm1(-gain[some])))


def composed_epsilon(epsilon: Figure, reports: int, delta: Figure) -> float:
    """Return the least total for which reports of ``epsilon`` each are (total, delta)-private together.

    >>> round(composed_epsilon(0.1, 100, 1e-6), 3), round(composed_epsilon(1.0, 10, 1e-6), 3)
    (4.775, 10.0)
    """
    epsilon, delta = read_epsilon(epsilon), read_delta(delta)
    check_reports(reports)
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


def read_epsilon(epsilon: Figure) -> float:
    """Return an epsilon above 0 and at most 100.

    Raises DomainError.
    """
    read = read_number("epsilon", epsilon)
    if not 0 < read <= 100:
        raise DomainError(f"epsilon must be above 0 and at most 100, got {read}")
    return read


def read_delta(delta: Figure) -> float:
    """Return a delta that is a probability between 0 and 1.

    Raises DomainError.
    """
    read = read_number("delta", delta)
    if not 0 < read < 1:
        raise DomainError(f"delta must be between 0 and 1, got {read}")
    return read


def read_number(what: str, value: Figure) -> float:
    """Return a number as a float: nothing here is decided by it.

    Raises DomainError if it is none.
    """
    plain = value.exact if isinstance(value, Epsilon | Delta) else value
    if isinstance(plain, bool) or not isinstance(plain, int | float | str | Decimal | Fraction):
        raise DomainError(f"{what} must be a number, got a value of type {type(value).__name__}")
    try:
        return float(plain)
    except (ValueError, OverflowError):
        raise DomainError(f"{what} must be a number of a sensible size, got {str(plain)[:40]!r}") from None


def check_reports(reports: int) -> None:
    """Refuse a number of reports outside 1 to 10,000,000.

    Raises DomainError.
    """
    if isinstance(reports, bool) or not isinstance(reports, int) or not 1 <= reports <= 10**7:
        raise DomainError(f"a number of reports must be from 1 to 10000000, got {reports}")
