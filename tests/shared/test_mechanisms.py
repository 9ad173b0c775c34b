"""This file checks what mechanisms send and refuse, and their constants against reference values.

The reference values were computed with 50-digit arithmetic. False alarms: a comparison by Z once in 10**9.
"""

import copy
import json
import math
import pickle
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.tally import Tally
from hubbub_client.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z, far

REFERENCE = json.loads((Path(__file__).parents[1] / "vectors" / "reference_values.json").read_text())
ALL: list[Mechanism] = [
    RandomizedResponse("1", 2),
    RandomizedResponse("0.001", 300),
    RandomizedResponse("20", 65_536),
    OptimizedUnary("1", 2),
    OptimizedUnary("20", 13),
    OptimizedUnary("0.001", 64),
    Laplace("1", "0", "10"),
    Laplace("20", "-1", "1", steps=1),
    Laplace("0.001", "0", "1", steps=2**20),
]


@pytest.mark.parametrize("kind", [RandomizedResponse, OptimizedUnary])
def test_probabilities_and_variances_of_shares_are_the_reference_ones(kind: Any) -> None:
    name = kind.kind
    rows = [row for row in REFERENCE[name] if row["d"] <= 65_536]
    mechanisms = [kind(str(row["eps"]), row["d"]) for row in rows]

    found = [
        {
            "p": float(mechanism.channel.p),
            "q": float(mechanism.channel.q),
            "nvar_f0": mechanism.stderr(1, frequency=0.0) ** 2,
            "nvar_f1": mechanism.stderr(1, frequency=1.0) ** 2,
            "nvar_f01": mechanism.stderr(1, frequency=0.1) ** 2,
        }
        for mechanism in mechanisms
    ]

    assert found == [{key: pytest.approx(row[key], rel=1e-12) for key in found[0]} for row in rows]


def test_the_grid_noise_is_the_reference_one() -> None:
    rows = REFERENCE["laplace"]
    laws = [Laplace(str(row["eps"]), "0", "1", steps=row["steps"]).noise for row in rows]

    found = [
        (float(law.alpha), float(law.mass(0)), float(law.variance) / row["steps"] ** 2)
        for law, row in zip(laws, rows, strict=True)
    ]

    assert found == [
        pytest.approx((row["alpha"], row["pmf0"], row["noise_var_unit_range"]), rel=1e-12) for row in rows
    ]


ZEROS, ONES = ScriptedCoins(then=0), ScriptedCoins(then=255)
GOLDEN = {
    # one byte: the category
    "category 3 of 4, kept": (RandomizedResponse("1", 4), 3, ZEROS, "03"),
    "category 3 of 4, moved on by 1 past the end": (
        RandomizedResponse("1", 4),
        3,
        ScriptedCoins([0, 255]),
        "00",
    ),
    "category 255 of 256, kept": (RandomizedResponse("1", 256), 255, ZEROS, "ff"),
    # two bytes, little-endian: the category
    "category 770 of 1000, kept": (RandomizedResponse("1", 1000), 770, ZEROS, "0203"),
    # bits 0 to 7, bits 8 to 11 with four bits of padding
    "all bits of 12 set": (OptimizedUnary("1", 12), 0, ZEROS, "ff" + "0f"),
    "no bit of 12 set": (OptimizedUnary("1", 12), 0, ONES, "00" + "00"),
    # bits 0 to 7, bit 8: the first 16 coins, then that of the held category
    "bits 0 and 9 of 10": (OptimizedUnary("1", 10), 9, ScriptedCoins([0, *[255] * 15, 0]), "01" + "02"),
    # one byte: grid point 1, no noise (all digits and the sign 0)
    "the upper end on a grid of 1": (
        Laplace("20", "0", "1", steps=1),
        1.0,
        ScriptedCoins([0] * 4, then=255),
        "01",
    ),
    # two bytes, little-endian, signed: grid point 1024, noise 0
    "the upper end on a grid of 1024": (
        Laplace("1", "0", "1"),
        1.0,
        ScriptedCoins([0] * 4, then=255),
        "0004",
    ),
    # digits 1, 2 and 4 set, and the sign: 512 - 7 = 505
    "the middle with noise -7": (
        Laplace("1", "0", "1"),
        0.5,
        ScriptedCoins([*[0] * 4, *[0] * 3, *[255] * 12, 0]),
        "f901",
    ),
    # digits all set, and the sign: 0 - 16383
    "the lower end with noise -16383": (
        Laplace("1", "0", "1"),
        0.0,
        ScriptedCoins([*[0] * 4, *[0] * 14, 255, 0]),
        "01c0",
    ),
}


