"""This file checks exact tails against sums over every number of holders and every count."""

import numpy as np
import pytest

from hubbub.holders import Holders, binomial
from tests.statistics import support_law

CHANNELS = [(0.731, 0.269), (0.5, 0.018), (0.999, 0.00002), (0.0686, 0.0621)]


@pytest.mark.parametrize(("p", "q"), CHANNELS)
def test_probabilities_of_counts_are_sums_of_the_law(p: float, q: float) -> None:
    n, holders = 40, 13
    law = support_law(n, holders, p, q)

    at_most = [Holders(n, p, q).at_most(count, holders) for count in range(-2, n + 2)]

    assert at_most == pytest.approx([law[: max(0, count + 1)].sum() for count in range(-2, n + 2)], abs=1e-13)


@pytest.mark.parametrize(("p", "q"), CHANNELS)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_an_interval_holds_all_numbers_of_holders_that_leave_no_tail(
    p: float, q: float, level: float
) -> None:
    n = 25
    laws = np.array([support_law(n, holders, p, q) for holders in range(n + 1)])
    at_most, at_least = laws.cumsum(axis=1), laws[:, ::-1].cumsum(axis=1)[:, ::-1]
    plausible = (at_most > (1 - level) / 2) & (at_least > (1 - level) / 2)
    likeliest = laws.argmax(axis=0)
    counts = [count for count in range(n + 1) if plausible[likeliest[count], count]]

    found = [Holders(n, p, q).interval(count, level, int(likeliest[count])) for count in counts]

    expected = [plausible[:, count].nonzero()[0] for count in counts]
    assert len(counts) >= 2
    assert found == [(numbers[0], numbers[-1]) for numbers in expected]


def test_a_count_that_no_number_of_holders_explains_has_no_interval() -> None:
    holders = Holders(100, p=0.5, q=0.3)

    assert holders.interval(10, 0.95, 0) is None
    assert holders.interval(80, 0.95, 100) is None


@pytest.mark.parametrize(
    ("n", "p"), [(0, 0.3), (1, 0.5), (30, 0.01), (10**6, 1e-6), (10**12, 1e-12), (10**9, 0.5)]
)
def test_binomial_masses_have_the_mean_and_variance_of_their_law(n: int, p: float) -> None:
    start, masses = binomial(n, p)

    values = start + np.arange(masses.size, dtype=float)
    mean = (values * masses).sum()
    assert masses.sum() == pytest.approx(1)
    assert mean == pytest.approx(n * p, rel=1e-9)
    assert ((values - mean) ** 2 * masses).sum() == pytest.approx(n * p * (1 - p), rel=1e-4)
