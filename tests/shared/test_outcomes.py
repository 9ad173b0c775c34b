"""This file checks the errors and intervals of means that are made of counts.

False alarms: a comparison by Z once in 10**9.
"""

from typing import Any

import numpy as np
import pytest

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.grid import Grid
from hubbub.mechanisms.hybrid import Hybrid
from hubbub.mechanisms.integer_table import IntegerTable
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.piecewise import Piecewise
from hubbub.outcomes import Meaning, Outcomes, count
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistics import Z

MAKES: list[Any] = [OneBitMean, Piecewise, Hybrid, IntegerTable]
ROUNDS = [100, pytest.param(2_000, marks=pytest.mark.torture)]
COVERED = 0.925  # of the time at least, by an interval of the level 0.95 from ten reports or more
CROWDS = {
    "all in the middle": lambda points: points == (len(points) - 1) // 2,
    "all at the upper end": lambda points: points == len(points) - 1,
    "half at each end": lambda points: (points == 0) | (points == len(points) - 1),
    "evenly spread": lambda points: points >= 0,
}


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("crowd", CROWDS)
@pytest.mark.parametrize("n", [10, 300])
@pytest.mark.parametrize("epsilon", ["0.5", "2", "8"])
@pytest.mark.parametrize("make", MAKES)
def test_intervals_of_means_hold_the_truth_as_often_as_they_say(
    make: Any, epsilon: str, n: int, crowd: str, rounds: int
) -> None:
    mechanism, coins = make(epsilon, "-1", "1"), seeded_coins(81)
    points = np.linspace(-1, 1, mechanism.grid.steps + 1)
    weights = CROWDS[crowd](np.arange(points.size)).astype(float)
    values = coins.generator.choice(points, (rounds, n), p=weights / weights.sum())

    reports = mechanism.perturb(values.ravel(), coins).reshape(rounds, n)
    found = [mechanism.estimate(mechanism.tally(some)) for some in reports]

    about = np.array([each.interval(0.95, "respondents")[0] for each in found])
    wider = np.array([each.interval(0.95, "population")[0] for each in found])
    truth, law = values.mean(axis=1), float(weights @ points / weights.sum())
    slack = Z * (COVERED * (1 - COVERED) / rounds) ** 0.5
    assert ((about[:, 0] <= truth) & (truth <= about[:, 1])).mean() > COVERED - slack
    assert ((wider[:, 0] <= law) & (law <= wider[:, 1])).mean() > COVERED - slack


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("epsilon", ["0.5", "2", "8"])
def test_errors_about_a_large_population_are_those_of_its_reports(make: Any, epsilon: str) -> None:
    mechanism, n = make(epsilon, "-1", "3"), 1_000_000
    counts = np.full(mechanism.grid.steps + 1, n // (mechanism.grid.steps + 1))
    rounds = [mechanism.estimate(mechanism.simulate(counts, seeded_coins(seed))) for seed in range(82, 86)]

    noise = [each.stderr("respondents")[0] ** 2 * each.n for each in rounds]
    all_in_all = [each.stderr("population")[0] ** 2 * each.n for each in rounds]

    points = np.linspace(-1, 1, counts.size)
    true = 4 * float((mechanism.meaning.squares - points**2).mean())
    spread = 4 * float(mechanism.meaning.squares.mean())
    assert all_in_all == pytest.approx([spread] * 4, rel=0.03)
    assert min(noise) >= true * 0.99
    assert max(noise) <= min(spread, 4 * mechanism.meaning.worst) * 1.01


def test_the_noise_of_a_window_is_told_from_the_reports() -> None:
    mechanism = Piecewise("4", "-1", "1")
    counts = np.full(1025, 10_000)

    estimate = mechanism.estimate(mechanism.simulate(counts, seeded_coins(87)))

    points = np.linspace(-1, 1, counts.size)
    true = float((mechanism.meaning.squares - points**2).mean())
    assert estimate.stderr("respondents")[0] ** 2 * estimate.n == pytest.approx(true, rel=1e-3)
    assert true < 0.7 * mechanism.meaning.worst


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("b", [0.3, 1.0, 1.7])
def test_the_highest_of_a_curve_is_found_between_points_too(make: Any, b: float) -> None:
    meaning = make("2", "0", "1").meaning
    x = np.linspace(-1, 1, 200_001)

    found = meaning.highest(b)

    curve = np.interp(x, np.linspace(-1, 1, meaning.squares.size), meaning.squares) - b * x**2
    assert found == pytest.approx(curve.max(), rel=1e-8)


def test_one_report_tells_a_mean_and_no_error_about_a_population() -> None:
    estimate = Piecewise("4", "-1", "1").estimate(Tally(1, np.eye(1, 1355, 700, dtype=np.int64)[0]))

    assert np.isfinite(estimate.values).all()
    assert np.isfinite(estimate.interval(0.95, "respondents")).all()
    assert np.isnan(estimate.stderr("population")).all()
    assert np.isnan(estimate.interval(0.95, "population")).all()


@pytest.mark.parametrize(("ones", "rows"), [(0, (0.0, 0.0)), (39, (39.0, 0.0)), (500, (500.0, 500.0))])
def test_means_of_two_kinds_of_reports_have_intervals_of_a_binomial_chance(
    ones: int, rows: tuple[float, float]
) -> None:
    meaning = Meaning(Grid("0", "1", 1), np.array([-1.0, 1.0]), np.array([1.0, 1.0]))

    low, high = Outcomes(1_000, np.array([1_000 - ones, ones]), meaning).interval(0.95, "population")[0]

    assert low <= ones / 1_000 <= high
    assert low >= 0
    assert high - low == pytest.approx(2 * 1.96 * (max(ones, 1) * (1_000 - ones) / 1e9) ** 0.5, rel=0.1)


def test_the_error_about_a_population_is_that_of_a_sample() -> None:
    meaning = Meaning(Grid("0", "10", 1), np.array([-2.0, 0.0, 2.0]), np.array([1.0, 1.0]))

    estimate = Outcomes(4, np.array([1, 2, 1]), meaning)

    assert estimate.values.tolist() == [5.0, 20.0]
    assert estimate.stderr("population") == pytest.approx([5 * (8 / 3 / 4) ** 0.5, 20 * (8 / 3 / 4) ** 0.5])
    assert estimate.interval(0.95, "population")[0] == pytest.approx(
        [5 - 3.182446 * 5 * (2 / 3) ** 0.5, 5 + 3.182446 * 5 * (2 / 3) ** 0.5]
    )


def test_a_sum_is_n_times_the_mean_with_its_error() -> None:
    estimate = Hybrid("2", "0", "10").estimate(Hybrid("2", "0", "10").tally(np.array([0, 1, 500, 900])))

    assert estimate.values[1] == 4 * estimate.values[0]
    assert estimate.stderr("respondents")[1] == 4 * estimate.stderr("respondents")[0]
    assert estimate.interval(0.9, "population")[1] == pytest.approx(
        4 * estimate.interval(0.9, "population")[0]
    )


def test_reports_that_are_none_are_not_counted() -> None:
    assert count(np.array([0, 2, 2]), 3) == Tally(3, np.array([1, 0, 2]))
    with pytest.raises(DomainError, match="from 0 to 2"):
        count(np.array([0, 3]), 3)
    with pytest.raises(TooFewReportsError):
        Outcomes(0, np.zeros(3, dtype=np.int64), Piecewise("1", "0", "1", steps=1).meaning)
