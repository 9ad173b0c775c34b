"""This file holds laws of integers with Laplace noise, whatever the numbers from 0 to ``steps`` below it are.

Their sum is likely to exceed n numbers at an end by no more than noise does (Chernoff's bound, with the tilt
that is best). Their squares around the middle are at most those of half the range plus the noise's size,
which Bernstein's inequality bounds. Around no point can they be less than the noise's own: it is symmetric
and falls off to both sides, so that a shift makes it larger in absolute value, never smaller.
"""

import math

import numpy as np

from hubbub.laws import Law, counted, single
from hubbub.mechanism import Reports
from hubbub.noise import DiscreteLaplace
from hubbub.tails import mean_at_least, mean_at_most

_TILTS = 256
_SCALES = (0.5, 1, 2, 4, 8, 12, 16)  # of the noise, beyond an end of the range


def sums(noise: DiscreteLaplace, n: int, total: int, squares: int, *, steps: int, margin: int) -> list[Law]:
    """Return the laws of the sum of n reports, and of their squares.

    total, squares: of reports, from 0 on the grid. margin: of noise that is kept; what lies beyond is put
    there.
    """
    few, many = (_excess(noise, n, far, margin) for far in (-total, total - n * steps))
    whole = single("sum of all reports", total, ends=(0, n * steps), chances=(few, many))
    return [whole, _squares(noise, n, total, squares, steps=steps, margin=margin)]


def tails(noise: DiscreteLaplace, reports: Reports, *, steps: int) -> Law:
    """Return the law of how many reports lie beyond the range by some scales of the noise, or more."""
    off = [math.ceil(scales / noise.rate) for scales in _SCALES]
    numbers = reports.astype(np.int64)
    seen = [[(numbers >= steps + far).sum(), (numbers <= -far).sum()] for far in off]
    least, most = ([float(noise.tail(far + shift)) for far in off for _ in "hl"] for shift in (steps, 0))

    def names(place: int) -> tuple[str, str]:
        return f"{_SCALES[place // 2]:g}", ("high", "low")[place % 2]

    what = "reports that lie {} scales of the noise or more beyond the {} end of the range"
    return counted(what, seen, len(reports), least, most, names=names)


def _excess(noise: DiscreteLaplace, n: int, far: int, margin: int) -> float:
    """Return a bound of the log of the chance that the noise of n reports adds up to so much."""
    if far <= 0:
        return 0.0
    rate = float(noise.rate)
    tilts = rate * np.arange(1, _TILTS) / _TILTS
    moments = np.expm1(-rate) ** 2 / (np.expm1(tilts - rate) * np.expm1(-tilts - rate))
    kept = np.exp(-(rate + tilts) * margin)  # of noise that was so low that it was cut off
    return float((n * np.log(moments + kept) - tilts * far).min())


def _squares(noise: DiscreteLaplace, n: int, total: int, squares: int, *, steps: int, margin: int) -> Law:
    rate, half = float(noise.rate), steps / 2
    variance, fourth, size = float(noise.variance), float(noise.fourth_moment), 1 / math.sinh(rate)
    seen = squares - steps * total + n * half**2  # around the middle
    most = n * (half**2 + 2 * half * size + variance)
    largest, fourth_most = (half + margin) ** 2, (half + fourth**0.25) ** 4
    many = mean_at_least(seen - most, n, square=fourth_most, most=largest)
    centre = min(max(round(total / n), 0), steps)
    least_seen = squares - 2 * centre * total + n * centre**2
    lost = math.exp(-rate * margin) * (margin + 2 / rate) ** 2 * 2  # of squares of noise beyond the margin
    lack = n * (variance - lost) - least_seen
    few = min(0.0, mean_at_most(lack, n, square=fourth) + math.log(steps + 1))  # it may lie around any point
    what = "sum of squared distances from the middle"
    return single(what, seen, ends=(n * variance, most), chances=(few, many))
