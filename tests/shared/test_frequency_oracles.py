"""This file checks symmetric unary encoding, subset selection and Hadamard response, each on its own.

The reference values were computed with 50-digit arithmetic. Nothing here is drawn but in the last two tests,
whose false alarms come once in 10**8 and once in 10**7.
"""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub.errors import DomainError
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.hadamard_response import HadamardResponse
from hubbub.mechanisms.subset_selection import SubsetSelection
from hubbub.mechanisms.symmetric_unary import SymmetricUnary
from hubbub.subsets import packed_sets, sparse_sets
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z, chi_square_excess

REFERENCE = json.loads((Path(__file__).parents[1] / "vectors" / "reference_frequencies.json").read_text())
KINDS: tuple[Any, ...] = (SymmetricUnary, SubsetSelection, HadamardResponse)
LARGE: list[Mechanism] = [
    SymmetricUnary("1", 65_536),
    SubsetSelection("1", 65_536),
    SubsetSelection("8", 65_536),
    SubsetSelection("1", 1_000),
    HadamardResponse("1", 65_536),
    HadamardResponse("4", 1_000),
]
ZEROS, ONES = ScriptedCoins(then=0), ScriptedCoins(then=255)


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_and_variances_are_the_reference_ones(kind: Any) -> None:
    rows = REFERENCE[kind.kind]
    mechanisms = [kind(row["eps"], row["d"]) for row in rows]

    found = [
        {
            "p": float(mechanism.channel.p),
            "q": float(mechanism.channel.q),
            "nvar_f0": mechanism.stderr(1, frequency=0.0) ** 2,
            "nvar_f1": mechanism.stderr(1, frequency=1.0) ** 2,
            "nvar_f01": mechanism.stderr(1, frequency=0.1) ** 2,
            "total_mse_n": (row["d"] - 1) * mechanism.stderr(1) ** 2 + mechanism.stderr(1, frequency=1) ** 2,
        }
        for mechanism, row in zip(mechanisms, rows, strict=True)
    ]

    assert found == [{key: pytest.approx(row[key], rel=1e-12) for key in found[0]} for row in rows]


def test_the_size_of_the_sets_and_the_order_of_the_matrix_are_the_reference_ones() -> None:
    sets, orders = REFERENCE["subset_selection"], REFERENCE["hadamard_response"]

    found_sets = [SubsetSelection(row["eps"], row["d"]).omega for row in sets]
    found_orders = [HadamardResponse(row["eps"], row["d"]).order for row in orders]

    assert found_sets == [row["omega"] for row in sets]
    assert found_orders == [row["K"] for row in orders]


@pytest.mark.parametrize("epsilon", ["0.001", "0.3", "1", "2.5", "6", "20"])
@pytest.mark.parametrize("k", [2, 3, 4, 17, 300])
def test_no_other_size_of_the_sets_has_a_smaller_error(epsilon: str, k: int) -> None:
    mechanism = SubsetSelection(epsilon, k)
    e, sizes = np.exp(float(mechanism.epsilon.exact)), np.arange(1, k)
    p = sizes * e / (sizes * e + k - sizes)
    q = (p * (sizes - 1) + (1 - p) * sizes) / (k - 1)

    errors = k * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q)

    assert errors[mechanism.omega - 1] <= errors.min() * (1 + 1e-12)


