"""This file checks Bloom filters of texts: their bytes, what they refuse, and how texts are told from bits.

False alarms: a comparison by Z once in 10**9.
"""

import math
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.least_squares import LeastSquares
from hubbub.mechanisms.bloom_rappor import BloomRappor
from hubbub.public_hashes import rows_of_texts
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z, far

TEXT = rows_of_texts(["linux"], 8)
GOLDEN = {
    # the cohort in two bytes, little-endian, then a row of bits for each hash, each in whole bytes
    "cohort 3, all bits": (
        BloomRappor("1", 8, bits=24, cohorts=5),
        ScriptedCoins([3]),
        "0300" + "ff0f" + "ff0f",
    ),
    "cohort 0, no bit": (
        BloomRappor("1", 8, bits=24, cohorts=1),
        ScriptedCoins(then=255),
        "0000" + "0000" * 2,
    ),
    "cohort 769": (BloomRappor("1", 8, bits=2, marks=1, cohorts=1024), ScriptedCoins([1, 3]), "0103" + "03"),
}


@pytest.mark.parametrize(("mechanism", "coins", "wire"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_is_these_bytes(mechanism: BloomRappor, coins: ScriptedCoins, wire: str) -> None:
    report = mechanism.perturb(TEXT, replace(coins))

    assert report.tobytes().hex() == wire
    assert mechanism.check(report).all()


def test_the_bits_of_a_text_are_set_and_no_others_are() -> None:
    mechanism = BloomRappor("20", 8, bits=16, marks=1, cohorts=3)  # whose other bits are hardly ever set
    reports = mechanism.perturb(np.repeat(TEXT, 3_000, axis=0), seeded_coins(60))

    counts = mechanism.tally(reports).cells[3:].reshape(3, 16)

    own = mechanism.inputs(TEXT, seeded_coins(60))[0]
    assert (counts.argmax(axis=1) == own).all()
    assert (counts.sum(axis=1) - counts.max(axis=1)).max() == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": "0"},
        {"length": 65},
        {"bits": 1},
        {"bits": 1025},
        {"bits": 7},
        {"bits": 2},
        {"marks": 0},
        {"marks": 9},
        {"cohorts": 0},
        {"cohorts": 1025},
        {"cohorts": True},
    ],
    ids=str,
)
def test_a_parameter_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(DomainError):
        BloomRappor(**{"epsilon": "1", "length": 8} | wrong)


@pytest.mark.parametrize(
    "impossible", [[5, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 16, 0, 0], [0, 0, 0, 0, 0, 16]]
)
def test_an_impossible_report_is_told_and_never_counted(impossible: list[int]) -> None:
    mechanism = BloomRappor("1", 8, bits=24, cohorts=5)
    report = np.array([impossible], dtype="u1")

    assert mechanism.check(report).tolist() == [False]
    with pytest.raises(DomainError):
        mechanism.tally(report)


@pytest.mark.parametrize("epsilon", ["1", "4"])
@pytest.mark.parametrize("asked", [40, 10])
def test_shares_are_unbiased_with_the_stated_error_whether_all_texts_are_asked_for_or_some(
    epsilon: str, asked: int
) -> None:
    mechanism, rounds, off = BloomRappor(epsilon, 16, bits=64, cohorts=16), 40, []
    shares = np.arange(1, 41) ** -1.0 / np.sum(1 / np.arange(1, 41))
    counts = np.round(shares * 5_000).astype(int)
    n, coins = int(counts.sum()), seeded_coins(61)
    for number in range(rounds):  # other texts share other bits
        texts = [f"{number} {text}" for text in range(40)]
        held = np.repeat(rows_of_texts(texts, 16), counts, axis=0)

        found = mechanism.estimate(mechanism.tally(mechanism.perturb(held, coins)), candidates=texts[:asked])

        off.append((found.values - counts[:asked] / n) / found.stderr("respondents"))

    assert (far(np.array(off), np.zeros(asked)) < Z).all()
    assert 0.8 < np.square(off).mean() < 1 + Z * 2 * math.sqrt(2 / np.size(off))


def test_no_share_of_the_view_is_below_0_and_the_raw_ones_are_kept() -> None:
    mechanism = BloomRappor("1", 8)
    tally = mechanism.tally(mechanism.perturb(np.repeat(TEXT, 2_000, axis=0), seeded_coins(62)))

    found = mechanism.estimate(tally, candidates=["linux", *(f"no {number}" for number in range(30))])

    assert found.values.min() < 0 <= found.non_negative.min()
    assert found.values[0] == pytest.approx(1, abs=Z * found.stderr("respondents")[0])
    low, high = found.interval(0.95, "population").T
    assert ((low < found.values) & (found.values < high)).all()


def test_texts_that_set_the_same_bits_can_t_be_told_apart() -> None:
    mechanism = BloomRappor("1", 8, bits=2, marks=1, cohorts=1)
    tally = mechanism.tally(mechanism.perturb(np.repeat(TEXT, 100, axis=0), seeded_coins(63)))

    with pytest.raises(DomainError, match="can't be told apart"):
        mechanism.estimate(tally, candidates=["a", "b", "c"])


@pytest.mark.parametrize(
    ("cohorts", "bits", "most"), [(64, 128, 1_023), (1024, 1024, 89), (1, 16, 15)], ids=str
)
def test_more_texts_than_a_moment_is_enough_for_are_refused_before_they_are_laid_out(
    cohorts: int, bits: int, most: int
) -> None:
    mechanism = BloomRappor("1", 8, bits=bits, cohorts=cohorts)
    tally = mechanism.tally(mechanism.perturb(TEXT, seeded_coins(64)))
    texts = [f"no {number}" for number in range(most + 1)]
    tracemalloc.start()

    with pytest.raises(DomainError, match=f"look for at most {most:,} at once"):
        mechanism.estimate(tally, candidates=texts)

    assert tracemalloc.get_traced_memory()[1] < 64 * 2**20  # laid out, they take up to 750 MB
    tracemalloc.stop()


def test_without_reports_there_is_no_estimate() -> None:
    mechanism = BloomRappor("1", 8, bits=4, cohorts=1)

    with pytest.raises(TooFewReportsError):
        mechanism.estimate(Tally.zero(5), candidates=["a"])


def test_nothing_is_asked_for_nothing_is_told() -> None:
    mechanism = BloomRappor("1", 8)

    found = mechanism.estimate(mechanism.tally(mechanism.perturb(TEXT, seeded_coins(64))))

    assert (found.n, found.rows, found.values.shape, found.interval(0.9, "population").shape) == (
        1,
        (),
        (0,),
        (0, 2),
    )


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_the_non_negative_solution_meets_the_conditions_of_an_optimum(size: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    design = generator.normal(size=(size + 8, size))
    seen = design @ generator.normal(size=size) + generator.normal(size=size + 8)
    equations = LeastSquares(design.T @ design, design.T @ seen)

    found = equations.non_negative()

    slope = equations.moment - equations.gram @ found
    assert (found >= 0).all()
    assert (slope < 1e-7).all()
    assert np.abs(slope[found > 0]).max(initial=0) < 1e-7


def test_the_plain_solution_is_that_of_the_normal_equations() -> None:
    generator = np.random.default_rng(1)
    design, seen = generator.normal(size=(20, 5)), generator.normal(size=20)

    inverse = LeastSquares(design.T @ design, design.T @ seen).inverse()

    assert inverse @ (design.T @ seen) == pytest.approx(np.linalg.lstsq(design, seen)[0])
