"""This file checks the bytes that mechanisms send, and which they take."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hubbub.errors import DomainError
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins

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
    report = mechanism.perturb(np.array([value]), replace(coins))

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