GOLDEN = {
    # bits 0 to 7, bits 8 to 11 with four bits of padding
    "symmetric: all bits of 12 set": (SymmetricUnary("1", 12), 0, ZEROS, "ff" + "0f"),
    "symmetric: no bit of 12 set": (SymmetricUnary("1", 12), 0, ONES, "00" + "00"),
    # one byte: the only member
    "a set of 1 of 4, the held one": (SubsetSelection("2", 4), 3, ZEROS, "03"),
    # the coin of the held category, then another (0 is below 3, so it stays), then which makes room
    "a set of 1 of 4, another": (SubsetSelection("2", 4), 3, ScriptedCoins([255] * 9), "00"),
    # bits 0 to 7, bits 8 to 11: the coin of the held 8, six words that begin no set, 4 and 8, which is in, 9
    "a set of 3 of 12 with the held one": (
        SubsetSelection("1", 12),
        8,
        ScriptedCoins([0, *[0] * 48, 4, 8, 9]),
        "10" + "03",
    ),
    # two bytes each, little-endian, rising: 514 to 531 are drawn and mean 515 to 532, past the held 513;
    # the second makes room
    "a set of 18 of 1024": (
        SubsetSelection("4", 1024),
        513,
        ScriptedCoins([0, *(byte for low in range(2, 20) for byte in (low, 2)), 1]),
        "0102" + "0302" + "".join(f"{low:02x}02" for low in range(5, 21)),
    ),
    # one byte: twice a = 5 (the low bits of the word), and b: 5 & 4 has an odd parity, and it is told
    "a = 5, b = 1": (HadamardResponse("1", 16), 4, ScriptedCoins([5, 255]), "0b"),
    "a = 5, b = 0: denied": (HadamardResponse("1", 16), 4, ScriptedCoins([5, 0]), "0a"),
    # two bytes, little-endian: twice a = 0x102, and b: 0x102 & 0x100 has an odd parity
    "a = 258, b = 1": (HadamardResponse("1", 1_000), 256, ScriptedCoins([2, 1, 255]), "0502"),
    # four bytes: twice a = 65535, and b: 65535 & 1 has an odd parity
    "a = 65535, b = 1": (HadamardResponse("1", 65_536), 1, ONES, "ffff0100"),
}


