"""This file checks how often intervals of several categories' share cover it, by going through every count.

Nothing here is drawn, so nothing fails by chance.
"""

from functools import cache
from itertools import chain, repeat

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub.frequencies import Shares
from hubbub.mechanisms.hadamard_response import HadamardResponse
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.mechanisms.subset_selection import SubsetSelection

KNOWN = (OptimizedUnary, RandomizedResponse)  # the law of the count is
Maker = type[OptimizedUnary | RandomizedResponse | SubsetSelection | HadamardResponse]
Floats = NDArray[np.float64]


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("epsilon", ["1", "4"])
@pytest.mark.parametrize("make", [*KNOWN, SubsetSelection, HadamardResponse])
def test_the_interval_about_respondents_covers_as_it_promises(make: Maker, epsilon: str, size: int) -> None:
    numbers = (1, 5, 20, 60) if make in KNOWN or size == 1 else (5, 20, 60)

    covered = [
        _coverage(make, epsilon, size, n, round(n * share)) for n in numbers for share in (0, 0.1, 0.5, 1)
    ]

    assert min(covered) >= (0.935 if make in KNOWN or size == 1 else 0.92)


@pytest.mark.parametrize("make", [*KNOWN, SubsetSelection, HadamardResponse])
def test_the_interval_about_the_population_is_the_wider_one(make: Maker) -> None:
    channel = make("1", 8).channel
    expected = 600 * (float(channel.q) + (float(channel.p) - float(channel.q)) / 6)
    shares = Shares(600, np.full(8, round(expected)), channel)

    (low, high), (lower, higher) = (
        shares.together([1, 2, 3]).interval(0.95, about)[0] for about in ("respondents", "population")
    )

    assert lower < low < high < higher


def _coverage(make: Maker, epsilon: str, size: int, n: int, holders: int) -> float:
    """Return how often the interval of what ``size`` categories hold together has the truth in it."""
    inside, outside = _laws(make, epsilon, size)
    law = np.ones(1)
    for one in chain(repeat(inside, holders), repeat(outside, n - holders)):
        law = np.convolve(law, one)
    covered = 0.0
    for count in np.flatnonzero(law > 1e-9):
        supports = np.concatenate([[count], np.zeros(7, dtype=np.int64)])
        low, high = (
            Shares(n, supports, make(epsilon, 8).channel)
            .together(range(size))
            .interval(0.95, "respondents")[0]
        )
        covered += law[count] * (low - 1e-9 <= holders / n <= high + 1e-9)
    return covered


@cache
def _laws(make: Maker, epsilon: str, size: int) -> tuple[Floats, Floats]:
    """Return how likely a report supports how many of the first ``size`` of 8: a holder's, another's."""
    mechanism = make(epsilon, 8)
    reports = mechanism.outputs()
    supported = [int(mechanism.tally(report).cells[:size].sum()) for report in reports[:, None]]
    inside, outside = (
        np.bincount(
            supported,
            weights=[float(mechanism.likelihood(held, report)) for report in reports],
            minlength=size + 1,
        )
        for held in (0, 7)
    )
    return inside, outside
