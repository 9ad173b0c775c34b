"""This file holds every mechanism of the registry to its promises.

False alarms: a comparison by Z once in 10**9, by chi-square once in 10**8, so each test under once in 10**6.
"""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from hubbub.coins import Coins
from hubbub.probability import Real
from hubbub_client.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistical.specs import Spec, build, crowd, inputs, law, positions, specs, value
from tests.statistics import Z, chi_square_excess, far, far_in_variance

SPECS = specs()
SAMPLED = specs(epsilons=("0.5", "1", "4"))
SLACK = Fraction(2, 10**6)
COINS = {"system": system_coins(), "seeded": seeded_coins(20)}


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_stated_loss_encloses_the_claim_narrowly(spec: Spec) -> None:
    mechanism = build(spec)

    loss = mechanism.loss()

    assert loss.delta == 0
    assert loss.upper - loss.lower < Fraction(1, 10**30)
    assert loss.lower <= mechanism.epsilon.exact
    assert loss.upper >= mechanism.epsilon.exact - SLACK


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_no_report_tells_two_inputs_apart_by_more_than_the_stated_loss(spec: Spec) -> None:
    mechanism = build(spec)
    enclosed = [[p.enclose(400) for p in law(mechanism, index)] for index in inputs(spec)]

    worst = max(
        max(high / low for (_, high), (low, _) in zip(one, other, strict=True))
        for one, other in permutations(enclosed, 2)
    )

    stated = mechanism.loss()
    lower, upper = Real.log(worst).enclose(60)
    assert lower - Fraction(1, 10**15) <= stated.upper
    assert upper + Fraction(1, 10**15) >= stated.lower


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_likelihoods_of_one_input_add_up_to_one(spec: Spec) -> None:
    mechanism = build(spec)

    bounds = [[p.enclose(200) for p in law(mechanism, index)] for index in inputs(spec)]

    assert all(sum(low for low, _ in row) <= 1 <= sum(high for _, high in row) for row in bounds)


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
@pytest.mark.parametrize("spec", SAMPLED, ids=str)
def test_reports_follow_the_stated_likelihoods(spec: Spec, coins: Coins) -> None:
    mechanism, n = build(spec), 50_000
    count = mechanism.outputs().shape[0]

    excess = [
        chi_square_excess(
            np.bincount(
                positions(mechanism, mechanism.perturb(np.full(n, value(spec, index)), coins)),
                minlength=count,
            ),
            n * np.array([float(p) for p in law(mechanism, index)]),
        )
        for index in inputs(spec)
    ]

    assert max(excess) < 1


@pytest.mark.parametrize("spec", SAMPLED, ids=str)
def test_a_simulated_tally_has_the_mean_and_spread_of_a_tally_of_reports(spec: Spec) -> None:
    mechanism, coins, rounds = build(spec), seeded_coins(21), 1_000
    counts = np.arange(1, len(inputs(spec)) + 1) * 7
    held = np.repeat([value(spec, index) for index in inputs(spec)], counts)

    drawn = np.array([mechanism.simulate(counts, coins).cells for _ in range(rounds)], dtype=float)
    summed = np.array(
        [mechanism.tally(mechanism.perturb(held, coins)).cells for _ in range(rounds)], dtype=float
    )

    squares = (drawn - drawn.mean(axis=0)) ** 2 - (summed - summed.mean(axis=0)) ** 2
    assert (far(drawn - summed, np.zeros(drawn.shape[1])) < Z).all()
    assert (far(squares, np.zeros(drawn.shape[1])) < Z).all()


@pytest.mark.parametrize("n", [2, 300])
@pytest.mark.parametrize("spec", SAMPLED, ids=str)
def test_estimates_have_no_bias_and_the_error_they_promise(spec: Spec, n: int) -> None:
    mechanism, rounds = build(spec), 2_000
    held, truth = crowd(spec, n)

    reports = np.split(mechanism.perturb(np.tile(held, rounds), seeded_coins(22)), rounds)
    values = np.array([mechanism.estimate(mechanism.tally(some)).values[: truth.size] for some in reports])

    promised = np.array([mechanism.stderr(n, frequency=share) for share in np.clip(truth, 0, 1)]) ** 2
    assert (far(values, truth) < Z).all()
    assert (far_in_variance(values - truth, promised) < Z).all()


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_every_listed_report_is_accepted_and_survives_as_bytes(spec: Spec) -> None:
    mechanism = build(spec)
    reports = mechanism.outputs()

    rows = [row.tobytes() for row in reports]

    assert mechanism.check(reports).all()
    assert {len(row) for row in rows} == {mechanism.layout.itemsize}
    assert len(set(rows)) == len(rows)
    assert np.array_equal(np.frombuffer(b"".join(rows), dtype=mechanism.layout), reports)
