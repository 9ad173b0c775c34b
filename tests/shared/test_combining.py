"""This file proves that combined estimates are unbiased and carry the error that they have.

False alarms: each comparison by Z once in 10**9.
"""

import numpy as np
import pytest

from hubbub.combining import changed, combine
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import About
from hubbub.longitudinal import Longitudinal, over_periods
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.dbitflip import DBitFlip
from hubbub.mechanisms.l_grr import LGRR
from hubbub.mechanisms.l_osue import LOSUE
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.loloha import LOLOHA
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.mechanisms.rappor import Rappor
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistics import Z, far, far_in_variance

ROUNDS = 4_000
GROUPS = [(OptimizedUnary("0.5", 3), 40), (RandomizedResponse("1", 3), 30), (OptimizedUnary("3", 3), 5)]
COUNTS = np.array([10, 7, 3])  # of people by category, times the size of the group


def parts(groups: list[tuple[Mechanism, int]] = GROUPS, seed: int = 71) -> list[tuple[Mechanism, Tally]]:
    coins = seeded_coins(seed)
    return [(mechanism, mechanism.simulate(size * COUNTS, coins)) for mechanism, size in groups]  # type: ignore[misc]


@pytest.mark.parametrize("weights", ["size", "precision"])
def test_the_mean_of_parts_is_unbiased_with_the_variance_that_their_weights_make(weights: str) -> None:
    truth = COUNTS / COUNTS.sum()
    sizes = np.array([size * (1 if weights == "size" else m.stderr(1) ** -2) for m, size in GROUPS])
    stderrs = np.array([[m.stderr(size * 20, frequency=share) for share in truth] for m, size in GROUPS])

    found = np.array([combine(parts(seed=seed), weights=weights).values for seed in range(ROUNDS)])  # type: ignore[arg-type]

    promised = (sizes / sizes.sum()) ** 2 @ stderrs**2
    assert (far(found, truth) < Z).all()
    assert (far_in_variance(found - truth, promised) < Z).all()


def test_noise_levels_out_and_the_luck_of_who_was_asked_adds_up_where_it_is_the_same_people() -> None:
    tallies = parts()
    own, alone = (
        np.array([mechanism.estimate(tally).stderr(about) for mechanism, tally in tallies])
        for about in ("respondents", "population")
    )

    apart, together = (combine(tallies, are_correlated=are_correlated) for are_correlated in (False, True))

    weights = np.array([40, 30, 5]) / 75
    lasting = weights @ np.sqrt(alone**2 - own**2)
    assert apart.stderr("population") ** 2 == pytest.approx(weights**2 @ alone**2)
    assert together.stderr("population") ** 2 == pytest.approx(weights**2 @ own**2 + lasting**2)
    assert together.stderr("respondents") == pytest.approx(apart.stderr("respondents"))


