"""This file holds every mechanism that keeps permanent answers to what it says of many reports.

False alarms: a comparison by Z once in 10**9, by chi-square once in 10**8, so each test under once in 10**6.
"""

from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.longitudinal import Longitudinal, over_periods
from hubbub.mechanism import Reports
from hubbub.probability import Real
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistical.specs import ROUNDS, Spec, build, kinds, people, positions, specs, tried
from tests.statistics import Z, chi_square_excess, far, far_in_variance

THREE = {"choice": ({"options": list("abc")},)}
FIVE = {"choice": ({"options": list("abcde")},)}
SPECS = [spec for spec in specs(THREE) if isinstance(build(spec), Longitudinal)]
SAMPLED = [spec for spec in specs(FIVE, epsilons=("2",)) if isinstance(build(spec), Longitudinal)]


def repeated(spec: Spec) -> Longitudinal:
    mechanism = build(spec)
    assert isinstance(mechanism, Longitudinal)
    return mechanism


def sequences(mechanism: Longitudinal, length: int) -> list[Reports]:
    """Return every row of so many reports."""
    reports = mechanism.outputs()
    return [reports[list(row)] for row in product(range(len(reports)), repeat=length)]


def test_every_mechanism_with_a_memo_is_held_to_these_promises() -> None:
    remembering = {entry.kind for entry in registry.ENTRIES if entry.remembers}

    assert kinds(SPECS) == kinds(SAMPLED) == remembering


@pytest.mark.parametrize("length", [1, 2])
@pytest.mark.parametrize("spec", tried(SPECS), ids=str)
def test_no_sequence_tells_two_inputs_apart_by_more_than_the_bound_and_one_does(
    spec: Spec, length: int
) -> None:
    mechanism = repeated(spec)
    laws = [
        [mechanism.sequence(held, row).enclose(300) for row in sequences(mechanism, length)]
        for held in people(spec)
    ]

    worst = max(
        max(high / low for (_, high), (low, _) in zip(one, other, strict=True) if low > 0 or high > 0)
        for one, other in permutations(laws, 2)
    )

    stated = mechanism.bound(length)
    lower, upper = Real.log(worst).enclose(60)
    assert all(sum(low for low, _ in law) <= 1 <= sum(high for _, high in law) for law in laws)
    assert lower - Fraction(1, 10**15) <= stated.upper
    assert upper + Fraction(1, 10**15) >= stated.lower


@pytest.mark.parametrize("spec", tried(SPECS), ids=str)
def test_a_sequence_of_one_is_as_likely_as_the_report(spec: Spec) -> None:
    mechanism = repeated(spec)
    reports = mechanism.outputs()

    found = [
        [float(mechanism.sequence(held, reports[[at]])) for at in range(len(reports))] for held in (0, 2)
    ]

    expected = [[float(mechanism.likelihood(held, report)) for report in reports] for held in (0, 2)]
    assert np.array(found) == pytest.approx(np.array(expected), rel=1e-12)


