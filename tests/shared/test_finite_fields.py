"""This file checks what report over a finite field: local hashing and projective geometry.

The reference values were computed with 50-digit arithmetic. Nothing here is drawn but where coins are seeded,
and there a comparison by Z fails once in 10**9.
"""

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub.epsilon import Epsilon
from hubbub.errors import DomainError
from hubbub.finite_field import is_prime, length
from hubbub.hyperplanes import size
from hubbub.mechanisms.local_hashing import LocalHashing, hashed_channel, total_variance
from hubbub.mechanisms.projective_geometry import ProjectiveGeometry, space_channel
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "vectors" / "reference_finite_fields.json").read_text("utf-8")
)
KINDS: tuple[Any, ...] = (LocalHashing, ProjectiveGeometry)
LARGE: list[Any] = [kind(epsilon, 65_536) for kind in KINDS for epsilon in ("0.001", "1", "4", "8", "20")]
PRIMES = [number for number in range(2, 3_100) if is_prime(number)]
ZEROS, ONES = ScriptedCoins(then=0), ScriptedCoins(then=255)


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_and_variances_in_a_space_are_the_reference_ones(kind: Any) -> None:
    rows = REFERENCE[kind.kind]
    channels = [channel_of(kind, row["eps"], row["g"], row["t"]) for row in rows]

    found = [
        {
            "p": float(channel.p),
            "q": float(channel.q),
            "nvar_f0": channel.stderr(1, 0.0) ** 2,
            "nvar_f1": channel.stderr(1, 1.0) ** 2,
            "nvar_f01": channel.stderr(1, 0.1) ** 2,
            "total_mse_n": float(total_variance(channel, row["d"])),
        }
        for channel, row in zip(channels, rows, strict=True)
    ]

    assert found == [{key: pytest.approx(row[key], rel=1e-12) for key in found[0]} for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_the_space_that_is_chosen_is_never_worse_than_the_reference_one(kind: Any) -> None:
    rows = REFERENCE[kind.kind]

    mechanisms = [kind(row["eps"], row["d"]) for row in rows]

    totals = [float(total_variance(each.channel, each.k)) for each in mechanisms]
    spaces = [(each.g, each.t) for each in mechanisms]
    assert [total / row["total_mse_n"] < 1 + 1e-12 for total, row in zip(totals, rows, strict=True)] == [
        True
    ] * len(rows)
    assert sum(space == (row["g"], row["t"]) for space, row in zip(spaces, rows, strict=True)) >= 11


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", ["0.001", "0.4", "1", "2.5", "5.3", "7.5"])
@pytest.mark.parametrize("k", [2, 9, 122, 1_024])
def test_no_other_prime_has_a_smaller_error(kind: Any, epsilon: str, k: int) -> None:
    mechanism = kind(epsilon, k)

    errors = [
        error_of(float(channel.p), float(channel.q), k)
        for channel in (channel_of(kind, epsilon, g, space_of(kind, g, k)) for g in PRIMES)
    ]

    assert mechanism.g in PRIMES
    assert errors[PRIMES.index(mechanism.g)] <= min(errors) * (1 + 1e-12)


def channel_of(kind: Any, epsilon: str, g: int, t: int) -> Any:
    if kind is LocalHashing:
        return hashed_channel(Epsilon.parse(epsilon), g)
    return space_channel(Epsilon.parse(epsilon), g, t)


def space_of(kind: Any, g: int, k: int) -> int:
    if kind is LocalHashing:
        return length(k, g)
    return next(t for t in range(1, 20) if size(t + 1, g) >= k)


def error_of(p: float, q: float, k: int) -> float:
    return (k * q * (1 - q) / (p - q) + 1 - p - q) / (p - q)


GOLDEN = {
    # one byte: 9 a_1 + 3 a_2 + y = 0 + 3 + 2, any report; the coin that the digit is not told
    "a = 01, y = 2": (LocalHashing("1", 8), 7, ScriptedCoins([5, 0, 255]), "05"),
    # the same a, and y = 0 * 2 + 1 * 1 since category 7 is 21
    "a = 01, y = <a, v> = 1": (LocalHashing("1", 8), 7, ScriptedCoins([5, 0, 0]), "04"),
    # a = 21: y = 2 * 2 + 1 * 1 = 5 = 2 modulo 3, and 9 * 2 + 3 * 1 + 2 = 23
    "a = 21, y = <a, v> = 2": (LocalHashing("1", 8), 7, ScriptedCoins([21, 0, 0]), "17"),
    # two bytes, little-endian: a = 1000000, so y is the highest digit of category 1023 = 1101220, that is 1
    "a = 3^6, y = <a, v> = 1": (
        LocalHashing("1", 1_024),
        1_023,
        ScriptedCoins([0x8B, 0x08, 0, 0, 0]),
        "8c08",
    ),
    # four bytes, little-endian: a = 53 is 0 1 0 and category 65535 is 23 17 27, so y = 17: 53 * 53 + 17
    "a = 53, y = <a, v> = 17": (
        LocalHashing("4", 65_536),
        65_535,
        ScriptedCoins([0xF9, 0x0A, *[0] * 7]),
        "0a0b0000",
    ),
    # one byte: others 0, so u = (u_0, 1, 0), and u_0 = x_1 = 2 since category 7 is 21: number 1 + 2
    "the hyperplane (2, 1, 0)": (ProjectiveGeometry("1", 8), 7, ZEROS, "03"),
    # others 3 = 1 + 2: u = (u_0, 2, 1), u_0 = 2 * 2 + 1 * 1 = 2 modulo 3: number 1 + 3 + 2 + 3 * 2
    "the hyperplane (2, 2, 1)": (ProjectiveGeometry("1", 8), 7, ScriptedCoins([3, 0, 0]), "0c"),
    # any of 13: the coin that none through the point is named
    "hyperplane 11": (ProjectiveGeometry("1", 8), 7, ScriptedCoins([3, 11, 255]), "0b"),
    # two bytes, little-endian: others 363 = (1 + 3 + 9 + 27 + 81) + 242 is (2, 2, 2, 2, 2, 1), without u_1 as
    # category 729 is the point (0, 2, 0, 0, 0, 0, 0), so u_1 = 0: (1 + ... + 3^5) + 2 + 2 (3^2 + ... + 3^5)
    "a point beyond the affine ones": (
        ProjectiveGeometry("1", 1_024),
        729,
        ScriptedCoins([0x6B, 0x01, *[0] * 6]),
        "3e04",
    ),
}


@pytest.mark.parametrize(("mechanism", "value", "coins", "wire"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_is_these_bytes(mechanism: Any, value: int, coins: ScriptedCoins, wire: str) -> None:
    report = mechanism.perturb(np.array([value]), replace(coins))

    assert report.tobytes().hex() == wire
    assert mechanism.check(report).all()


@pytest.mark.parametrize(
    ("mechanism", "space", "layout"),
    [
        (LocalHashing("1", 2), (3, 1), "|u1"),
        (LocalHashing("1", 1_024), (3, 7), "<u2"),
        (LocalHashing("1", 65_536), (3, 11), "<u4"),
        (LocalHashing("8", 65_536), (2_917, 2), "<u8"),
        (LocalHashing("20", 65_536), (5_638_351, 1), "<u8"),
        (ProjectiveGeometry("1", 122), (3, 5), "<u2"),
        (ProjectiveGeometry("1", 121), (3, 4), "|u1"),
        (ProjectiveGeometry("1", 65_536), (3, 10), "<u4"),
        (ProjectiveGeometry("20", 65_536), (65_537, 1), "<u4"),
    ],
    ids=str,
)
def test_reports_are_as_narrow_as_their_number_allows(
    mechanism: Any, space: tuple[int, int], layout: str
) -> None:
    assert (mechanism.g, mechanism.t) == space
    assert mechanism.layout.str == layout


@pytest.mark.parametrize(
    ("mechanism", "impossible"),
    [
        (LocalHashing("1", 8), np.array([27, 255], dtype="u1")),
        (LocalHashing("1", 1_024), np.array([6_561, 65_535], dtype="<u2")),
        (LocalHashing("8", 65_536), np.array([2_917**3, 2**64 - 1], dtype="<u8")),
        (LocalHashing("1", 8), np.array([-1, 27])),
        (ProjectiveGeometry("1", 8), np.array([13, 255], dtype="u1")),
        (ProjectiveGeometry("1", 1_024), np.array([1_093, 65_535], dtype="<u2")),
        (ProjectiveGeometry("1", 8), np.array([-1, 13])),
    ],
    ids=str,
)
def test_an_impossible_report_is_told_and_never_counted(mechanism: Any, impossible: Any) -> None:
    assert mechanism.check(impossible).tolist() == [False, False]
    with pytest.raises(DomainError, match="a report must be from 0 to"):
        mechanism.tally(impossible)


@pytest.mark.parametrize("mechanism", LARGE, ids=str)
@pytest.mark.parametrize("n", [0, 1, 5_000])
def test_reports_about_many_categories_count_their_holders(mechanism: Any, n: int) -> None:
    reports = mechanism.perturb(np.full(n, 65_535), seeded_coins(71))

    tally = mechanism.tally(reports)

    p, q = float(mechanism.channel.p), float(mechanism.channel.q)
    assert mechanism.check(reports).all()
    assert tally.n == n
    assert abs(tally.cells[65_535] - n * p) <= Z * np.sqrt(n * p * (1 - p)) + 1e-9
    assert abs(tally.cells[1_000] - n * q) <= Z * np.sqrt(n * q * (1 - q)) + 10  # where q is tiny, Poisson


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize(
    ("epsilon", "k"), [("1", 1), ("1", 65_537), ("1", True), ("0", 4), (0.5, 4), ("nan", 4)]
)
def test_parameters_out_of_range_are_refused(make: Any, epsilon: Any, k: Any) -> None:
    with pytest.raises(DomainError, match=r"number of categories|epsilon"):
        make(epsilon, k)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("values", [[99_999], [-1], [1.0], [True]])
def test_what_is_no_category_is_refused_and_not_repeated(make: Any, values: list[Any]) -> None:
    with pytest.raises(DomainError) as refusal:
        make("1", 300).perturb(np.array(values), system_coins())

    assert "99999" not in str(refusal.value)


@pytest.mark.parametrize("mechanism", [LocalHashing("4", 65_536), ProjectiveGeometry("8", 65_536)], ids=str)
def test_what_is_too_much_to_list_or_to_simulate_is_told(mechanism: Any) -> None:
    with pytest.raises(DomainError, match="too many to list"):
        mechanism.outputs()
    assert mechanism.simulate(np.ones(65_536, dtype=np.int64), seeded_coins(72)) is None


@pytest.mark.parametrize("mechanism", [LocalHashing("1", 9), ProjectiveGeometry("1", 13)], ids=str)
def test_two_categories_are_supported_together_as_stated_but_for_holders_on_their_line(
    mechanism: Any,
) -> None:
    reports, k, channel = mechanism.outputs(), mechanism.k, mechanism.channel
    supports = np.array([mechanism.tally(reports[i : i + 1]).cells for i in range(len(reports))])
    laws = np.array([[float(mechanism.likelihood(x, report)) for report in reports] for x in range(k)])

    both = np.einsum("xr,ru,rv->xuv", laws, supports, supports)

    thirds = list(permutations(range(k), 3))
    on_line = [is_on_line(*third) for third in thirds]
    stated = [float(channel.pq if on else channel.qq) for on in on_line]
    assert [both[x, u, v] for u, v, x in thirds] == pytest.approx(stated)
    assert [both[u, u, v] for u, v in permutations(range(k), 2)] == pytest.approx(
        [float(channel.pq)] * (k * k - k)
    )
    assert 0 < sum(on_line) < len(on_line)


def is_on_line(*points: int) -> bool:
    """Tell whether three different points of a plane modulo 3 lie on a line."""
    affine = [(2, first, second) for first in range(3) for second in range(3)]
    every = np.array([*affine, (0, 2, 0), (0, 2, 1), (0, 2, 2), (0, 0, 2)], dtype=float)
    return bool(round(np.linalg.det(every[list(points)])) % 3 == 0)


SENTENCES = {
    LocalHashing(
        "1", 9
    ): "your device shuffles the 9 answers into 3 groups, and sends how it did so, with one "
    "group: that of your answer with probability 57.6 %, any other, untrue, with 21.2 %",
    ProjectiveGeometry(
        "1", 9
    ): "one of 13 overlapping groups of the 9 answers is sent: each of the 4 with your "
    "answer in it with probability 13.7 %, each other, untrue, with 5.03 %",
}


@pytest.mark.parametrize(("mechanism", "sentence"), SENTENCES.items(), ids=str)
def test_the_owner_is_told_what_is_sent_in_one_true_sentence(mechanism: Any, sentence: str) -> None:
    assert mechanism.sentence([f"option {index}" for index in range(mechanism.k)]) == sentence


@pytest.mark.parametrize("rows", [[0], [0, 1], [1, 4, 5], [0, 1, 2, 3, 6], list(range(1, 9))], ids=str)
@pytest.mark.parametrize("mechanism", [LocalHashing("1", 9), ProjectiveGeometry("1", 13)], ids=str)
def test_lines_add_exactly_their_part_to_the_error_of_categories_together(
    mechanism: Any, rows: list[int]
) -> None:
    reports, channel = mechanism.outputs(), mechanism.channel
    laws = np.array(
        [[float(mechanism.likelihood(x, report)) for report in reports] for x in range(mechanism.k)]
    )
    said = np.array([mechanism.tally(reports[i : i + 1]).cells[rows].sum() for i in range(len(reports))])
    spreads = laws @ said**2 - (laws @ said) ** 2

    pairs = mechanism.estimate(mechanism.tally(reports)).lines(rows)

    promised = [channel.together(len(rows), in_line=(count, count)) for count in pairs.tolist()]
    is_held = np.isin(np.arange(mechanism.k), rows)
    assert spreads / float(channel.p - channel.q) ** 2 == pytest.approx(
        np.where(is_held, *np.transpose(promised)), abs=1e-12
    )


@pytest.mark.parametrize("mechanism", [LocalHashing("4", 1_024), ProjectiveGeometry("2", 1_024)], ids=str)
@pytest.mark.parametrize("size", [30, 500])
def test_many_crowds_err_about_categories_together_as_promised(mechanism: Any, size: int) -> None:
    n, rounds, rows = 4_000, 200, list(range(size))
    counts = np.full(1_024, 3)
    counts[size - 1] += n - counts.sum()

    found = [
        mechanism.estimate(mechanism.tally(mechanism.perturb(np.repeat(np.arange(1_024), counts), coins)))
        for coins in (seeded_coins(seed) for seed in range(rounds))
    ]

    answers = [each.together(rows) for each in found[:10]]
    errors = np.array([each.values[rows].sum() for each in found]) - counts[rows].sum() / n
    promised = np.mean([answer.stderr("respondents")[0] ** 2 for answer in answers])
    assert abs((errors**2).mean() / promised - 1) < Z * np.sqrt(2 / rounds) + 0.03
