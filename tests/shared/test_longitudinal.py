"""This file checks mechanisms with permanent answers: their constants, their bytes, and what they refuse."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub.errors import DomainError
from hubbub.frequencies import Channel
from hubbub.longitudinal import Longitudinal, over_periods, reserved
from hubbub.mechanisms.dbitflip import DBitFlip
from hubbub.mechanisms.l_grr import LGRR
from hubbub.mechanisms.l_osue import LOSUE
from hubbub.mechanisms.loloha import LOLOHA
from hubbub.mechanisms.rappor import Rappor
from hubbub.probability import Real
from hubbub.second_step import solved
from hubbub.unary import UnaryBits
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins

REFERENCE = json.loads((Path(__file__).parents[1] / "vectors" / "reference_longitudinal.json").read_text())
TWO_STEPS: list[Any] = [LGRR, LOSUE, Rappor, LOLOHA]
ALL: list[Longitudinal] = [*(make("4", 10, first="1") for make in TWO_STEPS), DBitFlip("4", 10, buckets=3)]
LARGE: list[Longitudinal] = [
    *(make("20", 65_536, first="0.001") for make in TWO_STEPS),
    LGRR("20", 65_536, first="19.999999"),
    LOLOHA("20", 65_536, first="19.999999"),
    DBitFlip("0.001", 65_536, buckets=256),
    DBitFlip("20", 256, buckets=256),
]


@pytest.mark.parametrize("row", REFERENCE["longitudinal"], ids=str)
def test_the_second_step_is_the_reference_one(row: dict[str, float]) -> None:
    symbols = LGRR(str(row["eps_inf"]), int(row["k"]), first=str(row["eps1"]))
    bits = LOSUE(str(row["eps_inf"]), int(row["k"]), first=str(row["eps1"]))

    found = [
        *(float(symbols.permanent.p), float(symbols.step.second.p), float(symbols.channel.p)),
        *(float(bits.permanent.q), float(1 - bits.step.flip)),
    ]

    names = ["lgrr_p1", "lgrr_p2_exact", "exact_first_report_P", "losue_q1", "losue_p2"]
    assert found == pytest.approx([row[name] for name in names], rel=1e-12)


@pytest.mark.parametrize("row", REFERENCE["rappor"], ids=str)
def test_the_probabilities_of_two_rounds_are_the_reference_ones(row: dict[str, float]) -> None:
    f = Real(int(row["f"] * 100)) / 100
    permanent = Channel(1 - f / 2, f / 2)
    channel = Channel(Real(int(row["q_star"] * 10_000)) / 10_000, Real(int(row["p_star"] * 10_000)) / 10_000)

    second = solved(permanent, channel)

    assert (float(second.p), float(second.q)) == pytest.approx((row["q"], row["p"]), rel=1e-12)
    assert float(UnaryBits(8, permanent).loss().upper) == pytest.approx(row["eps_inf_h1"], rel=1e-12)
    assert float(UnaryBits(8, channel).loss().upper) == pytest.approx(row["eps1_h1"], rel=1e-12)


def test_a_single_report_is_no_measure_of_two() -> None:
    mechanism = LGRR("4", 10, first="1")

    two, four, eight = (mechanism.bound(reports).lower for reports in (2, 4, 8))

    assert (float(two), float(four), float(eight)) == pytest.approx((2.004, 3.488, 3.993), abs=5e-4)
    assert two > 2 * mechanism.first.exact


ZEROS, ONES = ScriptedCoins(then=0), ScriptedCoins(then=255)
GOLDEN = {
    # one byte: the category; kept for good, kept in the report
    "l_grr, category 3 of 4": (LGRR("2", 4, first="1"), 3, ZEROS, "03"),
    # bits 0 to 7, bits 8 and 9 with six bits of padding; no bit set for good, none flipped
    "l_osue, no bit of 10": (LOSUE("2", 10, first="1"), 9, ONES, "0000"),
    # no bit set for good, all flipped
    "l_osue, all bits of 10": (LOSUE("2", 10, first="1"), 9, ScriptedCoins([255] * 17), "ff03"),
    # all bits set for good, none flipped
    "rappor, all bits of 10": (Rappor("2", 10, first="1"), 9, ScriptedCoins([0] * 17, then=255), "ff03"),
    # one byte, a g + y: hash 0, digit 0
    "loloha, the hash 0": (LOLOHA("2", 4, first="1"), 3, ZEROS, "00"),
    # one byte for each bucket watched, 2 bucket + bit, rising: bucket 0 held, 8 and 9 not
    "dbitflip, three of ten": (DBitFlip("2", 10, buckets=3), 0, ScriptedCoins([0, 0, 0], then=255), "011012"),
    # two bytes for one bucket, little-endian: bucket 768, which is held
    "dbitflip, one of a thousand": (DBitFlip("2", 1000), 768, ScriptedCoins([0, 3], then=255), "0106"),
}


@pytest.mark.parametrize(("mechanism", "value", "coins", "wire"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_is_these_bytes(
    mechanism: Longitudinal, value: int, coins: ScriptedCoins, wire: str
) -> None:
    report = mechanism.perturb(np.array([value]), replace(coins))

    assert report.tobytes().hex() == wire
    assert mechanism.check(report).all()


@pytest.mark.parametrize(
    ("mechanism", "impossible"),
    [
        (LGRR("2", 3, first="1"), np.array([3, 255], dtype="<u1")),
        (LOSUE("2", 3, first="1"), np.array([[8], [255]], dtype="u1")),
        (Rappor("2", 9, first="1"), np.array([[0, 2], [255, 255]], dtype="u1")),
        (LOLOHA("2", 4, first="1"), np.array([27, 255], dtype="<u1")),
        (DBitFlip("2", 10, buckets=2), np.array([[0, 20], [0, 255]], dtype="<u1")),
        (DBitFlip("2", 10, buckets=2), np.array([[4, 5], [6, 4]], dtype="<u1")),
    ],
    ids=str,
)
def test_an_impossible_report_is_told_and_never_counted(mechanism: Longitudinal, impossible: Any) -> None:
    assert mechanism.check(impossible).tolist() == [False, False]
    with pytest.raises(DomainError):
        mechanism.tally(impossible)


@pytest.mark.parametrize("mechanism", [*ALL, *LARGE], ids=str)
def test_every_size_of_crowd_is_answered_for(mechanism: Longitudinal) -> None:
    coins = seeded_coins(81)

    reports = [mechanism.perturb(np.arange(n) % 10, coins) for n in (0, 1, 50)]

    assert [len(some) for some in reports] == [0, 1, 50]
    assert all(mechanism.check(some).all() for some in reports)
    assert np.isfinite(mechanism.estimate(mechanism.tally(reports[2])).values).all()
    assert mechanism.loss().lower <= mechanism.epsilon.exact <= mechanism.loss().upper


@pytest.mark.parametrize("make", TWO_STEPS)
@pytest.mark.parametrize("first", ["2", "2.5", "0", "-1", 0.5, None, True, "nan"])
def test_a_first_epsilon_that_is_not_below_the_whole_is_refused(make: Any, first: object) -> None:
    with pytest.raises(DomainError, match=r"first|epsilon"):
        make("2", 4, first=first)


@pytest.mark.parametrize("buckets", [0, -1, 11, 257, True, 1.0, "1"])
def test_a_number_of_buckets_out_of_range_is_refused(buckets: Any) -> None:
    with pytest.raises(DomainError, match="buckets must be from 1 to 10"):
        DBitFlip("2", 10, buckets=buckets)


@pytest.mark.parametrize("mechanism", ALL, ids=str)
@pytest.mark.parametrize("values", [[99_999], [-1], [1.0], [True], ["1"], [[0]]])
def test_what_is_no_category_is_refused_and_not_repeated(mechanism: Longitudinal, values: list[Any]) -> None:
    memo = mechanism.memoize(np.array([0]), seeded_coins(82))

    with pytest.raises(DomainError) as one:
        mechanism.memoize(np.array(values), seeded_coins(82))
    with pytest.raises(DomainError) as other:
        mechanism.state(np.array(values), memo)

    assert "99999" not in str(one.value) + str(other.value)


@pytest.mark.parametrize("mechanism", ALL, ids=str)
@pytest.mark.parametrize("reports", [0, -1, 1.5, True, None])
def test_a_bound_of_no_reports_is_refused(mechanism: Longitudinal, reports: Any) -> None:
    with pytest.raises(DomainError, match="at least 1"):
        mechanism.bound(reports)


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_a_device_sets_a_memo_aside_for_each_change_but_none_beyond_its_states(
    mechanism: Longitudinal,
) -> None:
    whole = mechanism.states

    asked = [mechanism.reservation(changes) for changes in (0, 1, whole - 1, whole, 10**9)]

    assert asked == [4_000_000 * memos for memos in (1, min(2, whole), whole, whole, whole)]


def test_the_bound_for_life_of_a_hash_does_not_grow_with_the_categories() -> None:
    few, many = (LOLOHA("2", k, first="1") for k in (100, 60_000))

    assert few.reservation(10**6) == many.reservation(10**6) == 6_000_000


def test_a_negative_number_of_changes_is_refused() -> None:
    with pytest.raises(DomainError, match="0 or more"):
        reserved(ALL[0].epsilon, changes=-1, states=3)


@pytest.mark.parametrize(("n", "periods"), [(0, 1), (1, 0)])
def test_an_average_over_nothing_is_refused(n: int, periods: int) -> None:
    with pytest.raises(DomainError, match="at least 1"):
        over_periods(ALL[0], n, periods)


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_more_periods_leave_the_error_of_the_memos(mechanism: Longitudinal) -> None:
    once, ever = (over_periods(mechanism, 100, periods, frequency=0.2) for periods in (1, 10**12))

    assert once == pytest.approx(mechanism.stderr(100, frequency=0.2), rel=1e-12)
    assert ever == pytest.approx(mechanism.permanent.stderr(100, 0.2), rel=1e-6)


@pytest.mark.parametrize("mechanism", [LOSUE("4", 9, first="1"), Rappor("4", 9, first="1")], ids=str)
def test_averaging_one_devices_reports_shows_its_memo_and_no_more(mechanism: Any) -> None:
    coins, n = seeded_coins(83), 5_000
    memo = mechanism.memoize(np.array([4]), coins)

    counts = mechanism.tally(mechanism.report(np.repeat(memo, n, axis=0), coins)).cells

    bits = np.unpackbits(memo, count=9, bitorder="little")
    assert ((counts > n / 2) == bits).all()


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_the_owner_is_told_that_something_is_kept(mechanism: Longitudinal) -> None:
    sentence = mechanism.sentence([f"answer {at}" for at in range(10)])

    assert "for good" in sentence or "once" in sentence
    assert "%" in sentence
