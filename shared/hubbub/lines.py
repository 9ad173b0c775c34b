"""This file finds which points of a space lie on a line, for the error of a sum of categories.

Points are numbered as in ``hyperplanes``. Seen from one point, two others are on a line with it if they are
in the same direction: the same point of the space, once the one's coordinates are added as often as it takes
to bring to 0 the first of them that is not.
"""

from collections.abc import Sequence

import numpy as np

from hubbub.coins import slices
from hubbub.finite_field import Ints, digits, inverses, modulo

MOST = 1 << 22  # pairs of a point and one it looks at
_CHUNK = 1 << 16  # of them looked at at a time


def pairs_in_line(points: Sequence[int], k: int, g: int, t: int) -> Ints:
    """Count, for each of the first k points, the ordered pairs of some others that are on a line with it.

    >>> pairs_in_line([0, 1, 3], 7, 2, 2).tolist()  # a plane of 7 points, with 3 on each line
    [0, 0, 0, 0, 2, 2, 2]
    """
    every = _coordinates(np.arange(k), g, t)
    counts = np.zeros(k, dtype=np.int64)
    for some in slices(k, max(1, _CHUNK // len(points))):
        directions = np.sort(_directions(every[:, some], every[:, list(points)], g), axis=1)
        starts = np.ones(directions.shape, dtype=bool)
        starts[:, 1:] = directions[:, 1:] > directions[:, :-1]
        starts |= directions == 0  # the point itself is in no direction
        together = np.diff(np.append(np.flatnonzero(starts), starts.size))
        viewers = np.flatnonzero(starts) // len(points)
        counts[some] = np.bincount(viewers, together * (together - 1), minlength=some.stop - some.start)
    return counts


def others_in_line(one: Ints, other: Ints, g: int, t: int) -> Ints:
    """Return the points on the line through each two different points, but for these, shape (pairs, g - 1).

    >>> others_in_line(np.array([0, 0]), np.array([1, 3]), 2, 2).tolist()
    [[6], [5]]
    """
    x, y = _coordinates(one, g, t), _coordinates(other, g, t)
    return np.stack([_numbers(x + times * y, g, t) for times in range(1, g)], axis=1)


def _numbers(coordinates: Ints, g: int, t: int) -> Ints:
    """Number points by their coordinates, up to a factor and to multiples of g, shape (t + 1, points)."""
    residues = modulo(coordinates, g)
    firsts = (residues != 0).argmax(axis=0)
    leads = np.take_along_axis(residues, firsts[None], axis=0)
    scaled = modulo(residues * modulo((g - 1) * inverses(leads, g), g), g)
    places = np.arange(t + 1)[:, None]
    numbers: Ints = (np.where(places > firsts, scaled, places < firsts) * g ** (t - places)).sum(axis=0)
    return numbers


def _coordinates(points: Ints, g: int, t: int) -> Ints:
    """Return x_0 to x_t of points, shape (t + 1, points)."""
    found = np.zeros((t + 1, points.size), dtype=np.int64)
    start = 0
    for zeros in range(t + 1):
        among = (points >= start) & (points < start + g ** (t - zeros))
        found[zeros, among] = g - 1
        for i, digit in enumerate(digits(points[among] - start, g, t - zeros)):
            found[t - i, among] = digit
        start += g ** (t - zeros)
    return found


def _directions(viewers: Ints, points: Ints, g: int) -> Ints:
    """Number the direction from each viewer to each point, shape (viewers, points); 0 is none."""
    firsts = (viewers != 0).argmax(axis=0)
    times = points[firsts]  # shape (viewers, points); minus 1 is what the viewer has there
    numbers = np.zeros(times.shape, dtype=np.int64)
    scale = np.zeros(times.shape, dtype=np.int64)
    for own, others in zip(viewers, points, strict=True):
        seen = modulo(others + times * own[:, None], g)
        first = (scale == 0) & (seen > 0)
        scale[first] = inverses(seen[first], g)
        numbers = numbers * g + modulo(seen * scale, g)
    return numbers
