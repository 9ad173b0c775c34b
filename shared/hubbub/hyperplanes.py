"""This file numbers the hyperplanes of a space over the integers modulo a prime g, and counts through points.

A hyperplane is u = (u_0, ..., u_t), scaled so that its last coordinate that is not 0 is u_m = 1; its number
is 1 + g + ... + g^(m-1) plus that with the digits u_(m-1) ... u_1 u_0 base g. A point is x = (x_0, ..., x_t),
scaled so that its first coordinate that is not 0 is -1, and lies on u if u_0 x_0 + ... + u_t x_t = 0. The
points 0 to g^t - 1 have x_0 = -1 and the digits x_1 ... x_t, so they lie on u if u_0 = u_1 x_1 + ... +
u_t x_t. The points from g^t on have x_0 = 0 and are, as (x_1, ..., x_t), the points 0, 1, 2 ... of the space
of one dimension less, which a hyperplane but 0 = (1, 0, ..., 0) meets in the one without u_0, numbered
(number - 1) // g; hyperplane 0 holds all of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import Unsigned, slices
from hubbub.finite_field import Ints, Whole, digits, dot, modulo

AT_ONCE = 1 << 20  # reports to count at a time: an array of them takes 8 MiB
_CHUNK = 1 << 17  # pairs of hyperplanes and points worked on at a time
_LARGEST = 1 << 24  # cells of a table
_SHORT = 32  # residues too few to be worth a run of their own
_CALL = 1_000  # what a call of numpy costs, in cells that it could add up meanwhile


def size(coordinates: int, g: int) -> int:
    """Return how many points, or hyperplanes, a space of so many coordinates has.

    >>> size(3, 2)
    7
    """
    return int((g**coordinates - 1) // (g - 1))


def through(points: Whole, others: Whole, g: int, t: int) -> Whole:
    """Return the hyperplane through each point that has these coordinates beside one.

    That one is u_j where x_j is the point's first coordinate that is not 0. The others are given as the
    number of a hyperplane of t coordinates, so that size(t, g) hyperplanes go through a point.

    >>> sorted(through(np.full(3, 6), np.arange(3), 2, 2).tolist())
    [0, 1, 2]
    """
    numbers = 1 + g * others + _level(others, points, g, t)
    beyond = points >= g**t
    numbers[beyond] = 0
    beyond &= others > 0
    if beyond.any():
        rest = (others[beyond] - 1) // g
        met = through(points[beyond] - g**t, rest, g, t - 1)
        numbers[beyond] = g * met + others[beyond] - g * rest  # they differ from what is met in u_0
    return numbers


def is_through(point: int, number: int, g: int, t: int) -> bool:
    """Tell whether a hyperplane goes through a point."""
    return bool(are_through(point, np.array([number]), g, t)[0])


def are_through(point: int, numbers: Ints, g: int, t: int) -> NDArray[np.bool_]:
    """Tell which hyperplanes go through a point."""
    if t == 0:
        return np.zeros(numbers.shape, dtype=np.bool_)  # the only one does not go through the only point
    if point >= g**t:
        hits: NDArray[np.bool_] = numbers == 0
        hits[~hits] = are_through(point - g**t, (numbers[~hits] - 1) // g, g, t - 1)
        return hits
    h = (numbers - 1) // g
    levels = _level(np.maximum(h, 0), np.array(point), g, t)
    through: NDArray[np.bool_] = (numbers > 0) & (levels == numbers - 1 - h * g)
    return through


def _level(h: Whole, points: Whole, g: int, t: int) -> Whole:
    """Return u_1 x_1 + ... + u_t x_t of points below g^t, where the hyperplane h is (u_1, ..., u_t)."""
    numbers = h + 1  # its digits are u_1, u_2 ..., the lowest first
    for m in range(1, t):
        numbers = numbers + np.multiply(h >= size(m, g), g ** (m - 1) * (g - 2), dtype=h.dtype)
    return dot(digits(numbers, g, t), digits(points, g, t)[::-1], g)


@dataclass(frozen=True, slots=True)
class Bundle:
    """Hyperplanes of the space of t + 1 coordinates, by number, and how many there are of each.

    numbers, weights: shape (hyperplanes,).
    """

    numbers: Ints
    weights: Ints
    g: int
    t: int

    def through(self, k: int) -> Ints:
        """Count the hyperplanes through each of the first k points."""
        near = min(k, self.g**self.t)
        counts = np.zeros(1, dtype=np.int64)
        for m in range(1, self.t + 1):  # x_(m+1) ... x_t are free where u_m is the last that is not 0
            points = -(-near // self.g ** (self.t - m))
            counts = np.repeat(counts, self.g)[:points] + self._ending_at(m, points)
        if k == near:
            return counts
        beyond, everywhere = self.numbers > 0, int(self.weights[self.numbers == 0].sum())
        met = Bundle((self.numbers[beyond] - 1) // self.g, self.weights[beyond], self.g, self.t - 1)
        return np.concatenate([counts, everywhere + met.through(k - near)])

    def _ending_at(self, m: int, points: int) -> Ints:
        """Count those with u_m = 1 at the end through each of the first points of the m first coordinates."""
        cells = self.numbers - size(m, self.g)
        among = (cells >= 0) & (cells < self.g**m)
        cells, weights = cells[among], self.weights[among]
        firsts = -(-points // self.g ** (m - 1))
        one_by_one = _CALL * m + cells.size * -(-points // self.g) * (m + 3)
        calls = self.g * (firsts + (m - 2) * self.g) if m > 1 else 1
        at_once = _CALL * calls + (m * firsts - firsts + 1) * self.g**m
        if self.g**m > _LARGEST or one_by_one < at_once:
            return _one_by_one(cells, weights, m, points, g=self.g)
        table = np.bincount(cells, weights, minlength=self.g**m).astype(np.int64)
        return _at_once(table, m, points, g=self.g)


def _one_by_one(cells: Ints, weights: Ints, m: int, points: int, *, g: int) -> Ints:
    """Solve x_m = u_0 - u_1 x_1 - ... - u_(m-1) x_(m-1) for each hyperplane and all x_1 ... x_(m-1)."""
    starts = np.arange(-(-points // g))
    lines = [modulo(g - digit, g) for digit in reversed(digits(starts, g, m - 1))]
    counts = np.zeros(starts.size * g)
    for some in slices(cells.size, max(1, _CHUNK // starts.size)):
        first, *others = (digit[:, None] for digit in digits(cells[some], g, m))
        for u, minus_x in zip(others, lines, strict=True):
            first = first + u * minus_x
        hit = starts * g + modulo(first, g)
        times = np.broadcast_to(weights[some, None], hit.shape)
        counts += np.bincount(hit.ravel(), times.ravel(), minlength=counts.size)
    return counts[:points].astype(np.int64)  # sums of integers below 2**53 are exact


def _at_once(table: Ints, m: int, points: int, *, g: int) -> Ints:
    """Replace u_1, then u_2 and so on by x_1, x_2 ..., while u_0 becomes what is left of it for x_m."""
    table, before = table.reshape(-1, g).T, 1  # before: how many x_1 ... x_(i-1) there are
    for i in range(1, m):
        firsts = -(-points // g ** (m - 1)) if i == 1 else g
        old = table.reshape(g, before, g ** (m - 1 - i), g)
        old = _stored(np.concatenate([old, old[:-1]]))  # since u_0 counts modulo g
        new = _stored(np.zeros((g, before, firsts, g ** (m - 1 - i)), dtype=np.int64))
        for x in range(firsts):
            for u in range(g):
                start = u * x % g
                new[:, :, x] += old[start : start + g, :, :, u]  # u_0 - u_i x_i is the new u_0
        table, before = new, before * firsts
    return table.reshape(g, -1).T.ravel()[:points]


def _stored(table: Ints) -> Ints:
    """Keep a table in memory so that the longer runs of cells are added up in one go."""
    if len(table) < 2 * _SHORT:
        return np.ascontiguousarray(table)
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(table, 0, -1)), -1, 0)


def grouped(numbers: Unsigned, limit: int) -> tuple[Ints, Ints]:
    """Return the numbers below a limit, with how often each is there; one by one if that is shorter.

    >>> [found.tolist() for found in grouped(np.array([2, 0, 2, 2], dtype=np.uint8), 3)]
    [[0, 1, 2], [1, 0, 3]]
    """
    if numbers.size > limit:
        return np.arange(limit), np.bincount(numbers, minlength=limit)
    return numbers.astype(np.int64), np.ones(numbers.size, dtype=np.int64)
