"""This file checks what every mechanism has in common, and constants against reference values.

The reference values were computed with 50-digit arithmetic. False alarms: a comparison by Z once in 10**9.
"""

import json
import pickle
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.tally import Tally
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistics import Z

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