@pytest.mark.parametrize("about", ["respondents", "population"])
def test_the_error_of_fresh_reports_by_the_same_people_is_the_stated_one(about: About) -> None:
    mechanism, coins, n, rounds = RandomizedResponse("2", 3), seeded_coins(77), 200, 4_000
    held = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2]).repeat(n // 10)
    truth = np.bincount(held) / n

    errors, stated = np.zeros((rounds, 3)), np.zeros((rounds, 3))
    for number in range(rounds):
        asked = held if about == "respondents" else coins.generator.choice(held, n)
        weeks = [(mechanism, mechanism.tally(mechanism.perturb(asked, coins))) for _ in range(3)]
        found = combine(weeks, are_correlated=True)
        errors[number], stated[number] = found.values - truth, found.stderr(about) ** 2

    assert (far(errors, np.zeros(3)) < Z).all()
    assert (far_in_variance(errors, stated.mean(axis=0)) < Z).all()


def test_by_precision_the_error_is_less_than_by_size() -> None:
    tallies = parts()

    size, precision = (
        combine(tallies, weights=weights).stderr("respondents") for weights in ("size", "precision")
    )  # type: ignore[arg-type]

    assert (precision < size).all()


def test_means_are_combined_and_sums_and_variances_are_not() -> None:
    groups = [(Laplace("1", "0", "10"), [0, 10, 10]), (Laplace("4", "0", "10"), [5])]
    tallies = [(m, m.tally(m.perturb(np.array(values), seeded_coins(72)))) for m, values in groups]

    combined = combine(tallies)

    means = [mechanism.estimate(tally).mean for mechanism, tally in tallies]
    assert [row.name for row in combined.rows] == ["mean"]
    assert combined.n == 4
    assert combined.values == pytest.approx([(3 * means[0] + means[1]) / 4])


def test_means_are_combined_whatever_else_a_mechanism_tells() -> None:
    groups = [(Laplace("1", "0", "10"), [0, 10, 10]), (OneBitMean("4", "0", "10"), [5])]
    tallies = [(m, m.tally(m.perturb(np.array(values), seeded_coins(72)))) for m, values in groups]

    combined = combine(tallies)

    means = [float(mechanism.estimate(tally).values[0]) for mechanism, tally in tallies]
    assert combined.values == pytest.approx([(3 * means[0] + means[1]) / 4])


def test_a_change_of_one_tally_each_is_told_in_every_row_and_one_of_several_in_shares_and_means() -> None:
    mechanism = Laplace("1", "0", "10")
    told = [
        (mechanism, mechanism.estimate(mechanism.tally(mechanism.perturb(np.full(n, 5.0), seeded_coins(n)))))
        for n in (30, 10, 20)
    ]

    one, several = changed(told[:1], told[1:2]), changed(told[:2], told[2:])

    assert [row.name for row in one.rows] == ["mean", "sum", "variance"]
    assert one.values == pytest.approx(told[0][1].values - told[1][1].values)
    means = [float(estimate.values[0]) for _, estimate in told]
    assert [row.name for row in several.rows] == ["mean"]
    assert several.values == pytest.approx([(3 * means[0] + means[1]) / 4 - means[2]])


def test_an_interval_lies_around_the_value_by_the_normal_law() -> None:
    combined = combine(parts())

    interval = combined.interval(0.95, "respondents")

    assert interval.mean(axis=1) == pytest.approx(combined.values)
    assert np.diff(interval)[:, 0] == pytest.approx(2 * 1.959963985 * combined.stderr("respondents"))


MEMOS: list[Longitudinal] = [
    *(make("4", 5, first="1") for make in (LGRR, LOSUE, Rappor, LOLOHA)),
    DBitFlip("4", 5, buckets=3),
]


@pytest.mark.parametrize("about", ["respondents", "population"])
@pytest.mark.parametrize("mechanism", MEMOS, ids=lambda mechanism: mechanism.kind)
def test_periods_of_the_same_memos_carry_the_error_of_the_memos_and_only_the_rest_levels_out(
    mechanism: Longitudinal, about: About
) -> None:
    coins, n, rounds, periods = seeded_coins(73), 1_000, 400, 5
    held = np.tile(np.array([0, 0, 0, 0, 1, 1, 2, 2, 3, 4]).repeat(n // 10), rounds)
    truth = np.bincount(held[:n], minlength=5) / n
    asked = held if about == "respondents" else coins.generator.choice(held[:n], held.size)

    memos = mechanism.memoize(asked, coins)
    reports = [np.split(mechanism.report(memos, coins), rounds) for _ in range(periods)]
    found = [
        combine([(mechanism, mechanism.tally(some)) for some in row], are_correlated=True)
        for row in zip(*reports, strict=True)
    ]

    errors = np.array([combined.values - truth for combined in found])
    stated = np.array([combined.stderr(about) ** 2 for combined in found]).mean(axis=0)
    own = truth * (1 - truth) / n if about == "population" else 0
    promised = [over_periods(mechanism, n, periods, frequency=share) ** 2 for share in truth]
    assert stated == pytest.approx(np.array(promised) + own, rel=0.05)  # it is made of estimates
    assert (far(errors, np.zeros(5)) < Z).all()
    assert (far_in_variance(errors, stated) < Z).all()


@pytest.mark.parametrize("other", [LGRR("4", 5, first="2"), RandomizedResponse("1", 5)])
def test_of_different_mechanisms_all_of_an_error_may_last(other: Mechanism) -> None:
    first, held = MEMOS[0], np.arange(50) % 5
    tallies = [(each, each.tally(each.perturb(held, seeded_coins(74)))) for each in (first, other)]
    alone = np.array([mechanism.estimate(tally).stderr("respondents") for mechanism, tally in tallies])

    combined = combine(tallies, are_correlated=True)

    assert combined.stderr("respondents") == pytest.approx(alone.mean(axis=0))


def test_periods_of_memos_by_other_numbers_of_people_have_an_error_between_the_bounds() -> None:
    mechanism, coins = MEMOS[0], seeded_coins(75)
    tallies = [
        (mechanism, mechanism.tally(mechanism.perturb(np.arange(n) % 5, coins))) for n in (300, 1_000, 50)
    ]
    alone = np.array([mechanism.estimate(tally).stderr("respondents") for _, tally in tallies])
    weights = np.array([300, 1_000, 50]) / 1_350

    apart, together = (combine(tallies, are_correlated=flag).stderr("respondents") for flag in (False, True))

    assert (apart < together).all()
    assert (together < weights @ alone).all()


def test_a_part_of_one_report_leaves_the_error_about_the_population_known() -> None:
    mechanism, coins = Laplace("1", "0", "10"), seeded_coins(78)
    many, one = (
        (mechanism, mechanism.tally(mechanism.perturb(np.linspace(0, 10, n), coins))) for n in (4_000, 1)
    )

    alone, together = (combine(parts, are_correlated=True) for parts in ([many], [many, one]))

    (error,), (known,) = (found.stderr("population") for found in (alone, together))
    assert error < known < 1.3 * error
    assert np.isfinite(together.interval(0.95, "population")).all()


def test_categories_together_are_combined_as_well() -> None:
    tallies = parts()

    found = combine(tallies, are_correlated=True).together([0, 2])

    alone = [mechanism.estimate(tally).together([0, 2]) for mechanism, tally in tallies]  # type: ignore[attr-defined]
    weights = np.array([40, 30, 5]) / 75
    assert found.values == pytest.approx(weights @ np.array([one.values for one in alone]))
    own, whole = (np.array([one.stderr(about) for one in alone]) for about in ("respondents", "population"))
    assert found.stderr("population") ** 2 == pytest.approx(
        weights**2 @ own**2 + (weights @ np.sqrt(whole**2 - own**2)) ** 2
    )


def test_numbers_are_not_together() -> None:
    mechanism = Laplace("1", "0", "10")
    tally = mechanism.tally(mechanism.perturb(np.array([1.0, 2.0]), seeded_coins(76)))

    with pytest.raises(DomainError, match="together"):
        combine([(mechanism, tally)]).together([0])


def test_nothing_is_not_combined() -> None:
    with pytest.raises(DomainError, match="at least one part"):
        combine([])


def test_parts_of_other_rows_are_refused() -> None:
    wider = (OptimizedUnary("1", 4), Tally(1, np.zeros(4)))

    with pytest.raises(DomainError, match="the same rows"):
        combine([*parts(), wider])


def test_other_weights_are_refused() -> None:
    with pytest.raises(DomainError, match="size or precision"):
        combine(parts(), weights="equal")  # type: ignore[arg-type]


def test_a_part_without_reports_is_refused() -> None:
    with pytest.raises(TooFewReportsError):
        combine([(GROUPS[0][0], Tally.zero(3))])


def test_a_tally_of_another_mechanism_is_refused() -> None:
    with pytest.raises(DomainError, match="a tally of optimized_unary has 4 cells here, got 3"):
        combine([(OptimizedUnary("1", 4), Tally(10, np.array([1, 2, 3])))])
