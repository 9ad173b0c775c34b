"""This file proves that the audit holds every registered mechanism to its claim, and finds planted faults."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hubbub import registry
from hubbub.frequencies import Channel
from hubbub.mechanism import Loss
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub_lab.audit import CATEGORIES, EPSILONS, Audit, audit, audited_metrics, audits
from tests.lab.faulty import boastful, with_channel

CLAIM = Fraction(1)
TINY = Fraction(1, 10**31)
SOUND = Audit(
    kind="sound",
    domain="",
    claim=CLAIM,
    loss=Loss(CLAIM - TINY, CLAIM + TINY),
    listed=Loss(CLAIM - TINY, CLAIM + TINY),
    adds_up=True,
)


def honest() -> RandomizedResponse:
    return RandomizedResponse("1", k=4)


OF_INTEGERS = ("exponential", "integer_table")  # weights, rounded so that the loss is below the claim


@pytest.fixture(
    scope="module",
    params=[("0.5", "4"), pytest.param(EPSILONS, marks=pytest.mark.torture)],
    ids=["two epsilons", "all"],
)
def everything(request: pytest.FixtureRequest) -> list[Audit]:
    return list(audits(epsilons=request.param))


def test_every_registered_mechanism_keeps_and_uses_its_claim(everything: list[Audit]) -> None:
    wrong = [
        (each, each.faults)
        for each in everything
        if each.faults or not (each.is_tight or each.kind in OF_INTEGERS)
    ]

    assert everything
    assert wrong == []


def test_every_registered_mechanism_is_audited_at_every_epsilon() -> None:
    cases = [(metric.mechanism, str(metric.epsilon)) for _, metric in audited_metrics()]

    expected = {
        (entry.kind, epsilon)
        for entry, epsilon in product(registry.ENTRIES, EPSILONS)
        if entry.is_made_for(epsilon) and registry.mechanism_class(entry.kind).exact
    }
    assert set(cases) == expected
    assert cases.count(("randomized_response", "8")) == len(CATEGORIES)


def test_all_reports_of_every_mechanism_are_gone_through(everything: list[Audit]) -> None:
    gone_through = {each.kind for each in everything if each.listed}

    never = {"gaussian", "private_unit"}  # vectors are too many
    assert gone_through == {entry.kind for entry in registry.ENTRIES} - never


@pytest.mark.parametrize(
    ("channel", "fault"),
    [
        (lambda p, q: Channel(p * Fraction(105, 100), q), "spends more than it claims"),
        (lambda p, q: Channel(p + Fraction(1, 10**9), q), "spends more than it claims"),
        (lambda p, q: Channel(p, q * Fraction(105, 100)), "do not add up to 1"),
        (lambda p, q: Channel((p + q) / 2, (5 * q + p) / 6), "spends less than it claims"),
    ],
)
def test_another_channel_than_the_claimed_one_is_found(channel: Callable[..., Channel], fault: str) -> None:
    mechanism = honest()
    with_channel(mechanism, channel(mechanism.channel.p, mechanism.channel.q))

    found = audit(mechanism, people=np.arange(4))

    assert any(fault in words for words in found.faults)


def test_a_mechanism_that_spends_more_than_it_claims_is_found_twice() -> None:
    mechanism = boastful("0.5", 8)

    found = audit(mechanism, people=np.arange(8))

    assert found.faults == ("spends more than it claims", "has a report that tells more than the claim")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            {"loss": Loss(CLAIM, CLAIM + 2 * TINY), "listed": Loss(CLAIM - 3 * TINY, CLAIM - TINY)},
            "another loss",
        ),
        ({"loss": Loss(CLAIM - 10 * TINY, CLAIM)}, "enclosed too widely"),
        ({"loss": Loss(CLAIM, CLAIM - TINY)}, "enclosed too widely"),
        ({"loss": Loss(CLAIM - TINY, CLAIM, Fraction(1, 10**9))}, "fails altogether"),
        ({"adds_up": False}, "do not add up to 1"),
    ],
)
def test_each_fault_has_its_words(change: dict[str, object], fault: str) -> None:
    found = replace(SOUND, **change)  # type: ignore[arg-type]

    assert fault in " ".join(found.faults)


def test_a_sound_audit_has_no_faults() -> None:
    assert SOUND.faults == ()