@pytest.mark.parametrize("spec", tried(SPECS), ids=str)
def test_the_bound_rises_with_every_report_up_to_the_loss_of_the_memo(spec: Spec) -> None:
    mechanism = repeated(spec)
    lengths = [1, 2, 3, 10, 1_000, 10**9]

    bounds = [mechanism.bound(length) for length in lengths]

    first = dict(spec.metric.parameters).get("first", str(mechanism.epsilon))
    assert bounds[0].lower <= Fraction(first) <= bounds[0].upper
    assert [bound.lower for bound in bounds] == sorted(bound.lower for bound in bounds)
    assert bounds[-1].lower <= mechanism.epsilon.exact
    assert float(bounds[-1].upper) == pytest.approx(float(mechanism.epsilon.exact), rel=1e-12)
    assert mechanism.loss().lower <= mechanism.epsilon.exact <= mechanism.loss().upper


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.table["epsilon"] in ("1", "4")], ids=str)
def test_two_reports_from_one_memo_follow_the_stated_law(spec: Spec) -> None:
    mechanism, coins, n = repeated(spec), seeded_coins(71), 50_000
    size, pairs = len(mechanism.outputs()), sequences(mechanism, 2)
    expected = [n * np.array([float(mechanism.sequence(held, pair)) for pair in pairs]) for held in (0, 2)]
    memos = [mechanism.memoize(np.full(n, held), coins) for held in (0, 2)]

    places = [
        positions(mechanism, mechanism.report(some, coins)) * size
        + positions(mechanism, mechanism.report(some, coins))
        for some in memos
    ]

    seen = [np.bincount(place, minlength=len(pairs)) for place in places]
    possible = [law > 0 for law in expected]
    assert [count[~some].sum() for count, some in zip(seen, possible, strict=True)] == [0, 0]
    assert (
        max(
            chi_square_excess(count[some], law[some])
            for count, law, some in zip(seen, expected, possible, strict=True)
        )
        < 1
    )


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("periods", [1, 6])
@pytest.mark.parametrize("spec", tried(SAMPLED), ids=str)
def test_an_average_over_periods_has_the_promised_error(spec: Spec, periods: int, rounds: int) -> None:
    mechanism, coins, n = repeated(spec), seeded_coins(72), 40
    held = np.tile(np.arange(n) * 10 // n * 4 // 9, rounds)
    share = (held[:n, None] == np.arange(5)).mean(axis=0)

    memos = mechanism.memoize(held, coins)
    found = sum(estimates(mechanism, mechanism.report(memos, coins), rounds) for _ in range(periods))

    errors = found / periods - share
    promised = np.array([over_periods(mechanism, n, periods, frequency=each) ** 2 for each in share])
    assert (far(errors, np.zeros(5)) < Z).all()
    assert (far_in_variance(errors, promised) < Z).all()


def estimates(mechanism: Longitudinal, reports: Reports, rounds: int) -> Any:
    return np.array([mechanism.estimate(mechanism.tally(some)).values for some in np.split(reports, rounds)])


@pytest.mark.parametrize("spec", tried(SAMPLED), ids=str)
def test_a_device_needs_no_more_memos_than_there_are_states(spec: Spec) -> None:
    mechanism = repeated(spec)
    memos = np.repeat(mechanism.memoize(np.arange(5).repeat(20), seeded_coins(73)), 5, axis=0)

    states = mechanism.state(np.tile(np.arange(5), 100), memos).reshape(100, 5)

    needed = [len(set(row)) for row in states.tolist()]
    assert max(needed) <= mechanism.states


@pytest.mark.parametrize("spec", tried(SAMPLED), ids=str)
def test_values_in_one_state_of_a_device_have_one_memo(spec: Spec) -> None:
    mechanism = repeated(spec)
    devices = np.repeat(mechanism.memoize(np.zeros(20, dtype=int), seeded_coins(74)), 5, axis=0)
    values = np.tile(np.arange(5), 20)

    states = mechanism.state(values, devices)
    later = mechanism.memoize(values, ScriptedCoins(then=90), earlier=devices)
    same = mechanism.memoize(values, ScriptedCoins(then=90), earlier=later)

    keys = {(at // 5, state): later[at].tobytes() for at, state in enumerate(states.tolist())}
    assert [later[at].tobytes() for at in range(100)] == [
        keys[at // 5, state] for at, state in enumerate(states.tolist())
    ]
    assert np.array_equal(mechanism.state(values, later), states)
    assert np.array_equal(same, later)


@pytest.mark.parametrize("spec", tried(SAMPLED), ids=str)
def test_a_memo_is_as_wide_as_its_layout(spec: Spec) -> None:
    mechanism = repeated(spec)

    memos = mechanism.memoize(np.arange(5), seeded_coins(75))

    assert len(memos.tobytes()) == 5 * mechanism.memo_layout.itemsize
    assert np.array_equal(np.frombuffer(memos.tobytes(), mechanism.memo_layout), memos)
