"""This file proves that what is said of a single report is what its collector makes of it, and how likely.

False alarms: Z is shared out over every comparison of a case, once in 10**9 each.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.domains.boolean import Boolean
from hubbub.domains.choice import Choice
from hubbub.domains.key_value import KeyValue
from hubbub.domains.number import Number
from hubbub.domains.vector import Vector
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.wording import odds, words
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistical.specs import Spec, build, specs
from tests.statistics import Z

PEOPLE = 1_000
SEVERAL: Mapping[str, tuple[dict[str, Any], ...]] = {
    "boolean": ({},),
    "choice": ({"options": list("abcde")},),
    "choices": ({"options": list("abc")},),
    "record": (
        {"attributes": [["x", {"kind": "boolean"}], ["y", {"kind": "choice", "options": list("abc")}]]},
    ),
}
FINITE = specs(SEVERAL, ("2",))
KEYED = KeyValue(("maps", "mail"), Number(Decimal(0), Decimal(10)), 1)
LETTERS = Choice(tuple("abcdefghijkl"))


def unary(*ticked: int) -> str:
    mechanism = OptimizedUnary(epsilon="1", k=12)
    bits = np.zeros((1, 12), dtype=np.uint8)
    bits[0, list(ticked)] = 1
    return words(mechanism, LETTERS, np.packbits(bits, axis=1, bitorder="little"))


def test_a_share_that_is_raised_is_spoken_for() -> None:
    assert unary(2) == 'speaks for "c"'
    assert unary(2, 0) == 'speaks for "a" and "c"'
    assert unary(2, 0, 11) == 'speaks for "a", "c" and "l"'


def test_of_many_only_the_first_is_named() -> None:
    assert unary(*range(2, 11)) == 'speaks for "c" and 8 others'
    assert unary() == 'speaks for none of "a" and 11 others'


def test_a_no_is_spoken_for_though_an_estimate_does_not_title_it() -> None:
    mechanism = RandomizedResponse(epsilon="1", k=2)

    said = [words(mechanism, Boolean(), np.array([at], dtype=np.uint8)) for at in (0, 1)]

    assert said == ['speaks for "no"', 'speaks for "yes"']


def test_what_a_report_says_nothing_of_is_not_spoken_against() -> None:
    mechanism = registry.make("dbitflip", "8", k=3, buckets=1)
    reports = mechanism.perturb(np.zeros(100, dtype=np.int64), seeded_coins(5))

    said = {words(mechanism, Choice(("a", "b", "c")), reports[at : at + 1]) for at in range(100)}

    assert said == {'speaks for "a"', 'speaks against "b"', 'speaks against "c"'}


def test_a_number_reads_as_what_its_collector_would_estimate() -> None:
    mechanism = Laplace(epsilon="1", low="0", high="10", steps=4)

    said = [
        words(mechanism, Number(Decimal(0), Decimal(10)), np.array([at], dtype="<i2")) for at in (-8, 0, 3)
    ]

    assert said == ["reads as -20", "reads as 0", "reads as 7.5"]


def test_a_vector_reads_as_its_numbers() -> None:
    mechanism = registry.make("private_unit", "4", size=3, norm="2")
    report = mechanism.perturb(np.array([[1.0, 0.5, -1.0]]), seeded_coins(3))
    expected = mechanism.estimate(mechanism.tally(report)).values

    said = words(mechanism, Vector(3, Decimal(2)), report)

    assert said == f"reads as {', '.join(f'{each:.4g}' for each in expected)}"


@pytest.mark.parametrize("spec", FINITE, ids=str)
def test_the_odds_are_those_of_what_is_drawn(spec: Spec) -> None:
    mechanism, domain, coins = build(spec), spec.metric.domain, seeded_coins(17)
    value = domain.every()[-1]
    reports = mechanism.perturb(np.array([value] * PEOPLE), coins)
    said = [words(mechanism, domain, reports[at : at + 1]) for at in range(PEOPLE)]

    chances = odds(mechanism, domain, value, coins)

    spoken = [one.removeprefix("speaks for ") if one.startswith("speaks for ") else "" for one in said]
    off = {
        name: (sum(f'"{name}"' in one and "none of" not in one for one in spoken) - PEOPLE * chance)
        / np.sqrt(PEOPLE * max(chance * (1 - chance), 1 / PEOPLE))
        for name, chance in chances.items()
    }
    assert chances
    assert max(map(abs, off.values())) < Z


@pytest.mark.parametrize("spec", FINITE, ids=str)
def test_no_coin_is_thrown_for_the_input_whose_odds_are_told(spec: Spec) -> None:
    mechanism, every = build(spec), np.array(spec.metric.domain.every())

    inputs = [mechanism.inputs(every, seeded_coins(seed)).tolist() for seed in range(20)]

    assert inputs == [inputs[0]] * 20


@pytest.mark.parametrize(
    ("kind", "domain", "value"),
    [
        ("laplace", Number(Decimal(0), Decimal(10)), 5.0),
        ("one_bit_mean", Number(Decimal(0), Decimal(10)), 5.0),
        ("key_value_unary", KEYED, KEYED.encode({"mail": 3})),  # a pick is drawn and its number rounded
        ("optimized_unary", Choice(tuple("abcdefghijkl")), 3),  # 4,096 reports
    ],
)
def test_no_odds_are_told_that_are_not_known(kind: str, domain: Any, value: object) -> None:
    mechanism = registry.make(kind, "1", **domain.arguments)

    assert odds(mechanism, domain, value, seeded_coins(1)) == {}
