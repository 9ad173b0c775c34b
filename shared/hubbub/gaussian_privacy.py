"""This file says what Gaussian noise protects: the (epsilon, delta) of a sensitivity in standard deviations.

The discrete Gaussian of standard deviation sigma on vectors of integers that are at most D apart is rho-zCDP
with rho = D^2 / (2 sigma^2) (Canonne, Kamath, Steinke, NeurIPS 2020, theorem 14), so for any order a > 1
it is (epsilon, delta)-private with (their proposition 12 and corollary 13)

    log delta = (a - 1) (a rho - epsilon) + (a - 1) log(a - 1) - a log a

The continuous Gaussian has an exact delta (Balle, Wang, "Improving the Gaussian mechanism for differential
privacy", ICML 2018), which needs some percent less noise, but no computer draws a continuous Gaussian.
"""

import math
from decimal import Context, Decimal
from fractions import Fraction

from hubbub.probability import Real

_AT = Context(prec=50)  # decimal rounds log and exp correctly, so all machines agree to the last digit
_LOWEST, _HIGHEST = -64, 200  # orders 1 + 2**(i / 8): from 1.004 to 33 million


def delta_at(order: Fraction, rho: Fraction, epsilon: Fraction) -> Real:
    """Return the delta of rho-zCDP at an epsilon, by one order above 1.

    >>> round(float(delta_at(Fraction(20), Fraction(1, 50), Fraction(1))), 9)
    2.11e-07
    """
    above = order - 1
    exponent = above * (order * rho - epsilon)
    return Real.exp(exponent + above * Real.log(above) - order * Real.log(order))


def largest_rho(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Return a rho that keeps (epsilon, delta), all but the largest, and the order that proves it.

    The order is the best of a grid, found by halving; each order proves its own rho, so none can be wrong.
    """
    best = max(range(_LOWEST, _HIGHEST + 1, 32), key=lambda index: _rho(_order(index), epsilon, delta))
    for step in (16, 8, 4, 2, 1):
        best = max((best - step, best, best + step), key=lambda index: _rho(_order(index), epsilon, delta))
    order = _order(best)
    return Fraction(_rho(order, epsilon, delta)) * (1 - Fraction(1, 10**30)), Fraction(order)


def analytic_delta(epsilon: float, sigma: float) -> float:
    """Return the exact delta of continuous Gaussian noise, sigma in units of the sensitivity.

    >>> round(analytic_delta(1.0, 3.730631634816464), 5)
    1e-05
    """
    half, far = 0.5 / sigma, epsilon * sigma
    return _below(half - far) - math.exp(epsilon) * _below(-half - far)


def analytic_sigma(epsilon: float, delta: float) -> float:
    """Return the least standard deviation of continuous noise, in units of the sensitivity.

    >>> round(analytic_sigma(1.0, 1e-5), 6)
    3.730632
    """
    low, high = 0.0, 1.0
    while analytic_delta(epsilon, high) > delta:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if analytic_delta(epsilon, middle) <= delta else (middle, high)
    return high


def _below(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def _order(index: int) -> Decimal:
    return _AT.add(1, round(_AT.power(2, _AT.divide(index, 8)), 6))


def _rho(order: Decimal, epsilon: Fraction, delta: Fraction) -> Decimal:
    above = _AT.subtract(order, 1)
    logs = (
        _AT.ln(_AT.divide(delta.numerator, delta.denominator)),
        _AT.multiply(order, _AT.ln(order)),
        _AT.minus(_AT.multiply(above, _AT.ln(above))),
    )
    total = _AT.add(_AT.add(logs[0], logs[1]), logs[2])
    room = _AT.add(_AT.divide(total, above), _AT.divide(epsilon.numerator, epsilon.denominator))
    return _AT.divide(room, order)