@pytest.mark.parametrize(("mechanism", "value", "coins", "wire"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_is_these_bytes(mechanism: Mechanism, value: int, coins: ScriptedCoins, wire: str) -> None:
    report = mechanism.perturb(np.array([value]), replace(coins))

    assert report.tobytes().hex() == wire
    assert mechanism.check(report).all()


@pytest.mark.parametrize(
    ("mechanism", "layout"),
    [
        (SymmetricUnary("1", 9), ("|u1", (2,))),
        (SubsetSelection("1", 2), ("|u1", (1,))),
        (SubsetSelection("1", 9), ("|u1", (2,))),
        (SubsetSelection("4", 256), ("|u1", (5,))),
        (SubsetSelection("4", 257), ("<u2", (5,))),
        (SubsetSelection("1", 1_024), ("|u1", (128,))),
        (SubsetSelection("8", 65_536), ("<u2", (22,))),
        (HadamardResponse("1", 128), ("|u1", ())),
        (HadamardResponse("1", 129), ("<u2", ())),
        (HadamardResponse("1", 32_768), ("<u2", ())),
        (HadamardResponse("1", 32_769), ("<u4", ())),
    ],
    ids=str,
)
def test_reports_take_the_shorter_form(mechanism: Mechanism, layout: tuple[str, tuple[int, ...]]) -> None:
    assert (mechanism.layout.base.str, mechanism.layout.shape) == layout


@pytest.mark.parametrize("mechanism", LARGE, ids=str)
@pytest.mark.parametrize("n", [0, 1, 50])
def test_reports_about_many_categories_are_possible_and_count_their_holder(
    mechanism: Mechanism, n: int
) -> None:
    held = np.full(n, 999)

    reports = mechanism.perturb(held, seeded_coins(61))

    assert mechanism.check(reports).all()
    assert reports.nbytes == n * mechanism.layout.itemsize
    assert mechanism.tally(reports).n == n


@pytest.mark.parametrize(
    ("mechanism", "impossible"),
    [
        (SymmetricUnary("1", 3), np.array([[8], [255]], dtype="u1")),
        # two members, equal members, none in order, one out of range
        (SubsetSelection("4", 256), np.array([[0, 1, 2, 3, 3], [4, 3, 2, 1, 0]], dtype="u1")),
        (SubsetSelection("4", 300), np.array([[0, 1, 2, 3, 300], [299, 1, 2, 3, 4]], dtype="<u2")),
        # one member too many, one too few, and one beyond the last category
        (SubsetSelection("1", 12), np.array([[0b1111, 0], [0b11, 0]], dtype="u1")),
        (SubsetSelection("1", 12), np.array([[0b11, 0b10000], [0, 0b10000011]], dtype="u1")),
        (HadamardResponse("1", 5), np.array([16, 255], dtype="u1")),
        (HadamardResponse("1", 300), np.array([1024, 65_535], dtype="<u2")),
        (HadamardResponse("1", 5), np.array([-1, 16])),
    ],
    ids=str,
)
def test_an_impossible_report_is_told_and_never_counted(mechanism: Mechanism, impossible: Any) -> None:
    assert mechanism.check(impossible).tolist() == [False, False]
    with pytest.raises((DomainError, ValueError)):
        mechanism.tally(impossible)


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


@pytest.mark.parametrize("mechanism", [SubsetSelection("1", 64), SymmetricUnary("1", 21)], ids=str)
def test_more_reports_than_can_be_listed_are_refused(mechanism: Mechanism) -> None:
    with pytest.raises(DomainError, match="too many to list"):
        mechanism.outputs()


SENTENCES = {
    SymmetricUnary("1", 3): "of the 3 answers any number are sent as ticked: yours with probability 62.2 %, "
    "each other one, untrue, with 37.8 %",
    SubsetSelection("1", 9): "of the 9 answers 2 are sent as ticked: yours with probability 43.7 %, "
    "each other one, untrue, with 19.5 %",
    SubsetSelection("2", 3): "of the 3 answers 1 is sent as ticked: yours with probability 78.7 %, "
    "each other one, untrue, with 10.7 %",
    HadamardResponse("1", 3): "a report speaks for some of the 3 answers, chosen at random: for yours with "
    "probability 73.1 %, for each other one, untrue, with 50 %",
}


@pytest.mark.parametrize(("mechanism", "sentence"), SENTENCES.items(), ids=str)
def test_the_owner_is_told_what_is_sent_in_one_true_sentence(mechanism: Any, sentence: str) -> None:
    assert mechanism.sentence([f"option {index}" for index in range(mechanism.k)]) == sentence


@pytest.mark.parametrize(("is_member", "size"), [(True, 6), (False, 5)])
@pytest.mark.parametrize("draw", [packed_sets, sparse_sets])
def test_every_set_of_others_is_equally_likely(draw: Any, is_member: bool, size: int) -> None:
    n, k, held = 60_000, 11, 7
    wanted = [row for row in combinations(range(k), size) if (held in row) == is_member]

    drawn = draw(np.full(n, held), np.full(n, is_member), k=k, size=size, coins=seeded_coins(62))

    sets = drawn if draw is sparse_sets else np.nonzero(np.unpackbits(drawn, axis=1, bitorder="little"))[1]
    codes = (1 << sets.reshape(n, size).astype(np.int64)).sum(axis=1)
    counts = np.array([(codes == sum(1 << index for index in row)).sum() for row in wanted])
    assert counts.sum() == n
    assert chi_square_excess(counts, np.full(len(wanted), n / len(wanted))) < 1


def test_a_simulated_crowd_of_many_and_few_is_the_crowd() -> None:
    mechanism = HadamardResponse("1", 1_000)
    counts = np.zeros(mechanism.k, dtype=np.int64)
    counts[[0, -1]] = [4_000, 2_000]  # of whom some 1,850 and 920 support what they hold: 1,024 are many

    estimate = mechanism.estimate(mechanism.simulate(counts, seeded_coins(63)))

    n = int(counts.sum())
    errors = np.array([mechanism.stderr(n, frequency=share) for share in counts / n])
    assert (np.abs(estimate.values - counts / n) < Z * errors).all()
