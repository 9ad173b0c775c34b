"""This file checks that frequent texts are found, with shares that are unbiased although they were picked.

False alarms: a comparison by Z once in 10**9.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.mechanisms.prefix_extension import KEPT, WINNERS, PrefixExtension
from hubbub.public_hashes import rows_of_texts, symbols
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z, far

TEXT = rows_of_texts(["linux"], 6)
# (group * pool + hash) * 4 + symbol; eps = 1 has 4 symbols and a pool of 4096: four bytes, little-endian
GOLDEN = {
    # group 2 (the coin), hash 513 (two coins), symbol of the first 27 bits, kept
    "kept": (
        ScriptedCoins([2, 1, 2]),
        (2 * 4096 + 513) * 4
        + int(symbols(TEXT & np.array([[255, 255, 255, 224, 0, 0]], np.uint8), 4096, 4, family=2)[0, 513]),
    ),
    # group 6, the last, hash 0, symbol 3, drawn evenly (the coin 3)
    "not kept": (ScriptedCoins([6, 0, 0, 3], then=255), (6 * 4096) * 4 + 3),
}


@pytest.mark.parametrize(("coins", "number"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_is_this_number(coins: ScriptedCoins, number: int) -> None:
    report = PrefixExtension("1", 6).perturb(TEXT, replace(coins))

    assert report.tobytes() == number.to_bytes(4, "little")


@pytest.mark.parametrize(
    ("epsilon", "g", "hashes", "width"),
    [("0.001", 2, 4096, 2), ("1", 4, 4096, 4), ("4", 56, 4096, 4), ("8", 1024, 256, 4), ("20", 1024, 256, 4)],
)
def test_the_symbols_and_the_pool_follow_from_epsilon(epsilon: str, g: int, hashes: int, width: int) -> None:
    mechanism = PrefixExtension(epsilon, 6)

    assert (mechanism.g, mechanism.hashes, mechanism.layout.itemsize) == (g, hashes, width)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": "0"},
        {"length": 0},
        {"start": 0},
        {"start": 17},
        {"step": 0},
        {"step": 13},
        {"step": True},
        {"pool": 0},
        {"pool": 65_537},
        {"length": 64},
    ],
    ids=str,
)
def test_a_parameter_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(DomainError):
        PrefixExtension(**{"epsilon": "1", "length": 8} | wrong)


@pytest.mark.parametrize(
    ("costly", "most"),
    [
        ({"length": 6, "start": 16, "step": 12}, 1_534),
        ({"length": 64, "start": 8, "step": 9, "pool": 65_536}, 520),
        ({"length": 28}, 4_030),
    ],
    ids=str,
)
def test_a_pool_that_would_take_long_to_search_is_refused_with_the_largest_that_would_not(
    costly: dict[str, int], most: int
) -> None:
    with pytest.raises(DomainError, match=f"pool must be at most {most:,}, or texts would take too long"):
        PrefixExtension("1", **costly)

    assert PrefixExtension("1", **costly | {"pool": most}).hashes == most
    assert PrefixExtension("8", **costly | {"pool": 256}).hashes == 256  # since g is 1024


@pytest.mark.parametrize("impossible", [[7 * 4096 * 4, 2**32 - 1], [-1, 7 * 4096 * 4]])
def test_an_impossible_report_is_told_and_never_counted(impossible: list[int]) -> None:
    mechanism = PrefixExtension("1", 6)

    assert mechanism.check(np.array(impossible)).tolist() == [False, False]
    with pytest.raises(DomainError):
        mechanism.tally(np.array(impossible))


COMMON = ["linux", "mac", "é", "", "windows 95"]


def _crowd(seed: int, n: int = 20_000) -> Any:
    """Return people of whom each common text is held by a tenth, and the rest by one or two each."""
    rare = [f"r{number % (n // 4)}" for number in range(n // 2)]
    return np.random.default_rng(seed).permutation(rows_of_texts([*COMMON * (n // 10), *rare], 10))


def test_common_texts_are_found_whatever_their_length() -> None:
    mechanism = PrefixExtension("4", 10, pool=512)
    tally = mechanism.tally(mechanism.perturb(_crowd(1), seeded_coins(91)))

    found = mechanism.estimate(tally)

    shares = {row.name: value for row, value in zip(found.rows, found.values, strict=True)}
    assert set(sorted(shares, key=lambda name: -shares[name])[:5]) == set(COMMON)
    assert len(found.rows) <= WINNERS <= KEPT
    assert found.n == tally.n


def test_a_candidate_is_told_whether_it_was_found_or_not() -> None:
    mechanism = PrefixExtension("4", 10, pool=512)
    tally = mechanism.tally(mechanism.perturb(_crowd(2), seeded_coins(92)))

    found = mechanism.estimate(tally, candidates=["nobody", "linux"])

    names = [row.name for row in found.rows]
    off = (found.values[:2] - [0, 0.1]) / found.stderr("respondents")[:2]
    assert names[:2] == ["nobody", "linux"]
    assert len(set(names)) == len(names)
    assert (np.abs(off) < Z).all()


@pytest.mark.parametrize("rounds", [8, pytest.param(400, marks=pytest.mark.torture)])
def test_the_shares_of_what_was_found_are_unbiased_given_that_it_was_found(rounds: int) -> None:
    mechanism, coins, off = PrefixExtension("1", 2, start=8, step=8, pool=256), seeded_coins(93), []
    generator = np.random.default_rng(93)
    for _ in range(rounds):  # so noisy that many of the winners are picked by luck
        texts = generator.integers(97, 123, (300, 2)).astype(np.uint8)
        held = texts[np.minimum(generator.geometric(0.03, 4_000) - 1, 299)]

        tally = mechanism.tally(mechanism.perturb(held, coins))

        found, winners = mechanism.estimate(tally), mechanism.winners(tally)
        names = [row.name.encode() for row in found.rows]
        truth = [float((held == list(name.ljust(2, b"\0"))).all(axis=1).mean()) for name in names]
        off += ((found.values - truth) / found.stderr("respondents")).tolist()
        assert len(winners) == WINNERS

    spread = np.square(off).mean()
    assert far(np.array(off)[:, None], np.zeros(1)) < Z
    assert abs(spread - 1) < Z * 2 * math.sqrt(2 / len(off))


def test_what_was_found_would_seem_too_large_by_the_reports_that_found_it() -> None:
    mechanism, coins, off = PrefixExtension("1", 1, start=8, pool=256), seeded_coins(94), []
    held = np.repeat(np.arange(32, 96, dtype=np.uint8)[:, None], 60, axis=0)
    for _ in range(20):
        tally = mechanism.tally(mechanism.perturb(held, coins))
        winners = mechanism.winners(tally)

        finders = mechanism._sketch(tally, 0).shares([""] * len(winners), winners)

        off += (finders.values / finders.stderr("respondents")).tolist()

    assert np.mean(off) > 1  # so the test above would fail without a group of its own for the shares


def test_no_report_tells_of_whole_texts_yet() -> None:
    mechanism = PrefixExtension("1", 1, pool=2)
    first = mechanism.tally(mechanism.outputs()[:1])

    found = mechanism.estimate(first, candidates=["a"])

    assert np.isnan(found.values).all()
    assert np.isnan(found.stderr("population")).all()


def test_without_reports_there_is_no_estimate() -> None:
    mechanism = PrefixExtension("1", 1, pool=2)

    with pytest.raises(TooFewReportsError):
        mechanism.estimate(Tally.zero(16))


def test_bytes_that_are_no_text_are_no_row() -> None:
    mechanism = PrefixExtension("8", 2, start=8, step=8, pool=64)
    held = np.repeat(np.array([[255, 254], [97, 0]], dtype=np.uint8), 3_000, axis=0)
    tally = mechanism.tally(mechanism.perturb(held, seeded_coins(95)))

    found = mechanism.estimate(tally)

    assert [255, 254] in mechanism.winners(tally).tolist()
    assert "a" in {row.name for row in found.rows}
    assert all("\ufffd" not in row.name and row.name.isprintable() for row in found.rows)
