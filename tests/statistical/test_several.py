"""This file holds estimates of several facts to their promises, where the tables of mechanisms do not reach.

Attributes of different sizes, numbers beside categories, ratios and their intervals. False alarms: each
comparison by Z once in 10**9.
"""

import numpy as np
import pytest

from hubbub.domains.boolean import Boolean
from hubbub.domains.choice import Choice
from hubbub.domains.number import Number
from hubbub.domains.record import Record
from hubbub.mechanisms.joint_response import JointResponse
from hubbub.mechanisms.key_value_unary import KeyValueUnary
from hubbub.mechanisms.padded_sampling import PaddedSampling
from hubbub.mechanisms.sampled_attribute import SampledAttribute
from hubbub.mechanisms.sampled_option import SampledOption
from hubbub.tally import Tally
from hubbub_lab.population import corners
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistics import Z, far, far_in_variance

FACTS = (("dark", Boolean()), ("system", Choice(("linux", "mac", "other"))))
DEVICE = (*FACTS, ("startup", Number.parse([0, 10])))
ROUNDS, N = 1_000, 2_000


def device_people() -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    """Return N records: 30 % dark, systems of 50, 30 and 20 %, numbers all along the range."""
    at = np.arange(N)
    return np.stack([at % 10 < 3, np.digitize(at * 7 % N / N, [0.5, 0.8]), at * 3 % N * 10 / N], axis=1)


