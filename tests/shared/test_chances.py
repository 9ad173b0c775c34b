"""This file checks intervals of a chance against the beta law, of which the exact ones are quantiles."""

import numpy as np
import pytest
from scipy import stats

from hubbub.chances import chance_interval
from hubbub.intervals import normal_quantile

LEVELS = [0.5, 0.95, 0.9999, 1 - 1e-9]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [1, 2, 3, 39, 40, 79, 80, 81, 1_000, 10**9])
def test_of_a_few_hits_or_misses_the_interval_is_exact(n: int, level: float) -> None:
    hits = np.unique(np.clip([0, 1, 2, 17, 39, n // 2, n - 39, n - 2, n - 1, n], 0, n))
    hits = hits[np.minimum(hits, n - hits) < 40]

    low, high = chance_interval(hits, n, level).T

    tail = (1 - level) / 2
    exact_low = np.where(hits == 0, 0, stats.beta.ppf(tail, hits, n - hits + 1))
    exact_high = np.where(hits == n, 1, stats.beta.isf(tail, hits + 1, n - hits))
    width = exact_high - exact_low
    assert np.abs(low - exact_low) / width == pytest.approx(0, abs=1e-5)
    assert np.abs(high - exact_high) / width == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("level", LEVELS)
def test_of_more_the_ends_are_where_the_count_is_just_so_far_off(level: float) -> None:
    hits, n = np.array([40, 5_000, 9_960]), 10_000

    ends = chance_interval(hits, n, level)

    off = (hits[:, None] / n - ends) / np.sqrt(ends * (1 - ends) / n)
    z = normal_quantile(level)
    assert off == pytest.approx(np.tile([z, -z], (3, 1)))
