"""This file checks mechanisms for several facts at once: their bytes, and what they refuse or leave out."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from hubbub.domains.boolean import Boolean
from hubbub.domains.choice import Choice
from hubbub.domains.number import Number
from hubbub.domains.record import Record
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.exponential import Exponential
from hubbub.mechanisms.joint_response import JointResponse
from hubbub.mechanisms.key_value_unary import KeyValueUnary
from hubbub.mechanisms.padded_sampling import PaddedSampling
from hubbub.mechanisms.sampled_attribute import SampledAttribute
from hubbub.mechanisms.sampled_option import SampledOption
from hubbub_lab.audit import audit
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins

RESPONSE = "randomized_response"
FACTS = (("dark", Boolean()), ("system", Choice(("linux", "mac", "other"))))
DEVICE = (*FACTS, ("startup", Number.parse([0, 10])))
NAN = np.nan
WEIGHT = Exponential("1", 3, steps=1).weights[1]  # of a useful option

ALL: list[tuple[Mechanism, Any]] = [
    (SampledOption("1", 3), [1, 0, 1]),
    (SampledOption("0.001", 1024), [1] * 1024),
    (PaddedSampling("1", 3, most=2), [1, 1, 1]),
    (PaddedSampling("20", 1024, most=1024, oracle=RESPONSE), [0] * 1024),
    (SampledAttribute("1", DEVICE), [1, 2, 9.5]),
    (JointResponse("1", FACTS), [1, 2]),
    (JointResponse("1", tuple((str(i), Boolean()) for i in range(16)), oracle=RESPONSE), [1] * 16),
    (KeyValueUnary("1", 9, most=1, low=0, high=10), [NAN] * 8 + [9.5]),
    (KeyValueUnary("20", 1024, most=1024, low=0, high=10), [5] * 1024),
    (Exponential("1", 3), [0.5, 1, 0]),
    (Exponential("20", 1024, steps=256), [0.5] * 1024),
]
GOLDEN = {
    # one byte, 2 v + answer: option 1 of 3 (4 % 3), picked, told truly / falsely
    "option 1, picked, true": (SampledOption("1", 3), [0, 1, 0], ScriptedCoins([4, 0]), "03"),
    "option 1, picked, false": (SampledOption("1", 3), [0, 1, 0], ScriptedCoins([4, 255]), "02"),
    "option 2, not picked, true": (SampledOption("1", 3), [0, 1, 0], ScriptedCoins([2, 0]), "04"),
    # two bytes, little-endian: option 199 of 200, picked, told truly
    "option 199 of 200": (SampledOption("1", 200), [0] * 199 + [1], ScriptedCoins([199, 0, 0]), "8f01"),
    # the oracle's byte: slot 1 of two holds option 2 / nothing, which is category 3; kept
    "the second of two picks": (
        PaddedSampling("1", 3, most=2, oracle=RESPONSE),
        [0, 1, 1],
        ScriptedCoins([1, 0, 0]),
        "02",
    ),
    "an empty slot": (
        PaddedSampling("1", 3, most=2, oracle=RESPONSE),
        [0, 1, 0],
        ScriptedCoins([1, 0, 0]),
        "03",
    ),
    # one of three picks is drawn, though there are two slots
    "the third of three picks": (
        PaddedSampling("1", 3, most=2, oracle=RESPONSE),
        [1, 1, 1],
        ScriptedCoins([2, 0, 0]),
        "02",
    ),
    # attribute 0, its byte, a zero up to the two bytes of attribute 2
    "dark is told": (
        SampledAttribute("1", DEVICE),
        [1, 2, 10.0],
        ScriptedCoins([0, 0, 0]),
        "00" + "01" + "00",
    ),
    # attribute 2, its two bytes, little-endian: grid point 1024, no noise
    "startup is told": (
        SampledAttribute("1", DEVICE),
        [1, 2, 10.0],
        ScriptedCoins([2, 0, 0, 0, 0], then=255),
        "02" + "0004",
    ),
    # the oracle's byte: 3 dark + system
    "dark on another system": (JointResponse("1", FACTS, oracle=RESPONSE), [1, 2], ScriptedCoins(), "05"),
    # bits for plus: key 9; bits for minus: key 0; drawn: a sign at key 9, rounding, truth, 16 others, signs
    "a key told truly beside another one": (
        KeyValueUnary("1", 10, most=1, low=0, high=10),
        [NAN] * 9 + [10],
        ScriptedCoins([0, *[0] * 4, 0, 0, *[255] * 15, 0, 0]),
        "0002" + "0100",
    ),
    "a key told falsely": (
        KeyValueUnary("1", 10, most=1, low=0, high=10),
        [NAN] * 9 + [10],
        ScriptedCoins([0, *[0] * 4], then=255),
        "0000" + "0002",
    ),
    # one byte: the option; the number drawn lies below the weight of option 0 / at it
    "the useful option": (
        Exponential("1", 3, steps=1),
        [1, 0, 0],
        ScriptedCoins((WEIGHT - 1).to_bytes(8, "little")),
        "00",
    ),
    "the next option": (
        Exponential("1", 3, steps=1),
        [1, 0, 0],
        ScriptedCoins(WEIGHT.to_bytes(8, "little")),
        "01",
    ),
}


@pytest.mark.parametrize(("mechanism", "value", "coins", "wire"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_is_these_bytes(mechanism: Mechanism, value: Any, coins: ScriptedCoins, wire: str) -> None:
    report = mechanism.perturb(np.array([value]), replace(coins))

    assert report.tobytes().hex() == wire
    assert mechanism.check(report).all()


@pytest.mark.parametrize(("mechanism", "value"), ALL, ids=lambda case: type(case).__name__)
@pytest.mark.parametrize("n", [0, 1, 500])
def test_every_report_of_a_metric_is_equally_long_and_counted_once(
    mechanism: Mechanism, value: Any, n: int
) -> None:
    reports = mechanism.perturb(np.repeat(np.array([value]), n, axis=0), seeded_coins(61))

    data = reports.tobytes()

    assert len(data) == n * mechanism.layout.itemsize
    assert np.array_equal(np.frombuffer(data, dtype=mechanism.layout), reports)
    assert mechanism.check(reports).all()
    assert mechanism.tally(reports).n == n


@pytest.mark.parametrize(("mechanism", "value"), ALL, ids=lambda case: type(case).__name__)
def test_tallies_of_parts_add_up_to_the_tally_of_all(mechanism: Mechanism, value: Any) -> None:
    reports = mechanism.perturb(np.array([value] * 50), seeded_coins(62))

    parts = mechanism.tally(reports[:20]) + mechanism.tally(reports[20:])

    assert parts == mechanism.tally(reports)


@pytest.mark.parametrize(("mechanism", "value"), ALL, ids=lambda case: type(case).__name__)
def test_no_reports_make_no_estimate_and_one_makes_one(mechanism: Mechanism, value: Any) -> None:
    none, one = (mechanism.tally(mechanism.perturb(np.array([value])[:n], seeded_coins(63))) for n in (0, 1))

    estimate = mechanism.estimate(one)

    assert estimate.rows == mechanism.rows
    for about in ("respondents", "population"):
        assert estimate.stderr(about).shape == estimate.values.shape
        assert estimate.interval(0.95, about).shape == (estimate.values.size, 2)
    with pytest.raises(TooFewReportsError):
        mechanism.estimate(none)
    with pytest.raises(TooFewReportsError):
        mechanism.stderr(0)


@pytest.mark.parametrize(
    ("mechanism", "impossible"),
    [
        (SampledOption("1", 3), np.array([6, 255], dtype="u1")),
        (PaddedSampling("1", 3, most=2), np.array([[16], [255]], dtype="u1")),
        (PaddedSampling("1", 3, most=2, oracle=RESPONSE), np.array([4, 255], dtype="u1")),
        # no such attribute; a category too many; a byte beyond the attribute's own
        (SampledAttribute("1", DEVICE), np.array([[3, 0, 0], [255, 0, 0]], dtype="u1")),
        (SampledAttribute("1", DEVICE), np.array([[0, 2, 0], [1, 3, 0]], dtype="u1")),
        (JointResponse("1", FACTS, oracle=RESPONSE), np.array([6, 255], dtype="u1")),
        # a bit beyond the last key
        (KeyValueUnary("1", 3, most=1, low=0, high=1), np.array([[8, 0], [0, 255]], dtype="u1")),
        (Exponential("1", 3), np.array([3, 255], dtype="u1")),
    ],
    ids=lambda case: type(case).__name__,
)
def test_an_impossible_report_is_told_and_never_counted(mechanism: Mechanism, impossible: Any) -> None:
    assert mechanism.check(impossible).tolist() == [False, False]
    with pytest.raises(DomainError):
        mechanism.tally(impossible)


@pytest.mark.parametrize(
    ("mechanism", "second_form"),
    [
        # a byte that is not zero after a shorter attribute's own, and a key with both signs
        (SampledAttribute("1", DEVICE), np.array([[0, 1, 1], [1, 2, 255]], dtype="u1")),
        (KeyValueUnary("1", 3, most=1, low=0, high=1), np.array([[1, 1], [7, 2]], dtype="u1")),
    ],
    ids=lambda case: type(case).__name__,
)
def test_a_report_has_one_form_only(mechanism: Mechanism, second_form: Any) -> None:
    assert mechanism.check(second_form).tolist() == [False, False]


@pytest.mark.parametrize(
    "make",
    [
        lambda: SampledOption("1", 1),
        lambda: PaddedSampling("1", 3, most=0),
        lambda: PaddedSampling("1", 3, most=4),
        lambda: PaddedSampling("1", 3, most=True),
        lambda: PaddedSampling("1", 3, most=1, oracle="laplace"),
        lambda: PaddedSampling("0", 3, most=1),
        lambda: SampledAttribute("1", DEVICE[:1]),
        lambda: JointResponse("1", DEVICE),
        lambda: JointResponse("1", FACTS[:1]),
        lambda: JointResponse("1", FACTS, oracle="padded_sampling"),
        lambda: JointResponse("1", tuple((str(i), Boolean()) for i in range(17))),
        lambda: KeyValueUnary("1", 3, most=4, low=0, high=1),
        lambda: KeyValueUnary("1", 3, most=0, low=0, high=1),
        lambda: KeyValueUnary("1", 3, most=1, low=1, high=1),
        lambda: KeyValueUnary("1", 1, most=1, low=0, high=1),
        lambda: Exponential("1", 1),
        lambda: Exponential("1", 3, steps=0),
        lambda: Exponential("1", 3, steps=257),
        lambda: Exponential("1", 3, steps=1.5),  # type: ignore[arg-type]
    ],
)
def test_parameters_out_of_range_are_refused(make: Any) -> None:
    with pytest.raises(DomainError):
        make()


@pytest.mark.parametrize(
    ("mechanism", "values"),
    [
        (SampledOption("1", 3), [[1, 0]]),
        (SampledOption("1", 3), [[1, 0, 2]]),
        (SampledOption("1", 3), [[1.0, 0.0, 0.0]]),
        (SampledOption("1", 3), [1, 0, 1]),
        (PaddedSampling("1", 3, most=2), [[1, 0, -1]]),
        (SampledAttribute("1", DEVICE), [[0, 1]]),
        (SampledAttribute("1", DEVICE), [[0.5, 1, 5]]),
        (SampledAttribute("1", FACTS), [[2, 3]]),
        (JointResponse("1", FACTS), [[0, 3]]),
        (JointResponse("1", FACTS), [[-1, 0]]),
        (JointResponse("1", FACTS), [[0.0, 1.0]]),
        (KeyValueUnary("1", 3, most=1, low=0, high=1), [[NAN, 1]]),
        (KeyValueUnary("1", 3, most=1, low=0, high=1), [[NAN, 1, np.inf]]),
        (Exponential("1", 3), [[0, 1]]),
        (Exponential("1", 3), [[0, 1, NAN]]),
        (Exponential("1", 3), [[0, 1, np.inf]]),
    ],
)
def test_values_that_no_domain_gives_are_refused(mechanism: Mechanism, values: Any) -> None:
    with pytest.raises(DomainError):
        mechanism.perturb(np.array(values * 40), seeded_coins(64))


def test_of_more_picks_than_slots_each_counts_as_one_slot_of_them() -> None:
    mechanism, held = PaddedSampling("1", 4, most=2, oracle=RESPONSE), np.array([1, 1, 1, 0])
    said = np.array(
        [mechanism.estimate(mechanism.tally(report[None])).values for report in mechanism.outputs()]
    )

    expected = np.array([float(mechanism.likelihood(held, report)) for report in mechanism.outputs()]) @ said

    assert expected == pytest.approx([2 / 3, 2 / 3, 2 / 3, 0], abs=1e-12)


def test_of_more_keys_than_slots_each_counts_as_one_slot_of_them() -> None:
    mechanism, held = KeyValueUnary("1", 3, most=2, low=0, high=1), np.array([1, -1, 1])
    said = np.array(
        [mechanism.estimate(mechanism.tally(report[None])).values for report in mechanism.outputs()]
    )

    expected = np.array([float(mechanism.likelihood(held, report)) for report in mechanism.outputs()]) @ said

    assert expected[:3] == pytest.approx([2 / 3] * 3, abs=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "most"), [("0.1", 1), ("0.1", 2), ("1", 1), ("1", 3), ("4", 2), ("4", 3)]
)
def test_slots_told_by_subsets_keep_and_use_epsilon(epsilon: str, most: int) -> None:
    mechanism = PaddedSampling(epsilon, 3, most=most, oracle="subset_selection")

    found = audit(mechanism, people=np.array(list(product((0, 1), repeat=3))))

    assert found.listed
    assert not found.faults


@pytest.mark.parametrize(("epsilon", "k", "most"), [("0.1", 3, 3), ("1", 8, 8)])
def test_subsets_that_can_neither_hold_nor_miss_all_slots_are_refused(
    epsilon: str, k: int, most: int
) -> None:
    with pytest.raises(DomainError, match="wastes epsilon"):
        PaddedSampling(epsilon, k, most=most, oracle="subset_selection")


def test_the_error_of_a_number_beside_a_category_is_planned_as_a_part_of_its_range() -> None:
    narrow, wide = (
        SampledAttribute("1", (("dark", Boolean()), ("startup", Number.parse([0, high])))) for high in (1, 50)
    )

    errors = [mechanism.stderr(10, frequency=0.5) for mechanism in (narrow, wide)]

    assert errors[0] == pytest.approx(errors[1], rel=1e-9)


def test_cells_are_told_apart_by_what_several_attributes_are_at_once() -> None:
    record = Record(FACTS)
    mechanism = JointResponse("8", record.attributes)
    people = np.array([record.encode({"dark": True, "system": "mac"})] * 4000)

    estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(people, seeded_coins(65))))

    assert estimate.all_of([1, 3]).values == pytest.approx([1], abs=0.01)  # dark, on mac
    assert estimate.all_of([0, 3]).values == pytest.approx([0], abs=0.01)  # not dark, on mac
    assert estimate.together([2, 4]).values == pytest.approx([0], abs=0.01)  # on linux or another
    assert estimate.together([3, 4]).values == pytest.approx([1], abs=0.01)  # on mac or another
    assert estimate.together([1]).values == pytest.approx(estimate.values[[1]])
    assert estimate.joint.values.shape == (6,)


@pytest.mark.parametrize(
    ("how", "rows"),
    [
        *[
            (how, rows)
            for how in ("together", "all_of")
            for rows in ([], [5], [-1], [1, 1], [0, 1], [2, 3, 4])
        ],
        ("together", [1, 3]),
        ("all_of", [1, 2, 3]),
    ],
    ids=str,
)
def test_nobody_everybody_and_different_attributes_are_no_rows_as_one(how: str, rows: list[int]) -> None:
    mechanism = JointResponse("1", FACTS)
    estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(np.array([[1, 1]]), seeded_coins(65))))

    with pytest.raises(DomainError):
        getattr(estimate, how)(rows)


@pytest.mark.parametrize("k", [2, 3, 1024])
@pytest.mark.parametrize("epsilon", ["0.001", "1", "20"])
def test_the_weights_of_utilities_use_all_but_a_trace_of_epsilon(epsilon: str, k: int) -> None:
    mechanism = Exponential(epsilon, k)

    loss = mechanism.loss()

    assert loss.upper <= mechanism.epsilon.exact + 1e-30
    assert loss.lower >= mechanism.epsilon.exact - 2e-6
    assert list(mechanism.weights) == sorted(set(mechanism.weights))


@pytest.mark.parametrize(("mechanism", "value"), ALL, ids=lambda case: type(case).__name__)
def test_a_sentence_names_what_is_sent_and_how_likely(mechanism: Mechanism, value: Any) -> None:
    names = [f"name {index}" for index in range(len(value) + 2 * isinstance(mechanism, KeyValueUnary))]

    sentence = mechanism.sentence(names)

    assert "%" in sentence
    assert sentence[0].islower() or sentence.startswith("name")


@pytest.mark.parametrize(
    ("oracle", "p", "q"),
    [
        ("randomized_response", "71.1 %", "9.63 %"),
        ("optimized_unary", "50 %", "11.9 %"),
        ("subset_selection", "71.1 %", "9.63 %"),
    ],
)
def test_facts_that_are_one_answer_are_named_to_the_owner(oracle: str, p: str, q: str) -> None:
    attributes = (("reader", Boolean()), ("dark", Boolean()))

    sentence = JointResponse("2", attributes, oracle=oracle).sentence(("reader", "dark"))

    assert sentence == (
        'your facts together are one answer of 4, such as "reader = yes, dark = yes"; yours is among those '
        f"sent with probability {p}, each other one, untrue, with {q}"
    )


def test_the_owner_is_told_how_likely_each_key_is_high_low_or_nothing() -> None:
    mechanism = KeyValueUnary("1", 3, most=2, low=0, high=60)

    sentence = mechanism.sentence(("a", "b", "c", "0", "60"))

    assert sentence == (
        'for each of 3 names "high", "low" or nothing is sent; one that you have, or none, is drawn and its '
        "number rounded at random to 0, low, or 60, high: for it the true word is sent with probability 36.6 "
        '%, the other with 13.4 %, nothing with 50 %; for all others, yours or not, "high" and "low" with '
        "17.5 % each, nothing with 65 %"
    )
