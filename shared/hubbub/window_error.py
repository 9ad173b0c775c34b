"""This file works out the error of numbers that are sent through a window, and the width that makes it least.

Take the range for [-1, 1]. A report stands for the middle of the points whose windows hold it, stretched by
s = 1 / ((p - q) width): that is y. Then E[y | x] = x and E[y^2 | x] = c + s x^2 at every point x. All of it
is rational in e = e^epsilon, so a width is decided in whole numbers, by the first 64 binary digits of e.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import DomainError
from hubbub.grid import End, Grid
from hubbub.probability import Real
from hubbub.windows import Window

Floats = NDArray[np.float64]
T = TypeVar("T", Fraction, Real)

_BITS = 64
_MOST_STEPS = 1 << 14  # so that two bytes number all reports


def window_grid(low: End, high: End, steps: int) -> Grid:
    """Return a grid that is coarse enough for a window.

    Raises DomainError for one of over 2**14 steps.
    """
    grid = Grid(low, high, steps)
    if steps > _MOST_STEPS:
        raise DomainError(f"steps must be an integer from 1 to 2**14, got {steps}")
    return grid


def second_moment(p: T, q: T, width: int, steps: int) -> T:
    """Return c, the mean square that a holder of the middle sends, for steps + 1 points."""
    outputs = steps + width
    squares = q * (outputs * (outputs**2 - 1)) + (p - q) * (width * (width**2 - 1))
    return squares / ((p - q) * width * steps) ** 2 / 3


def window_meaning(window: Window, steps: int) -> tuple[Floats, Floats]:
    """Return y by report, and E[y^2 | x] by point."""
    stretch, moment = 1 / window.inside, second_moment(window.p, window.q, window.width, steps)
    middles = (2 * np.arange(window.outputs) + 1 - window.outputs) / steps
    squares = float(moment) + float(stretch) * np.linspace(-1, 1, steps + 1) ** 2
    return float(stretch) * middles, squares


def piecewise_error(e: Fraction, width: int, steps: int) -> Fraction:
    """Return the largest variance of noise: that at an end, or next to it where rounding adds more.

    With v(x) = c + (s - 1) x^2 at the points, it is c + s (x - a) (b - x) + (s - 1) x^2 between two, a and b.
    """
    q = 1 / (e * width + steps)
    stretch, step = 1 / ((e - 1) * q * width), Fraction(2, steps)
    peak = min(stretch * (1 - step / 2), Fraction(1))
    between = stretch * (peak - 1 + step) * (1 - peak)
    return second_moment(e * q, q, width, steps) + (stretch - 1) * peak**2 + between


def hybrid_error(e: Fraction, width: int, steps: int) -> Fraction:
    """Return the largest variance of noise if the window is used with probability 1/s, else one bit.

    Then E[y^2 | x] = c / s + (1 - 1 / s) reach^2 + x^2, so that it is the same at all points.
    """
    q = 1 / (e * width + steps)
    inside = (e - 1) * q * width
    moment = second_moment(e * q, q, width, steps)
    return inside * moment + (1 - inside) * one_bit_error(e) + Fraction(1, steps**2)


def one_bit_error(e: Fraction) -> Fraction:
    """Return the largest variance of the noise of a one-bit report, reach^2, that in the middle."""
    return ((e + 1) / (e - 1)) ** 2


def best_width(e: Real, steps: int, error: Callable[[Fraction, int, int], Fraction]) -> int:
    """Return the width of the least error, which falls up to there and rises beyond."""
    digits = first_digits(e)
    narrow, wide = 0, 2 * steps
    while wide - narrow > 1:
        middle = (narrow + wide) // 2
        falls = error(digits, middle + 1, steps) < error(digits, middle, steps)
        narrow, wide = (middle, wide) if falls else (narrow, middle)
    return wide


def first_digits(e: Real) -> Fraction:
    """Return a number up to 64 binary digits after the point: the same on every machine."""
    return Fraction(e.leading(_BITS), 1 << _BITS)
