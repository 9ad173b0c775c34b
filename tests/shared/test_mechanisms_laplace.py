"""This file checks the rounding, clamping, noise and sums of numbers.

False alarms: a comparison by Z once in 10**9.
"""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.mechanisms.laplace import Laplace
from hubbub.tally import Tally
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z, far


@pytest.mark.parametrize(
    ("low", "high", "width"), [("-1", "10", 11), ("-10", "-2", 8), ("0", "10", 10), ("0.5", "0.75", 0.25)]
)
def test_the_noise_is_as_wide_as_the_range(low: str, high: str, width: float) -> None:
    mechanism = Laplace("1", low, high)

    errors = [mechanism.stderr(1) for mechanism in (mechanism, replace(mechanism, steps=4))]

    assert errors[0] == pytest.approx(width * 2**0.5, rel=1e-6)
    assert errors[1] == pytest.approx(width * 2**0.5, rel=5e-3)


@pytest.mark.parametrize("steps", [1, 4, 1024, 2**20])
def test_rounding_keeps_the_mean_of_values_between_points(steps: int) -> None:
    mechanism, n = Laplace("1", "-1", "3", steps=steps), 200_000
    value = -1 + 4 * 0.3141

    points = mechanism.inputs(np.full(n, value), seeded_coins(44))

    assert far(points / steps * 4 - 1, np.array(value)) < Z
    assert points.max() - points.min() == 1


@pytest.mark.parametrize("value", [-1e300, -1.0001, -1.0, 3.0, 3.0001, 1e300])
@pytest.mark.parametrize("steps", [1, 1024])
def test_values_beyond_the_range_count_as_its_end(value: float, steps: int) -> None:
    mechanism = Laplace("1", "-1", "3", steps=steps)

    points = mechanism.inputs(np.full(1_000, value), seeded_coins(45))

    assert set(points.tolist()) == {0 if value <= -1 else steps}


@given(
    value=st.floats(allow_nan=False, allow_infinity=False),
    low=st.decimals(-(10**9), 10**9, allow_nan=False, places=3),
    width=st.decimals("0.001", 10**9, allow_nan=False, places=3),
)
def test_whatever_the_value_its_point_lies_on_the_grid(value: float, low: Decimal, width: Decimal) -> None:
    mechanism = Laplace("1", low, low + width, steps=7)

    points = mechanism.inputs(np.array([value]), system_coins())

    assert 0 <= points[0] <= 7


def test_no_rounding_error_of_floats_leads_beyond_the_last_point() -> None:
    mechanism = Laplace("1", "-2", "-1.9", steps=7)
    assert (-1.9 + 2) * (7 / (-1.9 + 2)) > 7

    points = mechanism.inputs(np.array([-1.9]), ScriptedCoins(then=0))  # these coins always round up

    assert points.tolist() == [7]


def test_noise_beyond_the_margin_is_sent_as_the_outermost_report() -> None:
    mechanism = Laplace("1", "0", "1")
    most = ScriptedCoins([*[0] * 4, *[0] * 15, 255, *[0] * 16], then=255)  # noise 2 * 16384 - 1

    report = mechanism.perturb(np.array([0.0]), most)

    assert report.tolist() == [mechanism.steps + mechanism.margin]


@pytest.mark.parametrize(("epsilon", "steps"), [("0.001", 2**20), ("1", 1024), ("20", 1)])
def test_the_sums_of_10_to_the_12_extreme_reports_do_not_overflow(epsilon: str, steps: int) -> None:
    mechanism, many = Laplace(epsilon, "0", "1", steps=steps), 10**12
    ends = np.array([-mechanism.margin, steps + mechanism.margin], dtype=mechanism.layout)

    one = mechanism.tally(ends)
    estimate = mechanism.estimate(Tally(2 * many, one.cells * many))

    spread = Fraction((steps + 2 * mechanism.margin) ** 2, 4 * steps**2)
    assert one.cells.max() < 2**63 / many
    assert estimate.values[0] == pytest.approx(0.5)
    assert estimate.values[2] + estimate.noise.variance == pytest.approx(float(spread))


def test_a_crowd_at_one_point_is_simulated_by_the_same_law_as_its_members() -> None:
    mechanism, coins, n, rounds = Laplace("4", "0", "10", steps=8), seeded_coins(47), 4_000, 1_000
    counts, values = np.array([0, 0, 0, n, 0, 0, 0, 0, 0]), np.full(n, 3 / 8 * 10)

    at_once = np.array([mechanism.simulate(counts, coins).cells for _ in range(rounds)], dtype=float)
    each = np.array(
        [mechanism.tally(mechanism.perturb(values, coins)).cells for _ in range(rounds)], dtype=float
    )

    squares = (at_once - at_once.mean(axis=0)) ** 2 - (each - each.mean(axis=0)) ** 2
    assert (far(at_once - each, np.zeros(3)) < Z).all()
    assert (far(squares, np.zeros(3)) < Z).all()
