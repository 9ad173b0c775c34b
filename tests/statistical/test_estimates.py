"""This file simulates whole collections, thousands at a time, and checks estimates against the truth.

False alarms: each comparison by Z once in 10**9, so each test less than once in 10**7.
"""

import numpy as np
import pytest

from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistics import Z, far, far_in_variance

QUICK, FULL = 300, 20_000
ROUNDS = [QUICK, pytest.param(FULL, marks=pytest.mark.torture)]
CELLS = pytest.mark.parametrize(
    "cell",
    [(epsilon, n, share) for epsilon in ("0.1", "1", "4") for n in (30, 10_000) for share in (0, 0.1, 1)],
)
Cell = tuple[str, int, float]


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("make", [RandomizedResponse, OptimizedUnary])
@pytest.mark.parametrize("k", [2, 16])
@CELLS
def test_shares_of_simulated_collections_are_unbiased_with_the_promised_variance(
    make: type[RandomizedResponse | OptimizedUnary], k: int, cell: Cell, rounds: int
) -> None:
    epsilon, n, share = cell
    mechanism, coins = make(epsilon, k), seeded_coins(51)
    counts = np.array([round(n * share), n - round(n * share), *[0] * (k - 2)])

    values = np.array([mechanism.estimate(mechanism.simulate(counts, coins)).values for _ in range(rounds)])

    promised = np.array([mechanism.stderr(n, frequency=held / n) ** 2 for held in counts])
    assert (far(values, counts / n) < Z).all()
    assert (far_in_variance(values - counts / n, promised) < Z).all()


@pytest.mark.parametrize("rounds", ROUNDS)
@CELLS
def test_means_of_simulated_collections_are_unbiased_with_the_promised_variance(
    cell: Cell, rounds: int
) -> None:
    epsilon, n, share = cell
    mechanism, coins = Laplace(epsilon, "0", "1", steps=8), seeded_coins(52)
    counts = np.zeros(9, dtype=np.int64)
    counts[[0, -1]] = [n - round(n * share), round(n * share)]
    own = counts[0] * counts[-1] / (n * (n - 1))

    found = [mechanism.estimate(mechanism.simulate(counts, coins)) for _ in range(rounds)]

    values = np.array([estimate.values for estimate in found])
    truth = np.array([share, n * share, own])
    v, m4 = found[0].noise.variance, found[0].noise.fourth_moment
    variance = 4 * v * own / (n - 1) + m4 / n - v**2 * (n - 3) / (n * (n - 1))
    promised = np.array([v / n, v * n, variance])
    assert (far(values, truth) < Z).all()
    assert (far_in_variance(values - truth, promised) < Z).all()