@pytest.mark.parametrize(("mechanism", "value", "coins", "wire"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_is_these_bytes(mechanism: Mechanism, value: float, coins: ScriptedCoins, wire: str) -> None:
    report = mechanism.perturb(np.array([value]), copy.deepcopy(coins))

    assert report.tobytes().hex() == wire
    assert report.dtype.newbyteorder("<") == report.dtype
    assert mechanism.check(report).all()


@pytest.mark.parametrize("mechanism", ALL, ids=str)
@pytest.mark.parametrize("n", [0, 1, 1_000])
def test_every_report_of_a_metric_is_equally_long(mechanism: Mechanism, n: int) -> None:
    reports = mechanism.perturb(np.arange(n) % 2, seeded_coins(41))

    data = reports.tobytes()

    assert len(data) == n * mechanism.layout.itemsize
    assert np.array_equal(np.frombuffer(data, dtype=mechanism.layout), reports)
    assert mechanism.check(reports).all()


@pytest.mark.parametrize(
    ("mechanism", "width"),
    [
        (RandomizedResponse("1", 256), 1),
        (RandomizedResponse("1", 257), 2),
        (OptimizedUnary("1", 8), 1),
        (OptimizedUnary("1", 9), 2),
        (Laplace("20", "0", "1", steps=1), 1),
        (Laplace("20", "0", "1", steps=52), 1),
        (Laplace("20", "0", "1", steps=53), 2),
        (Laplace("1", "0", "1"), 2),
        (Laplace("0.5", "0", "1"), 4),
        (Laplace("0.001", "0", "1", steps=2**20), 8),
    ],
    ids=str,
)
def test_reports_are_as_narrow_as_their_range_allows(mechanism: Mechanism, width: int) -> None:
    assert mechanism.layout.itemsize == width


@pytest.mark.parametrize(
    ("mechanism", "impossible"),
    [
        (RandomizedResponse("1", 3), np.array([3, 255], dtype="<u1")),
        (RandomizedResponse("1", 300), np.array([300, 65_535], dtype="<u2")),
        (RandomizedResponse("1", 3), np.array([-1, 3])),
        (OptimizedUnary("1", 3), np.array([[8], [255]], dtype="u1")),
        (OptimizedUnary("1", 9), np.array([[0, 2], [255, 255]], dtype="u1")),
        (Laplace("8", "0", "1", steps=4), np.array([-15, 19], dtype="<i1")),
        (Laplace("1", "0", "1"), np.array([-28_673, 29_697], dtype="<i2")),
    ],
    ids=str,
)
def test_an_impossible_report_is_told_and_never_counted(mechanism: Mechanism, impossible: Any) -> None:
    assert mechanism.check(impossible).tolist() == [False, False]
    with pytest.raises((DomainError, ValueError)):
        mechanism.tally(impossible)


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_a_mechanism_is_its_parameters(mechanism: Mechanism) -> None:
    again = pickle.loads(pickle.dumps(mechanism))  # noqa: S301 - our own bytes

    assert again == mechanism
    assert hash(again) == hash(mechanism)
    assert again.loss() == mechanism.loss()
    assert replace(mechanism, epsilon="1") == replace(again, epsilon=Decimal("1.00"))  # type: ignore[type-var]


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_no_reports_make_an_empty_tally_and_no_estimate(mechanism: Mechanism) -> None:
    nothing = mechanism.tally(mechanism.perturb(np.array([], dtype=int), system_coins()))

    assert nothing == Tally.zero(nothing.cells.size)
    with pytest.raises(TooFewReportsError):
        mechanism.estimate(nothing)
    with pytest.raises(TooFewReportsError):
        mechanism.stderr(0)


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_tallies_merge_in_any_order_and_can_be_taken_back(mechanism: Mechanism) -> None:
    reports = mechanism.perturb(np.arange(1_000) % 2, seeded_coins(42))

    parts = [mechanism.tally(reports[start : start + 300]) for start in range(0, 1_000, 300)]

    whole = mechanism.tally(reports)
    assert parts[3] + parts[1] + (parts[2] + parts[0]) == whole
    assert whole - parts[2] == parts[0] + parts[1] + parts[3]


@pytest.mark.parametrize("mechanism", [m for m in ALL if not isinstance(m, Laplace)], ids=str)
@pytest.mark.parametrize("values", [[99_999], [-1], [1.0], [math.nan], [True], ["1"], [[0]]])
def test_what_is_no_category_is_refused_and_not_repeated(mechanism: Mechanism, values: list[Any]) -> None:
    with pytest.raises(DomainError) as refusal:
        mechanism.perturb(np.array(values), system_coins())

    assert "99999" not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize(
    "values", [[math.nan], [0.5, math.inf], [-math.inf], ["1"], [True], [[0.5]], [None], [1j]]
)
def test_what_is_no_finite_number_is_refused(values: list[Any]) -> None:
    with pytest.raises(DomainError, match="finite numbers"):
        Laplace("1", "0", "1").perturb(np.array(values), system_coins())


@pytest.mark.parametrize("epsilon", ["nan", "0", "-1", "inf", "800", True, "1e-320", 0.5, None])
@pytest.mark.parametrize("make", [RandomizedResponse, OptimizedUnary])
def test_an_epsilon_that_promises_nothing_is_refused(make: Any, epsilon: object) -> None:
    with pytest.raises(DomainError, match="epsilon"):
        make(epsilon, 4)
    with pytest.raises(DomainError, match="epsilon"):
        Laplace(epsilon, "0", "1")  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [1, 0, -1, 65_537, True, 2.0, "4"])
@pytest.mark.parametrize("make", [RandomizedResponse, OptimizedUnary])
def test_a_number_of_categories_out_of_range_is_refused(make: Any, k: Any) -> None:
    with pytest.raises(DomainError, match="number of categories"):
        make("1", k)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("0", "0"),
        ("1", "0"),
        ("1", "1.00000000000000000001"),
        ("nan", "1"),
        ("0", "inf"),
        ("-1e999", "1"),
        ("1/0", "1"),
        ("a", "1"),
        (0.5, "1"),
        (True, "2"),
        (Decimal("NaN"), "1"),
        (Decimal("-Infinity"), "1"),
    ],
)
def test_a_range_that_is_none_is_refused(low: Any, high: Any) -> None:
    with pytest.raises(DomainError, match="range"):
        Laplace("1", low, high)


