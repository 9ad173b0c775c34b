"""This file checks eight coins at once, digit by digit against the bounds between their outcomes.

The bounds are computed here a second time: as sums of the outcomes' likelihoods. False alarms: a comparison
by chi-square once in 10**8.
"""

import math
from bisect import bisect_right
from fractions import Fraction
from functools import cache
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.coins import Coins
from hubbub.eight_coins import EightCoins, PackedCoins
from hubbub.errors import DomainError
from hubbub.probability import Real
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import chi_square_excess

HALF, NEVER, ALWAYS, TINY = Real(Fraction(1, 2)), Real(0), Real(1), Real.exp(-20)
DIGITS = tuple(1 / (1 + Real.exp(Fraction(2**place, 32))) for place in range(6))
BIASES = {
    "equal": (1 / (1 + Real.exp(1)),) * 8,
    "different": (*DIGITS, Real.exp(-2), HALF),
    "rational": tuple(Real(Fraction(1, n)) for n in range(2, 10)),
    "halves": (HALF,) * 8,
    "tiny": (TINY, Real.exp(-400), TINY, TINY, 1 - TINY, TINY, HALF, TINY),
    "certain": (NEVER, ALWAYS, HALF, ALWAYS, Real.exp(-1), NEVER, Real(Fraction(1, 3)), ALWAYS),
    "all certain": (NEVER, ALWAYS, ALWAYS, NEVER, NEVER, NEVER, ALWAYS, NEVER),
}
COINS = {"system": system_coins(), "seeded": seeded_coins(8)}
SCALE = 1024  # binary digits in which bounds are computed here
REST = 0xA7  # every byte of a number after the digits that a test is about
EACH = pytest.mark.parametrize("biases", BIASES.values(), ids=BIASES)


def likelihoods(biases: tuple[Real, ...]) -> list[Real]:
    """Return the chance of each outcome, shape (256,)."""
    return [
        math.prod((bias if outcome >> at & 1 else 1 - bias for at, bias in enumerate(biases)), start=Real(1))
        for outcome in range(256)
    ]


@cache
def bounds(biases: tuple[Real, ...]) -> list[int]:
    """Return where shares end, rounded up, in units of 2**-SCALE, shape (255,)."""
    widths = [sum(likelihood.enclose(SCALE + 64)) / 2 for likelihood in likelihoods(biases)]
    return [math.ceil(end * 2**SCALE - Fraction(1, 2**32)) for end in accumulate(widths[:-1])]