@pytest.mark.parametrize("oracle", ["randomized_response", "optimized_unary", "subset_selection"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_marginals_of_different_sizes_have_no_bias_and_the_promised_error(epsilon: str, oracle: str) -> None:
    mechanism = JointResponse(epsilon, FACTS, oracle=oracle)
    reports, people = (
        mechanism.outputs(),
        np.array([[dark, system] for dark in (0, 1) for system in (0, 1, 2)]),
    )
    said = np.array([mechanism.estimate(mechanism.tally(report)).values[:5] for report in reports[:, None]])
    laws = np.array([[float(mechanism.likelihood(cell, report)) for report in reports] for cell in range(6)])

    means = laws @ said
    spreads = laws @ said**2 - means**2

    held = np.concatenate([people[:, [0]] == [0, 1], people[:, [1]] == [0, 1, 2]], axis=1)
    channels = [mechanism.channel.together(size) for size in (3, 3, 2, 2, 2)]
    promised = np.where(held, *np.array(channels).T)
    assert means == pytest.approx(held.astype(float), abs=1e-9)
    assert spreads == pytest.approx(promised, rel=1e-9)
    assert mechanism.stderr(1, frequency=0) ** 2 == pytest.approx(spreads[~held].max(), rel=1e-9)
    assert mechanism.stderr(1, frequency=1) ** 2 == pytest.approx(spreads[held].max(), rel=1e-9)


@pytest.mark.parametrize("epsilon", ["1", "4"])
def test_sampled_attributes_have_no_bias_and_the_error_of_a_sample_told_with_noise(epsilon: str) -> None:
    mechanism, held = SampledAttribute(epsilon, DEVICE), device_people()
    rows = [0, 1, 2, 3, 4, 5]
    true = np.array([0.7, 0.3, 0.5, 0.3, 0.2, held[:, 2].mean()])
    each = [mechanism._each[at] for at in (0, 0, 1, 1, 1)]
    noise = [one.stderr(1, frequency=share) ** 2 for one, share in zip(each, true[:5], strict=True)]
    noise.append(mechanism._each[2].stderr(1) ** 2)
    own = np.array([*(true[:5] * (1 - true[:5])), held[:, 2].var()])

    reports = np.split(mechanism.perturb(np.concatenate([held] * ROUNDS), seeded_coins(71)), ROUNDS)
    found = [mechanism.estimate(mechanism.tally(some)) for some in reports]

    values = np.array([estimate.values[rows] for estimate in found])
    stated = np.array([estimate.stderr("respondents")[rows] ** 2 for estimate in found]).mean(axis=0)
    promised = (3 * np.array(noise) + 2 * own) / N
    assert (far(values, true) < Z).all()
    assert (far_in_variance(values - true, promised) < Z).all()
    assert stated == pytest.approx(promised, rel=0.01)


@pytest.mark.parametrize("about", ["respondents", "population"])
@pytest.mark.parametrize("epsilon", ["1", "6"])
def test_intervals_of_sampled_attributes_cover_as_often_as_they_say(epsilon: str, about: str) -> None:
    mechanism, held, coins = SampledAttribute(epsilon, DEVICE), device_people(), seeded_coins(72)
    rows, rounds = [1, 2, 5], 400
    true = np.array([0.3, 0.5, held[:, 2].mean()])
    drawn = np.concatenate([held] * rounds)
    if about == "population":
        drawn = held[coins.generator.integers(0, N, rounds * N)]

    reports = np.split(mechanism.perturb(drawn, coins), rounds)
    ends = np.array(
        [mechanism.estimate(mechanism.tally(some)).interval(0.95, about)[rows] for some in reports]  # type: ignore[arg-type]
    )

    covered = ((ends[..., 0] <= true) & (true <= ends[..., 1])).mean(axis=0)
    assert (np.abs(covered - 0.95) < Z * np.sqrt(0.95 * 0.05 / rounds)).all()


@pytest.mark.parametrize("epsilon", ["1", "4"])
def test_sampled_options_have_the_error_that_is_planned(epsilon: str) -> None:
    mechanism, at = SampledOption(epsilon, 4), np.arange(N)
    held = np.stack([at % 2 < 1, at % 10 < 3, at % 10 < 9, at < 0], axis=1).astype(np.int64)
    true = held.mean(axis=0)

    reports = np.split(mechanism.perturb(np.concatenate([held] * ROUNDS), seeded_coins(73)), ROUNDS)
    values = np.array([mechanism.estimate(mechanism.tally(some)).values for some in reports])

    promised = np.array([mechanism.stderr(N, frequency=share) ** 2 for share in true])
    assert (far(values, true) < Z).all()
    assert (far_in_variance(values - true, promised) < Z).all()


@pytest.mark.parametrize("oracle", ["randomized_response", "optimized_unary", "subset_selection"])
def test_slots_have_the_error_that_is_planned(oracle: str) -> None:
    mechanism, at = PaddedSampling("2", 5, most=3, oracle=oracle), np.arange(N)
    held = np.stack([at % 2 < 1, at % 10 < 3, at % 10 < 7, at < 0, at < 0], axis=1).astype(np.int64)
    true = held.mean(axis=0)

    reports = np.split(mechanism.perturb(np.concatenate([held] * ROUNDS), seeded_coins(74)), ROUNDS)
    values = np.array([mechanism.estimate(mechanism.tally(some)).values for some in reports])

    promised = np.array([mechanism.stderr(N, frequency=share) ** 2 for share in true])
    assert (far(values, true) < Z).all()
    assert (far_in_variance(values - true, promised) < Z).all()


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_shares_of_keys_have_no_bias_and_the_promised_error(epsilon: str, most: int) -> None:
    mechanism = KeyValueUnary(epsilon, 3, most=most, low=0, high=1)
    people = np.array([[a, b, c] for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)])
    people = people[(people != 0).sum(axis=1) <= most]
    reports = mechanism.outputs()
    said = np.array([mechanism.estimate(mechanism.tally(report[None])).values[:3] for report in reports])
    laws = np.array([[float(mechanism.likelihood(held, report)) for report in reports] for held in people])

    means = laws @ said
    spreads = laws @ said**2 - means**2

    errors = [mechanism.stderr(1, frequency=share) ** 2 for share in (0, 1)]
    assert means == pytest.approx((people != 0).astype(float), abs=1e-9)
    assert spreads == pytest.approx(np.where(people != 0, errors[1], errors[0]), rel=1e-9)


@pytest.mark.parametrize("epsilon", ["1", "4"])
def test_means_of_keys_are_as_close_and_as_often_covered_as_stated(epsilon: str) -> None:
    mechanism, coins = KeyValueUnary(epsilon, 4, most=2, low=-5, high=15), seeded_coins(75)
    n, rounds = 10_000, 500
    at = np.arange(n)
    held = np.full((n, 4), np.nan)
    held[at % 2 < 1, 0] = (at[at % 2 < 1] % 100) / 10  # half of them have from 0 to 9.8
    held[at % 3 < 1, 1] = 40.0  # above the range
    drawn = held[coins.generator.integers(0, n, rounds * n)]
    true = np.array([np.nanmean(held[:, 0]), 15.0])

    found = [
        mechanism.estimate(mechanism.tally(some))
        for some in np.split(mechanism.perturb(drawn, coins), rounds)
    ]

    values = np.array([estimate.values[4:6] for estimate in found])
    stated = np.array([estimate.stderr("population")[4:6] for estimate in found])
    ends = np.array([estimate.interval(0.95, "population")[4:6] for estimate in found])
    covered = ((ends[..., 0] <= true) & (true <= ends[..., 1])).mean(axis=0)
    assert (np.abs(np.median(values, axis=0) - true) < Z * 1.26 * values.std(axis=0) / np.sqrt(rounds)).all()
    assert (((values - true) / stated) ** 2).mean(axis=0) == pytest.approx(
        [1, 1], abs=Z * np.sqrt(2 / rounds)
    )
    widths = np.median((ends[..., 1] - ends[..., 0]) / (2 * 1.959964 * stated), axis=0)
    assert widths == pytest.approx([1, 1], rel=0.2)  # a ratio's interval is wider on one side
    assert (np.abs(covered - 0.95) < Z * np.sqrt(0.95 * 0.05 / rounds)).all()


def test_the_mean_of_a_key_that_nobody_has_is_unknown() -> None:
    mechanism = KeyValueUnary("1", 3, most=1, low=2, high=4)
    nobody = mechanism.perturb(np.full((500, 3), np.nan), seeded_coins(76))

    estimate = mechanism.estimate(mechanism.tally(nobody))

    assert estimate.values[:3] == pytest.approx([0, 0, 0], abs=6 * mechanism.stderr(500))
    assert np.isnan(estimate.values[3:]).all()
    assert np.isnan(estimate.stderr("population")[3:]).all()
    assert np.isnan(estimate.interval(0.5, "population")[3:]).all()


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_the_mean_of_a_rare_key_is_within_its_interval_or_unknown(level: float) -> None:
    mechanism, n = KeyValueUnary("1", 2, most=1, low=0, high=120), 2_000
    cells = np.array([[plus, 700, minus, 700] for plus in range(330, 430, 2) for minus in range(330, 430, 2)])

    found = [mechanism.estimate(Tally(n, row)) for row in cells]

    values = np.array([estimate.values[2:] for estimate in found])
    low, high = np.moveaxis([estimate.interval(level, "population")[2:] for estimate in found], 2, 0)
    is_rare = (cells[:, 0] + cells[:, 2]) / n < float(mechanism.b) + 1.9 * mechanism.stderr(n) * (
        0.5 - float(mechanism.b)
    )
    assert np.isnan(values[is_rare, 0]).all()
    assert not np.isnan(values).all()
    assert np.isnan(low[np.isnan(values)]).all()
    assert ((low < values) & (values < high))[~np.isnan(low)].all()


def test_a_number_is_rounded_so_that_its_mean_stays() -> None:
    mechanism, n = KeyValueUnary("1", 2, most=1, low=0, high=10), 100_000

    inputs = mechanism.inputs(np.tile([2.5, np.nan], (n, 1)), seeded_coins(77))

    assert (far((inputs[:, :1] + 1) * np.float64(5), np.array([2.5])) < Z).all()
    assert not inputs[:, 1].any()


def test_corners_of_a_record_with_a_number_are_its_ends() -> None:
    listed = corners(Record(DEVICE))

    assert len(listed) == 12
    assert {row[2] for row in listed} == {0.0, 10.0}
