"""This file holds laws of two categories that come together: fakes that push several at once stand out there.

Where given the values a report supports categories independently: given how many reports support i and how
many j, honest ones support both no more often than two random sets of so many reports share.

Of other frequency oracles: let L categories be on a line with i and j, these two included, x be how many of
them a report supports, none, one or all, and y be 1 where it is all. With the chances of the channel and
c = (pq - qq) / (p - q), the mean of y - c x is qq - c L q, whoever sends it. So the sum over reports exceeds
n times that by no more than chance does: Chernoff's bound, with the law of x and y that allows more of the
two that there are. ``docs/fake-reports.md`` proves both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.frequencies import Channel
from hubbub.laws import Law
from hubbub.lines import others_in_line
from hubbub.tails import shared_at_least

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Columns = Callable[[Ints], NDArray[Any]]  # of some categories: which reports support each, shape (n, some)
Others = Callable[[Ints, Ints], Ints]  # of pairs: the points on a line with them, shape (pairs, points)

MOST_TOGETHER = 64  # categories whose pairs are looked at: those that most reports support
LONGEST = 256  # points on a line, beyond which pairs are not looked at

_TILTS = np.geomspace(1e-4, 30, 400)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The pairs of some categories of k, and how many of n reports support both, one or the other.

    first, second: which categories. both, a, b: how many reports. All of shape (pairs,).
    """

    n: int
    k: int
    first: Ints
    second: Ints
    both: Ints
    a: Ints
    b: Ints

    @classmethod
    def of(cls, n: int, counts: Ints, columns: Columns) -> "Pairs":
        """Count the pairs of the categories that most of n reports support.

        counts: how many support each, shape (k,).
        """
        chosen = np.sort(np.argsort(-counts, kind="stable")[:MOST_TOGETHER])
        supported = columns(chosen).astype(np.float32)  # sums below 2**24 are exact
        together = (supported.T @ supported).astype(np.int64)
        one, other = np.triu_indices(chosen.size, 1)
        first, second = chosen[one], chosen[other]
        return cls(n, counts.size, first, second, together[one, other], counts[first], counts[second])

    def law(self, expected: Floats, many: Floats, *, of: int) -> Law:
        """Return the law of pairs that are expected so often at most, and whose chances have these logs."""
        nothing = np.zeros(self.both.size)

        def names(place: int) -> tuple[str, str]:
            return str(self.first[place]), str(self.second[place])

        what, seen = "reports that support both {} and {}", self.both.astype(np.float64)
        return Law(what, seen, nothing, expected, nothing, many, names, are_rows=True, of=of)


def independent(n: int, counts: Ints, columns: Columns) -> Law:
    """Return the law of pairs of categories that a report supports independently.

    Given the values nothing is learnt of a pair from how often others are supported, so that they may be
    chosen by that at no cost.
    """
    pairs = Pairs.of(n, counts, columns)
    many = shared_at_least(pairs.both, n, pairs.a, pairs.b)
    return pairs.law(pairs.a * pairs.b / n, many, of=0)


def of_channel(
    n: int, counts: Ints, columns: Columns, channel: Channel, *, others: Others | None = None
) -> Law:
    """Return the law of pairs of categories that a report supports with the chances of a channel.

    others: the categories on a line with two, where there are lines; numbers from k on are none.
    """
    p, q, pq, qq = (float(each) for each in (channel.p, channel.q, channel.pq or 0, channel.qq or 0))
    pairs, c = Pairs.of(n, counts, columns), (pq - qq) / (p - q)
    thirds = others(pairs.first, pairs.second) if others else np.full((pairs.both.size, 0), pairs.k)
    line = (thirds < pairs.k).sum(axis=1) + 2
    supports = pairs.a + pairs.b + np.append(counts, 0)[np.minimum(thirds, pairs.k)].sum(axis=1)
    expected = (c * supports + n * (qq - c * q * line)).astype(np.float64)
    many = np.zeros(line.size)
    for size in np.unique(line):
        chosen = line == size
        said = np.array([1 - c * size, -c, 0]) - (qq - c * q * size)  # all of the line, one of it, none
        one = p + (size - 1) * q - size * pq, size * (q - qq)
        laws = np.array([[pq, one[0], 1 - pq - one[0]], [qq, one[1], 1 - qq - one[1]]])
        moments = np.log(np.exp(np.outer(_TILTS, said)) @ laws.T).max(axis=1)
        many[chosen] = (n * moments - np.outer((pairs.both - expected)[chosen], _TILTS)).min(axis=1)
    return pairs.law(expected, np.minimum(many, 0), of=pairs.k * (pairs.k - 1) // 2)


def of_lines(n: int, counts: Ints, columns: Columns, channel: Channel, *, g: int, t: int) -> list[Law]:
    """Return the law of pairs of points of a space, unless its lines are too long to look along."""
    if g > LONGEST:
        return []
    return [of_channel(n, counts, columns, channel, others=partial(others_in_line, g=g, t=t))]
