"""This file checks means, sums and variances of numbers, with their errors, by simulation.

False alarms: a comparison by Z once in 10**9.
"""

import math

import numpy as np
import pytest

from hubbub.errors import TooFewReportsError
from hubbub.estimate import About
from hubbub.intervals import normal_quantile
from hubbub.mechanisms.laplace import Laplace
from hubbub.moments import Moments, Noise
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistics import Z, far, far_in_variance

ROUNDS = 4_000
NOISE = Noise(variance=2.0, fourth_moment=24.0, rounding=0.0)


def estimates(mechanism: Laplace, values: "np.ndarray", seed: int) -> list[Moments]:  # type: ignore[type-arg]
    """Estimate from the reports of each row of values."""
    reports = mechanism.perturb(values.reshape(-1), seeded_coins(seed)).reshape(values.shape)
    return [mechanism.estimate(mechanism.tally(row)) for row in reports]


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("n", [2, 30])
def test_given_numbers_have_their_moments_back_with_the_promised_error(epsilon: str, n: int) -> None:
    values = np.arange(n) % 5 / 4 * 10
    mechanism = Laplace(epsilon, "0", "10")

    found = estimates(mechanism, np.tile(values, (ROUNDS, 1)), seed=31)

    rows = np.array([each.values for each in found])
    truth = np.array([values.mean(), values.sum(), values.var(ddof=1)])
    noise = found[0].noise
    exact = 4 * noise.variance * truth[2] / (n - 1) + noise.fourth_moment / n
    exact -= noise.variance**2 * (n - 3) / (n * (n - 1))
    promised = np.array([*(found[0].stderr("respondents")[:2] ** 2), exact])
    assert (far(rows, truth) < Z).all()
    assert (far_in_variance(rows - truth, promised) < Z).all()


@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_the_error_of_a_variance_is_estimated_from_the_reports_as_it_is(epsilon: str) -> None:
    n, truth = 2_000, 100 / 4 * 2_000 / 1_999
    values = np.tile(np.arange(n) % 2 * 10.0, (ROUNDS // 2, 1))

    found = estimates(Laplace(epsilon, "0", "10"), values, seed=32)

    promised = np.mean([each.stderr("respondents")[2] ** 2 for each in found])
    errors = np.array([each.values[2] for each in found]) - truth
    assert far_in_variance(errors, promised) < Z


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("n", [1, 2, 5, 30, 300])
def test_intervals_of_a_mean_about_respondents_cover_it_19_times_in_20(epsilon: str, n: int) -> None:
    values = np.random.default_rng(n).random((ROUNDS, n)) * 10

    ends = np.array(
        [
            each.interval(0.95, "respondents")[0]
            for each in estimates(Laplace(epsilon, "0", "10"), values, seed=33)
        ]
    )

    truth = values.mean(axis=1)
    coverage = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
    assert 0.93 <= coverage <= 0.97  # of 0.95 +- 0.0034


@pytest.mark.parametrize("n", [2, 5, 30, 300])
def test_intervals_of_a_mean_about_the_population_cover_it_19_times_in_20(n: int) -> None:
    values = np.random.default_rng(n).random((ROUNDS, n)) * 10

    ends = np.array(
        [each.interval(0.95, "population")[0] for each in estimates(Laplace("4", "0", "10"), values, seed=34)]
    )

    assert 0.93 <= ((ends[:, 0] <= 5) & (ends[:, 1] >= 5)).mean() <= 0.98


@pytest.mark.parametrize("about", ["respondents", "population"])
@pytest.mark.parametrize("n", [30, 1_000])
def test_intervals_of_a_variance_cover_it_at_least_19_times_in_20(about: About, n: int) -> None:
    values = np.random.default_rng(n).integers(0, 2, (1_000, n)) * 10.0
    truth = values.var(axis=1, ddof=1) if about == "respondents" else np.full(1_000, 25.0)

    ends = np.array(
        [each.interval(0.95, about)[2] for each in estimates(Laplace("2", "0", "10"), values, seed=35)]
    )

    assert ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean() >= 0.92


def test_the_quantile_of_one_report_is_nearly_that_of_laplace_noise_and_of_many_the_normal_one() -> None:
    noise = Noise(variance=2.0, fourth_moment=24.0, rounding=0.0)  # Laplace noise of scale 1

    one, many = noise.quantile(1, 0.95), noise.quantile(10**9, 0.95)

    assert one == pytest.approx(math.log(20) / 2**0.5, rel=0.03)
    assert many == pytest.approx(normal_quantile(0.95), rel=1e-8)


def test_one_report_has_a_mean_and_owns_that_it_knows_no_more() -> None:
    one = Moments(n=1, mean=3.0, spread=math.nan, width=10.0, noise=NOISE)

    about_it, about_others = one.interval(0.95, "respondents"), one.interval(0.95, "population")

    assert one.values[:2].tolist() == [3.0, 3.0]
    assert np.isfinite(about_it[:2]).all()
    assert np.isnan(about_it[2]).all()
    assert np.isnan(one.values[2])
    assert np.isnan(about_others).all()
    assert np.isnan(one.stderr("population")).all()


def test_a_variance_below_zero_is_reported_as_it_came_out() -> None:
    flat = Moments(n=100, mean=3.0, spread=1.5, width=10.0, noise=NOISE)

    assert flat.values[2] == -0.5
    assert (flat.stderr("respondents") > 0).all()
    assert (flat.stderr("population") > 0).all()


def test_no_reports_make_no_mean() -> None:
    with pytest.raises(TooFewReportsError, match="at least 1 report"):
        Moments(n=0, mean=0.0, spread=0.0, width=1.0, noise=NOISE)
    with pytest.raises(TooFewReportsError):
        NOISE.stderr(0)
