"""This file shows reports in the currencies of central accountants: Renyi divergences and zCDP.

Whatever has a loss of epsilon between two values is a function of randomized response (Kairouz, Oh,
Viswanath, ICML 2015), so that the Renyi divergences of randomized response bound those of every mechanism,
and they add up (Mironov, "Renyi differential privacy", CSF 2017).
"""

import math

import numpy as np

from hubbub.accounting import Figure, check_reports, read_delta, read_epsilon, read_number
from hubbub.errors import DomainError
from hubbub.estimate import Floats


def zcdp(epsilon: Figure) -> float:
    """Return the rho of zero-concentrated privacy that one report of ``epsilon`` has: epsilon^2 / 2.

    A theorem (Bun, Steinke, "Concentrated differential privacy", TCC 2016).

    >>> zcdp(1.0)
    0.5
    """
    return read_epsilon(epsilon) ** 2 / 2


def numerical_zcdp(epsilon: Figure) -> float:
    """Return the rho that randomized response was seen to have: epsilon tanh(epsilon / 2).

    Numerical evidence, and no proof: its Renyi divergence over the order fell at all orders tried. Where a
    theorem is needed, use ``zcdp``.

    >>> round(numerical_zcdp(1.0), 4), round(numerical_zcdp(8.0), 3)
    (0.4621, 7.995)
    """
    epsilon = read_epsilon(epsilon)
    return epsilon * math.tanh(epsilon / 2)


def zcdp_epsilon(rho: Figure, delta: Figure) -> float:
    """Return an epsilon that holds but for probability delta, given the sum of all rho.

    Bun and Steinke's rho + 2 sqrt(rho log(1 / delta)).

    >>> round(zcdp_epsilon(30 * numerical_zcdp(1.0), 1e-6), 1)
    41.5
    """
    rho, delta = read_number("rho", rho), read_delta(delta)
    if not 0 < rho < math.inf:
        raise DomainError(f"rho must be positive and finite, got {rho}")
    return rho + 2 * math.sqrt(-rho * math.log(delta))


def renyi(epsilon: Figure, order: Figure) -> float:
    """Return the Renyi divergence of randomized response at an order above 1: no mechanism has more.

    >>> round(renyi(1.0, 2.0), 6)
    0.735326
    """
    epsilon, order = read_epsilon(epsilon), read_number("order", order)
    if not 1 < order < math.inf:
        raise DomainError(f"an order must be above 1 and finite, got {order}")
    return float(_curve(epsilon, np.array(order)))


def renyi_epsilon(epsilon: Figure, reports: int, delta: Figure) -> float:
    """Return an epsilon for so many reports of ``epsilon`` each that holds but for probability delta.

    By the best of many orders, converted as by Canonne, Kamath, Steinke, "The discrete Gaussian for
    differential privacy", NeurIPS 2020, Proposition 12; never more than basic composition.

    >>> round(renyi_epsilon(0.1, 100, 1e-6), 2), round(renyi_epsilon(1.0, 30, 1e-6), 2)
    (5.07, 29.99)
    """
    epsilon, delta = read_epsilon(epsilon), read_delta(delta)
    check_reports(reports)
    at = 1 + np.geomspace(1e-3, 1e6, 4000)  # a bound holds at any order; one of these is near the best
    bounds = reports * _curve(epsilon, at) + np.log1p(-1 / at) - (math.log(delta) + np.log(at)) / (at - 1)
    return min(reports * epsilon, max(0.0, float(bounds.min())))


def _curve(epsilon: float, order: Floats) -> Floats:
    """Return log(p^a q^(1-a) + q^a p^(1-a)) / (a - 1), with p / q = e^epsilon."""
    both: Floats = np.logaddexp(order * epsilon, (1 - order) * epsilon) - np.logaddexp(0, epsilon)
    return both / (order - 1)