@pytest.mark.parametrize("steps", [0, -1, 2**20 + 1, True, 4.0, "4"])
def test_a_grid_out_of_range_is_refused(steps: Any) -> None:
    with pytest.raises(DomainError, match="steps"):
        Laplace("1", "0", "1", steps=steps)


@pytest.mark.parametrize("held", [0, 7, 63])
def test_every_bit_of_a_report_flips_at_its_own_rate(held: int) -> None:
    mechanism, n = OptimizedUnary("1", 64), 100_000
    rates = np.full(64, float(mechanism.channel.q))
    rates[held] = 0.5

    counts = mechanism.tally(mechanism.perturb(np.full(n, held), seeded_coins(43))).cells

    assert (np.abs(counts - n * rates) < Z * np.sqrt(n * rates * (1 - rates))).all()


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


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_a_whole_population_is_simulated_without_a_person_lost(mechanism: Mechanism) -> None:
    inputs = mechanism.k if hasattr(mechanism, "k") else mechanism.steps + 1  # type: ignore[attr-defined]
    counts = np.zeros(inputs, dtype=np.int64)
    counts[[0, -1]] = [3_000, 1_000]

    tally = mechanism.simulate(counts, seeded_coins(46))

    assert tally is not None
    assert tally.n == 4_000
    estimate = mechanism.estimate(tally)
    assert abs(estimate.values[0] - _expected(mechanism)) < Z * mechanism.stderr(4_000, frequency=0.75)


def _expected(mechanism: Mechanism) -> float:
    """Return the first row of the truth where 3 in 4 people hold the first input, the others the last."""
    if isinstance(mechanism, Laplace):
        return float(mechanism.low + (mechanism.high - mechanism.low) / 4)
    return 0.75


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


@pytest.mark.parametrize(
    "mechanism", [OptimizedUnary("1", 21), Laplace("0.001", "0", "1", steps=2**20)], ids=str
)
def test_more_reports_than_can_be_listed_are_refused(mechanism: Mechanism) -> None:
    with pytest.raises(DomainError, match="too many to list"):
        mechanism.outputs()


SENTENCES = {
    RandomizedResponse("1", 2): (
        ("no", "yes"),
        'if your answer is "yes", "yes" is sent with probability 73.1 % and "no" with 26.9 %; '
        'if it is "no", the other way round',
    ),
    RandomizedResponse("2", 4): (
        ("linux", "mac", "windows", "other"),
        "your answer is sent with probability 71.1 %, and each of the 3 other answers, untrue, with 9.63 %",
    ),
    OptimizedUnary("1", 3): (
        ("a", "b", "c"),
        "of the 3 answers any number are sent as ticked: yours with probability 50 %, "
        "each other one, untrue, with 26.9 %",
    ),
    Laplace("1", "0", "10"): (
        ("0", "10"),
        "your number, taken as within 0 and 10, is sent with random noise added: "
        "noise of 10 or more, up or down, has probability 36.8 %",
    ),
}


@pytest.mark.parametrize(("mechanism", "said"), SENTENCES.items(), ids=str)
def test_the_owner_is_told_what_is_sent_in_one_true_sentence(mechanism: Mechanism, said: Any) -> None:
    names, sentence = said

    assert mechanism.sentence(names) == sentence


def test_the_sentence_about_noise_is_true() -> None:
    mechanism = Laplace("1", "0", "10")

    noise = mechanism.noise.draw(1_000_000, seeded_coins(48))

    assert abs((np.abs(noise) >= 1024).mean() - 0.368) < 0.0005 + Z * 0.0005
