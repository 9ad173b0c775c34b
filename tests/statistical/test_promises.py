"""This file holds every mechanism of the registry to its promises.

False alarms: a comparison by Z once in 10**9, by chi-square once in 10**8, so each test under once in 10**6.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.coins import Coins
from hubbub.longitudinal import Longitudinal
from hubbub.probability import Real
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.population import inputs_of
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistical.specs import (
    QUICK,
    ROUNDS,
    Spec,
    alone,
    build,
    chances,
    crowd,
    expected,
    is_about_shares,
    is_rounded,
    is_unbiased,
    kinds,
    laws_of,
    likelihoods,
    people,
    positions,
    specs,
    spread,
    tried,
    truth,
    values,
)
from tests.statistics import Z, chi_square_excess, far, far_in_variance

SPECS = [spec for spec in specs() if build(spec).exact]
SAMPLED = [spec for spec in specs(epsilons=("0.5", "1", "4")) if build(spec).exact]
UNBIASED = [spec for spec in SAMPLED if is_unbiased(spec)]
NUMBERED = [spec for spec in SAMPLED if inputs_of(spec.metric, build(spec))]
UNCOUNTED = {"subset_selection", "dbitflip"}  # no law of everybody's tally is known
COUNTED = [spec for spec in NUMBERED if build(spec).kind not in UNCOUNTED]
DRAWN = {"sampled_option", "sampled_attribute"}  # a report tells of one row, so that few may leave one out
# people, collections of that many, and whether they are for the long runs only: the errors of few reports are
# so skew that their squares need many rounds
SIZES = [(20, 400, False), (300, 400, False), (2, 2_000, True), (300, 2_000, True)]
SLACK = Fraction(2, 10**6)
COINS = {"system": system_coins(), "seeded": seeded_coins(20)}


def crowds() -> list[Any]:
    """Return specs of unbiased mechanisms, each with every size that reports of all its rows come from."""
    return [
        pytest.param(spec, n, rounds, marks=[pytest.mark.torture] * is_long, id=f"{spec}-{n}-{rounds}")
        for n, rounds, is_only_long in SIZES
        for spec in UNBIASED
        for is_long in [is_only_long or spec.table["epsilon"] not in QUICK]
        if n >= 300 or build(spec).kind not in DRAWN
    ]


def test_every_mechanism_makes_these_promises_but_those_with_another_claim() -> None:
    every = {entry.kind for entry in registry.ENTRIES}

    assert every - kinds(SPECS) == {"gaussian", "private_unit"}  # neither is exact


def test_every_estimate_is_held_to_its_promises_but_those_of_texts_and_the_biased() -> None:
    texts = {entry.kind for entry in registry.ENTRIES if "text" in entry.domains}  # they have no rows to list

    assert kinds(SPECS) - kinds(UNBIASED) == texts | {"square_wave", "key_value_unary"}


@pytest.mark.parametrize("spec", tried(SPECS), ids=str)
def test_the_stated_loss_encloses_the_claim_narrowly(spec: Spec) -> None:
    mechanism = build(spec)

    loss = mechanism.loss()

    assert loss.delta == 0
    assert loss.upper - loss.lower < Fraction(1, 10**30)
    assert loss.lower <= mechanism.epsilon.exact
    assert loss.upper >= mechanism.epsilon.exact - SLACK


@pytest.mark.parametrize("spec", tried(SPECS), ids=str)
def test_no_report_tells_two_inputs_apart_by_more_than_the_stated_loss(spec: Spec) -> None:
    mechanism = build(spec)
    enclosed = [[p.enclose(400) for p in law] for law in likelihoods(spec)]

    worst = max(
        max(high for _, high in report) / min(low for low, _ in report)
        for report in zip(*enclosed, strict=True)
    )

    stated = mechanism.bound(1) if isinstance(mechanism, Longitudinal) else mechanism.loss()
    lower, upper = Real.log(worst).enclose(60)
    assert lower - Fraction(1, 10**15) <= stated.upper
    assert upper + Fraction(1, 10**15) >= stated.lower


@pytest.mark.parametrize("spec", tried(SPECS), ids=str)
def test_the_likelihoods_of_one_input_add_up_to_one(spec: Spec) -> None:
    bounds = [[p.enclose(200) for p in law] for law in likelihoods(spec)]

    assert all(sum(low for low, _ in row) <= 1 <= sum(high for _, high in row) for row in bounds)


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
@pytest.mark.parametrize("spec", tried(SAMPLED), ids=str)
def test_reports_follow_the_stated_likelihoods(spec: Spec, coins: Coins) -> None:
    mechanism, n = build(spec), 50_000
    count = mechanism.outputs().shape[0]

    excess = [
        chi_square_excess(
            np.bincount(
                positions(mechanism, mechanism.perturb(np.repeat([value], n, axis=0), coins)),
                minlength=count,
            ),
            n * chance,
        )
        for value, chance in zip(values(spec), chances(spec), strict=True)
    ]

    assert max(excess) < 1


@pytest.mark.parametrize("spec", tried(NUMBERED), ids=str)
def test_everybodys_tally_can_be_simulated_but_where_no_law_of_it_is_known(spec: Spec) -> None:
    mechanism = build(spec)

    tally = mechanism.simulate(np.full(len(people(spec)), 7), seeded_coins(23))

    assert (tally is None) == (mechanism.kind in UNCOUNTED)


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("spec", tried(COUNTED), ids=str)
def test_a_simulated_tally_has_the_mean_and_spread_of_a_tally_of_reports(spec: Spec, rounds: int) -> None:
    mechanism, coins = build(spec), seeded_coins(21)
    counts = np.arange(1, len(people(spec)) + 1) * 7
    held = np.repeat(values(spec), counts)

    drawn = np.array([mechanism.simulate(counts, coins).cells for _ in range(rounds)], dtype=float)
    reports = np.split(mechanism.perturb(np.concatenate([held] * rounds), coins), rounds)
    summed = np.array([mechanism.tally(some).cells for some in reports], dtype=float)

    squares = (drawn - drawn.mean(axis=0)) ** 2 - (summed - summed.mean(axis=0)) ** 2
    assert (far(drawn - summed, np.zeros(drawn.shape[1])) < Z).all()
    assert (far(squares, np.zeros(drawn.shape[1])) < Z).all()


@pytest.mark.parametrize("spec", tried(UNBIASED), ids=str)
def test_one_report_tells_of_every_row_but_where_it_is_of_a_drawn_one(spec: Spec) -> None:
    truths = truth(spec, values(spec)[:1])

    untold = np.isnan(alone(spec)[:, ~np.isnan(truths)])

    assert untold.any() == (build(spec).kind in DRAWN)
    assert not untold.all(axis=1).any()


@pytest.mark.parametrize("spec", tried(UNBIASED), ids=str)
def test_the_expected_estimate_of_one_report_is_the_truth(spec: Spec) -> None:
    said = alone(spec)

    means = expected(chances(spec), said)

    truths = np.array([truth(spec, value[None]) for value in values(spec)])
    known = ~np.isnan(truths)
    assert known.any()
    assert means[known] == pytest.approx(truths[known], abs=1e-9)


@pytest.mark.parametrize("spec", tried([spec for spec in UNBIASED if is_about_shares(spec)]), ids=str)
def test_the_error_of_a_share_that_one_report_makes_is_the_promised_one(spec: Spec) -> None:
    mechanism, said = build(spec), alone(spec)
    truths = np.array([truth(spec, value[None]) for value in values(spec)])

    spreads = [spread(law, said, true) for law, true in zip(chances(spec), truths, strict=True)]

    planned = ["," not in row.name for row in mechanism.rows]  # a single cell has less error
    promised = [[mechanism.stderr(1, frequency=share) ** 2 for share in row] for row in truths[:, planned]]
    assert np.array(spreads)[:, planned] == pytest.approx(np.array(promised), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("spec", tried([spec for spec in UNBIASED if not is_about_shares(spec)]), ids=str)
def test_the_error_of_a_mean_that_one_report_makes_is_at_worst_the_promised_one(spec: Spec) -> None:
    said, laws = alone(spec)[:, 0], chances(spec)
    parts = np.linspace(0, 1, 9 if is_rounded(spec) else 2)
    between = np.concatenate([laws[:-1] * (1 - part) + laws[1:] * part for part in parts])

    spreads = between @ said**2 - (between @ said) ** 2

    assert spreads.max() == pytest.approx(build(spec).stderr(1) ** 2, rel=0.02)


@pytest.mark.parametrize(("spec", "n", "rounds"), crowds())
def test_estimates_of_many_have_no_bias_and_the_error_that_their_reports_make(
    spec: Spec, n: int, rounds: int
) -> None:
    mechanism, held = build(spec), crowd(spec, n)
    true = truth(spec, held)[: len(mechanism.rows) if is_about_shares(spec) else 1]

    reports = np.split(mechanism.perturb(np.concatenate([held] * rounds), seeded_coins(22)), rounds)
    found = np.array([mechanism.estimate(mechanism.tally(some)).values[: true.size] for some in reports])

    assert (far(found, true) < Z).all()
    spreads = spread(laws_of(spec, held), alone(spec), truth(spec, held)).mean(axis=0)[: true.size]
    assert (far_in_variance(found - true, spreads / n) < Z).all()


@pytest.mark.parametrize("spec", tried(SPECS), ids=str)
def test_every_listed_report_is_accepted_and_survives_as_bytes(spec: Spec) -> None:
    mechanism = build(spec)
    reports = mechanism.outputs()

    rows = [row.tobytes() for row in reports]

    assert mechanism.check(reports).all()
    assert {len(row) for row in rows} == {mechanism.layout.itemsize}
    assert len(set(rows)) == len(rows)
    assert np.array_equal(np.frombuffer(b"".join(rows), dtype=mechanism.layout), reports)
