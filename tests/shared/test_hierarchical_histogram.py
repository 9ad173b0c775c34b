"""This file checks the hierarchical histogram: its bytes, how levels agree, and the error of sums.

False alarms: a comparison by Z once in 10**9.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.buckets import Buckets
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.frequencies import Channel
from hubbub.hierarchy import Hierarchy
from hubbub.histogram import Histogram
from hubbub.mechanisms.hierarchical_histogram import HierarchicalHistogram
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.monotone import isotonic, monotone_cdf
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z, far, far_in_variance

SIXTEEN = HierarchicalHistogram("0.5", "0", "1", branching=4, buckets=16)
GOLDEN = {
    # level 0; part 3 of 4; one byte of padding. Coins: the level, any part, whether the own one is kept
    "the last quarter": (0.8, ScriptedCoins([0, 0, 0]), "00" + "03" + "00"),
    "another quarter": (0.8, ScriptedCoins([0, 2, 255]), "00" + "02" + "00"),
    # level 1; bits 0 to 7, 8 to 15. Coins: the level, 16 bits, whether the own one is told
    "bit 12 alone": (0.8, ScriptedCoins([1, *[255] * 16, 0]), "01" + "0010"),
    "all bits but 12": (0.8, ScriptedCoins([1, *[0] * 16, 255]), "01" + "ffef"),
}


@pytest.mark.parametrize(("value", "coins", "wire"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_is_these_bytes(value: float, coins: ScriptedCoins, wire: str) -> None:
    report = SIXTEEN.perturb(np.array([value]), replace(coins))

    assert report.tobytes().hex() == wire
    assert SIXTEEN.check(report).all()


@pytest.mark.parametrize(
    "wire", ["020000", "ff0000", "000400", "000001", "0003ff", "00ff00"], ids=lambda wire: f"bytes {wire}"
)
def test_an_impossible_report_is_told_and_never_counted(wire: str) -> None:
    impossible = np.frombuffer(bytes.fromhex(wire + "000300"), dtype=SIXTEEN.layout)

    assert SIXTEEN.check(impossible).tolist() == [False, True]
    with pytest.raises(DomainError, match="one of 2 levels"):
        SIXTEEN.tally(impossible)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "3", "4"])
def test_a_level_is_asked_by_the_oracle_with_the_lesser_total_variance(epsilon: str) -> None:
    oracles = HierarchicalHistogram(epsilon, "0", "1").oracles

    totals = {
        oracle.k: [
            _total(make(epsilon, oracle.k).channel, oracle.k) for make in (RandomizedResponse, OptimizedUnary)
        ]
        for oracle in oracles
    }

    assert [_total(oracle.channel, oracle.k) for oracle in oracles] == [min(pair) for pair in totals.values()]


def _total(channel: Channel, k: int) -> float:
    return k * float(channel.variance(np.array(1 / k)))


@pytest.mark.parametrize(
    ("branching", "buckets"),
    [(1, 256), (17, 17), (4, 255), (4, 2), (2, 2048), (True, 4), ("4", 256), (3, 256)],
)
def test_a_tree_that_does_not_fit_is_refused(branching: Any, buckets: Any) -> None:
    with pytest.raises(DomainError, match=r"branching must|buckets must"):
        HierarchicalHistogram("1", "0", "1", branching=branching, buckets=buckets)


def test_no_report_is_no_histogram() -> None:
    cells = SIXTEEN.tally(np.zeros(0, dtype=SIXTEEN.layout)).cells.size

    with pytest.raises(TooFewReportsError, match="at least 1 report"):
        SIXTEEN.estimate(Tally.zero(cells))
    with pytest.raises(TooFewReportsError, match="at least 1 report"):
        SIXTEEN.stderr(0)


def test_the_weights_are_those_of_least_squares_where_the_root_holds_one() -> None:
    channels = tuple(
        oracle.channel for oracle in HierarchicalHistogram("1", "0", "1", branching=3, buckets=27).oracles
    )
    tree = Hierarchy(3, channels)
    rows = np.concatenate([np.repeat(np.eye(size), 27 // size, axis=1) for size in tree.sizes])
    even = np.repeat([1 / size for size in tree.sizes], tree.sizes)
    noise = [float(channel.variance(np.array(0.0))) for channel in channels]
    slope = [float(channel.variance(np.array(1.0))) for channel in channels]
    spread = (
        np.repeat(noise, tree.sizes) * (1 - even) + np.repeat(slope, tree.sizes) * even + even * (1 - even)
    )
    normal = np.block([[rows.T / spread @ rows, np.ones((27, 1))], [np.ones((1, 27)), np.zeros((1, 1))]])
    solved = np.linalg.inv(normal)

    constants, nodes = tree.weights(np.eye(27))

    assert np.concatenate(nodes, axis=1) == pytest.approx(solved[:27, :27] @ rows.T / spread, abs=1e-12)
    assert constants == pytest.approx(solved[:27, 27], abs=1e-12)


def histogram(values: Any, seed: int, mechanism: HierarchicalHistogram = SIXTEEN) -> Histogram:
    """Collect and estimate once."""
    return mechanism.estimate(mechanism.tally(mechanism.perturb(np.asarray(values), seeded_coins(seed))))


@pytest.mark.parametrize("epsilon", ["0.5", "3"])
@pytest.mark.parametrize(("low", "high"), [(0, 0.25), (0.3, 0.95), (0.5, 0.5625)])
def test_shares_between_two_numbers_are_unbiased_with_the_promised_variance(
    epsilon: str, low: float, high: float
) -> None:
    mechanism = HierarchicalHistogram(epsilon, "0", "1", branching=4, buckets=16)
    counts = np.arange(16) ** 2 * 2
    coins, weights = seeded_coins(71), mechanism.buckets.part(low, high)
    truth = counts / counts.sum()

    found = [mechanism.estimate(mechanism.simulate(counts, coins)).between(low, high) for _ in range(600)]

    values = np.array([each.values for each in found])
    promised = mechanism.tree.variance(weights[None]) @ truth / counts.sum()
    stderrs = np.array([each.stderr("respondents") for each in found])
    assert (far(values, weights @ truth) < Z).all()
    assert (far_in_variance(values - weights @ truth, promised) < Z).all()
    assert stderrs == pytest.approx(math.sqrt(promised[0]), rel=0.1)


def test_the_error_about_the_population_adds_the_luck_of_who_answered() -> None:
    found = histogram(np.linspace(0, 1, 4_000), 72).between(0, 0.25)

    respondents, population = (found.stderr(about)[0] ** 2 for about in ("respondents", "population"))

    share = found.values[0]
    assert population - respondents == pytest.approx(share * (1 - share) / 4_000)


def test_a_part_of_a_bucket_counts_as_that_part_of_its_people() -> None:
    assert Buckets("0", "8", 4).part(1, 5).tolist() == [0.5, 1, 0.5, 0]


def test_a_range_that_falls_is_refused() -> None:
    with pytest.raises(DomainError, match="rise from low to high"):
        histogram([0.5], 1).between(1, 0)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
def test_the_level_of_a_quantile_out_of_range_is_refused(level: float) -> None:
    with pytest.raises(DomainError, match="between 0 and 1"):
        histogram([0.5], 1).quantile(level)


def test_one_report_makes_a_histogram_that_adds_up() -> None:
    found = histogram([0.7], 73, HierarchicalHistogram("1", "0", "1", branching=2, buckets=4))

    assert found.shares.sum() == pytest.approx(1)
    assert np.isfinite(found.interval(0.95, "population")).all()


def test_quantiles_lie_within_their_intervals_and_near_the_truth() -> None:
    values = np.random.default_rng(74).beta(5, 2, 100_000)
    found = histogram(values, 74, HierarchicalHistogram("3", "0", "1"))

    intervals = found.interval(0.95, "respondents")[1:6]

    assert found.values[1:6] == pytest.approx(np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]), abs=0.02)
    assert (intervals[:, 0] <= found.values[1:6]).all()
    assert (found.values[1:6] <= intervals[:, 1]).all()
    assert np.diff(intervals).max() < 0.05


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=40))
def test_the_nearest_values_that_never_fall_are_means_of_stretches(values: list[float]) -> None:
    given_ones = np.array(values)

    found = isotonic(given_ones)

    ends = np.flatnonzero(np.diff(found)) + 1
    assert (np.diff(found) >= 0).all()
    for stretch, fitted in zip(np.split(given_ones, ends), np.split(found, ends), strict=True):
        assert fitted[0] == pytest.approx(stretch.mean(), abs=1e-9)
        assert (np.cumsum(stretch - fitted)[:-1] >= -1e-9).all()  # no better split


def test_a_distribution_function_stays_between_zero_and_one() -> None:
    found = monotone_cdf(np.array([0.0, -0.3, 0.2, 1.4, 1.2, 1.0]))

    assert found.tolist() == [0, 0, 0.2, 1, 1, 1]


def test_one_true_sentence_tells_the_owner_what_is_sent() -> None:
    sentence = HierarchicalHistogram("1", "0", "10", branching=4, buckets=256).sentence(("0", "10"))

    assert sentence == (
        "the range from 0 to 10 is cut into 4, 16, 64 or 256 equal parts, each with probability 25 %; of 4, "
        "one part is sent: that of your number with probability 47.5 %, each other one, untrue, with 17.5 %; "
        "of 16, 64 or 256, any number of parts are sent as ticked: that of your number with probability 50 "
        "%, each other one, untrue, with 26.9 %"
    )