def outcome_of(eight: EightCoins, digits: int, count: int) -> tuple[int, int]:
    """Return the outcome of a number that begins with so many digits, and how many bytes it took."""
    script = b"".join(
        (digits >> max(0, count - known) & ((1 << width) - 1)).to_bytes(width // 8, "little")
        for known, width in [(16, 16), (48, 32), *((known, 64) for known in range(112, count + 1, 64))]
        if known <= count
    )
    coins = ScriptedCoins(script, then=REST)
    return int(eight.throw(1, coins)[0]), coins.drawn


def at_or_below(ends: list[int], digits: int, count: int) -> int:
    """Return how many bounds are at or below the number that begins with so many digits."""
    rest = int.from_bytes([REST] * ((SCALE - count) // 8))
    return bisect_right(ends, digits << (SCALE - count) | rest)


@EACH
def test_over_all_cells_each_outcome_is_as_likely_as_the_product_of_its_coins(
    biases: tuple[Real, ...],
) -> None:
    eight, ends = EightCoins(biases), [0, *bounds(biases), 1 << SCALE]
    still_open = np.flatnonzero(eight._outcomes == 256)
    closed = np.delete(np.arange(1 << 16, dtype="<u2"), still_open)

    coins = ScriptedCoins(closed.tobytes())
    measures = [
        int(cells) << (SCALE - 16) for cells in np.bincount(eight.throw(closed.size, coins), minlength=256)
    ]
    for cell in still_open.tolist():
        start, end = cell << (SCALE - 16), (cell + 1) << (SCALE - 16)
        parts = zip([max(start, low) for low in ends], [min(end, high) for high in ends[1:]], strict=False)
        measures = [
            measure + max(0, high - low) for measure, (low, high) in zip(measures, parts, strict=True)
        ]

    stated = [likelihood.enclose(SCALE)[0] * 2**SCALE for likelihood in likelihoods(biases)]
    assert max(abs(measure - share) for measure, share in zip(measures, stated, strict=True)) <= 2
    assert coins.drawn == 2 * closed.size
    assert still_open.size <= 255


@EACH
@pytest.mark.parametrize("count", [16, 48, 112, 176, 240])
def test_a_number_beside_a_bound_falls_on_its_own_side(biases: tuple[Real, ...], count: int) -> None:
    eight, ends = EightCoins(biases), bounds(biases)
    beside = {
        min(max((end >> (SCALE - count)) + step, 0), 2**count - 1)
        for end in (ends if count <= 48 else ends[7::31])
        for step in (-3, -2, -1, 0, 1, 2, 3)
    }

    fallen = {digits: outcome_of(eight, digits, count)[0] for digits in beside}

    assert fallen == {digits: at_or_below(ends, digits, count) for digits in beside}


@pytest.mark.parametrize("biases", [BIASES["equal"], BIASES["different"], BIASES["rational"]])
@pytest.mark.parametrize("count", [112, 176, 240])
def test_digits_are_drawn_until_they_tell_and_no_longer(biases: tuple[Real, ...], count: int) -> None:
    eight, end = EightCoins(biases), bounds(biases)[99] >> (SCALE - count)

    sides = [outcome_of(eight, end + step, count) for step in (-3, 3)]

    assert sides == [(99, count // 8), (100, count // 8)]


PROBABILITIES = st.one_of(
    st.fractions(0, 1, max_denominator=1 << 20).map(Real),
    st.fractions(0, 40, max_denominator=1 << 10).map(lambda x: Real.exp(-x)),
    st.fractions(0, 40, max_denominator=1 << 10).map(lambda x: 1 / (1 + Real.exp(x))),
    st.sampled_from([NEVER, ALWAYS, HALF]),
)


@settings(max_examples=40, deadline=None)
@given(
    biases=st.tuples(*[PROBABILITIES] * 8),
    numbers=st.lists(st.integers(0, 2**48 - 1), min_size=1, max_size=20),
    near=st.lists(st.tuples(st.integers(0, 254), st.integers(-3, 3)), max_size=20),
)
def test_any_number_counts_the_bounds_at_or_below_it(
    biases: tuple[Real, ...], numbers: list[int], near: list[tuple[int, int]]
) -> None:
    eight, ends = EightCoins(biases), bounds(biases)
    beside = [(ends[at] >> (SCALE - 48)) + step for at, step in near]
    digits = [*numbers, *(each for each in beside if 0 <= each < 1 << 48)]

    fallen = [outcome_of(eight, each, 48)[0] for each in digits]

    assert fallen == [at_or_below(ends, each, 48) for each in digits]


@EACH
@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
@pytest.mark.parametrize("size", [9_999, 1_000_000])
def test_throws_follow_the_product_law(biases: tuple[Real, ...], coins: Coins, size: int) -> None:
    stated = np.array([float(likelihood) for likelihood in likelihoods(biases)])

    seen = np.bincount(PackedCoins(biases).throw(size, coins)[:, 0], minlength=256)

    possible = stated * size > 1e-9
    assert not seen[~possible].any()
    assert chi_square_excess(seen[possible], size * stated[possible]) < 1


def test_two_eights_keep_their_places_and_no_company() -> None:
    biases, n = (*BIASES["different"], *BIASES["rational"]), 1_000_000
    stated = np.outer(*[[float(one) for one in likelihoods(eight)] for eight in (biases[:8], biases[8:])])

    thrown = PackedCoins(biases).throw(n, seeded_coins(9))

    seen = np.bincount(thrown.view("<u2")[:, 0], minlength=1 << 16)
    assert chi_square_excess(seen, n * stated.T.reshape(-1)) < 1


@pytest.mark.parametrize("size", [0, 1, 8_192, 10_000])
def test_throws_come_in_rows_of_bytes_and_only_many_make_tables(size: int) -> None:
    packed = PackedCoins(BIASES["equal"] * 3)

    thrown = packed.throw(size, system_coins())

    assert (thrown.shape, thrown.dtype) == ((size, 3), np.dtype(np.uint8))
    assert len(packed._eights) == 3 * (size >= 10_000)


def test_a_seed_throws_the_same_whatever_was_thrown_before() -> None:
    fresh, used = PackedCoins(BIASES["equal"]), PackedCoins(BIASES["equal"])
    used.throw(10_000, system_coins())

    thrown = [packed.throw(100, seeded_coins(10)).tobytes() for packed in (fresh, used)]

    assert thrown[0] == thrown[1]


@pytest.mark.parametrize("size", [1, 10_000])
@pytest.mark.parametrize("bias", [Real(-1), Real(2), 1 + Real.exp(-1), 0 - Real.exp(-9)])
def test_a_bias_that_is_no_probability_is_refused(size: int, bias: Real) -> None:
    packed = PackedCoins((*[HALF] * 7, bias))

    with pytest.raises(DomainError, match="from 0 to 1"):
        packed.throw(size, system_coins())


@pytest.mark.parametrize("make", [EightCoins, PackedCoins])
@pytest.mark.parametrize("count", [0, 7, 9])
def test_biases_that_make_no_whole_byte_are_refused(make, count: int) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DomainError, match="eight"):
        make((HALF,) * count)
