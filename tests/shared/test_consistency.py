"""This file checks that views are shares: the nearest ones, or those with less error where noise is much."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.consistency import norm_sub, shrunk, viewed
from hubbub.errors import DomainError
from hubbub.mechanisms.hierarchical_histogram import HierarchicalHistogram
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.square_wave import SquareWave
from hubbub_lab.seeded_coins import seeded_coins

shares = st.lists(st.floats(-3, 3), min_size=1, max_size=30).map(np.array)


VIEWS = {"norm-sub": norm_sub, "shrunk": lambda values: shrunk(values, 0.1)}


@pytest.mark.parametrize("name", VIEWS)
@given(values=shares)
def test_a_view_is_made_of_shares(values: "np.ndarray", name: str) -> None:  # type: ignore[type-arg]
    view = VIEWS[name](values)

    assert (view >= 0).all()
    assert view.sum() == pytest.approx(1)


@given(values=shares, other=shares)
def test_no_other_shares_are_nearer(values: "np.ndarray", other: "np.ndarray") -> None:  # type: ignore[type-arg]
    view = norm_sub(values)
    rival = np.resize(np.abs(other) + 1e-9, values.size)

    rival = rival / rival.sum()

    assert ((values - view) ** 2).sum() <= ((values - rival) ** 2).sum() + 1e-9


@given(values=shares)
def test_shares_that_are_consistent_stay_as_they_are(values: "np.ndarray") -> None:  # type: ignore[type-arg]
    consistent = norm_sub(values)

    again = norm_sub(consistent)

    assert again == pytest.approx(consistent)


def test_a_true_share_of_one_is_seen_as_one() -> None:
    assert norm_sub(np.array([1.05, -0.03, -0.02])).tolist() == pytest.approx([1, 0, 0])


@given(values=shares.filter(lambda values: values.size > 1))
def test_without_noise_the_shrunk_view_is_the_nearest_one(values: "np.ndarray") -> None:  # type: ignore[type-arg]
    assert shrunk(values, 0.0) == pytest.approx(norm_sub(values), abs=1e-9)


def test_all_noise_leaves_equal_shares() -> None:
    assert shrunk(np.array([0.4, -0.1, 0.9, -0.2]), 100.0).tolist() == pytest.approx([0.25] * 4)


# the law of 64 shares, reports, and the error that shrunk may have over that of norm-sub and of clipping
SETTINGS = {
    "equal": (np.ones(64), 2_000, 0.3, 0.6),
    "rising": (np.arange(1.0, 65), 2_000, 0.5, 0.8),
    "Zipf's": (1 / np.arange(1.0, 65), 2_000, 1.0, 1.0),
    "Zipf's, many": (1 / np.arange(1.0, 65), 50_000, 1.05, 0.95),
    "three": (np.r_[np.ones(3), np.full(61, 1e-3)], 2_000, 1.2, 0.4),
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_the_shrunk_view_is_near_the_better_of_subtracting_and_clipping(
    setting: tuple["np.ndarray", int, float, float],  # type: ignore[type-arg]
) -> None:
    weights, n, over_nearest, over_clipped = setting
    mechanism, coins = OptimizedUnary("1", 64), seeded_coins(81)
    counts = np.rint(weights / weights.sum() * n).astype(np.int64)

    estimates = [mechanism.estimate(mechanism.simulate(counts, coins)) for _ in range(200)]

    truth = counts / counts.sum()
    errors = {"norm-sub": 0.0, "shrunk": 0.0, "clipped": 0.0}
    for estimate in estimates:
        clipped = np.maximum(estimate.values, 0)
        errors["clipped"] += ((clipped / clipped.sum() - truth) ** 2).sum()
        errors["norm-sub"] += ((viewed(estimate, "norm-sub") - truth) ** 2).sum()
        errors["shrunk"] += ((viewed(estimate, "shrunk") - truth) ** 2).sum()
    assert errors["shrunk"] < over_nearest * errors["norm-sub"]
    assert errors["shrunk"] < over_clipped * errors["clipped"]


HISTOGRAM = HierarchicalHistogram("1", "0", "1", branching=2, buckets=16)
NUMBERS = np.concatenate([np.full(300, 0.3), np.linspace(0.6, 0.7, 200)])


def test_a_monotone_view_of_a_histogram_is_a_distribution_with_the_same_quantiles() -> None:
    found = HISTOGRAM.estimate(HISTOGRAM.tally(HISTOGRAM.perturb(NUMBERS, seeded_coins(94))))

    view = viewed(found, "monotone")

    assert found.values[6:].min() < 0 <= view[6:].min()
    assert view[6:].sum() == pytest.approx(1)
    assert view[1:6].tolist() == found.values[1:6].tolist()


def test_bins_of_a_monotone_view_have_less_squared_error_than_the_unbiased_ones() -> None:
    coins, rounds = seeded_coins(95), 60
    true = np.bincount(HISTOGRAM.buckets.index(NUMBERS), minlength=16) / NUMBERS.size

    found = [HISTOGRAM.estimate(HISTOGRAM.tally(HISTOGRAM.perturb(NUMBERS, coins))) for _ in range(rounds)]

    errors = [
        [((values[6:] - true) ** 2).sum() for values in (one.values, viewed(one, "monotone"))]
        for one in found
    ]
    assert np.mean(errors, axis=0)[1] < np.mean(errors, axis=0)[0] / 2


def test_what_is_a_distribution_already_is_its_own_monotone_view() -> None:
    mechanism = SquareWave("1", "0", "1", buckets=16)
    found = mechanism.estimate(mechanism.tally(mechanism.perturb(NUMBERS, seeded_coins(96))))

    assert viewed(found, "monotone").tolist() == found.values.tolist()


@pytest.mark.parametrize(
    ("mechanism", "view"),
    [
        (HISTOGRAM, "norm-sub"),
        (HISTOGRAM, "shrunk"),
        (OptimizedUnary("1", 4), "monotone"),
        (Laplace("1", "0", "1"), "monotone"),
    ],
    ids=str,
)
def test_a_view_that_an_estimate_does_not_have_is_refused(mechanism: Any, view: Any) -> None:
    tally = mechanism.tally(mechanism.perturb(np.array([0, 1, 1]), seeded_coins(97)))

    with pytest.raises(DomainError, match="monotone is for distributions only"):
        viewed(mechanism.estimate(tally), view)
