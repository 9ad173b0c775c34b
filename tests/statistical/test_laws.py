"""This file proves that honest reports obey the laws that every mechanism of the registry states of them.

What can be is computed exactly. False alarms of the rest: under one in a million for each test.
"""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub import registry
from hubbub.laws import Law, Lawful, laws_of_reports, laws_of_sums
from hubbub.mechanism import Reports
from hubbub.mechanisms.hadamard_response import HadamardResponse
from hubbub.mechanisms.local_hashing import LocalHashing
from hubbub.mechanisms.projective_geometry import ProjectiveGeometry
from hubbub.mechanisms.subset_selection import SubsetSelection
from hubbub.pair_laws import of_channel
from hubbub.tails import (
    binomial_at_least,
    binomial_at_most,
    mean_at_least,
    mean_at_most,
    shared_at_least,
    sum_at_least,
    sum_at_most,
)
from tests.statistical.specs import Floats, Spec, build, chances, kinds, specs, tried

SPECS = [spec for spec in specs(epsilons=("2", "1")) if build(spec).exact]
KNOWN = [spec for spec in SPECS if isinstance(build(spec), Lawful)]
EXACT = 1e-6
IN_PAIRS = [SubsetSelection("0.5", 6), SubsetSelection("1", 9), HadamardResponse("1", 4)]
IN_LINES = [
    LocalHashing("0.5", 5),
    LocalHashing("1", 9),
    LocalHashing("1", 20),
    LocalHashing("2", 40),
    ProjectiveGeometry("0.5", 6),
    ProjectiveGeometry("1", 13),
    ProjectiveGeometry("2", 31),
    ProjectiveGeometry("2", 20),
]
# whose ends nobody reaches: noise would always point away from the middle, and no pair would come together
LOOSE = ("squared distances", "both")


def laws(spec: Spec, reports: Reports) -> list[Law]:
    mechanism = build(spec)
    return [*laws_of_sums(mechanism, mechanism.tally(reports)), *laws_of_reports(mechanism, reports)]


def on_average(spec: Spec) -> dict[str, tuple[Floats, Floats]]:
    """Return how far a report of each input is above the least, and below the most, that a law says."""
    listed = build(spec).outputs()
    each = [{law.what: law for law in laws(spec, report[None])} for report in listed]
    found = {}
    for what, law in {what: law for some in each for what, law in some.items()}.items():
        ends = np.zeros((2, len(listed), law.seen.size))  # a part that a report is not about says nothing
        for place, some in enumerate(each):
            if what in some:
                told = some[what]
                ends[:, place] = told.seen - told.least, told.most - told.seen
        found[what] = (chances(spec) @ ends[0], chances(spec) @ ends[1])
    return found


def test_every_mechanism_that_is_exact_knows_laws() -> None:
    exact = {entry.kind for entry in registry.ENTRIES if registry.mechanism_class(entry.kind).exact}

    assert kinds(KNOWN) == exact - {"gaussian"}  # of whose vectors none are known


@pytest.mark.parametrize("spec", tried(KNOWN), ids=str)
def test_a_report_says_on_average_what_its_laws_allow_whatever_is_held(spec: Spec) -> None:
    found = on_average(spec)

    assert min(ends.min() for both in found.values() for ends in both) > -EXACT


@pytest.mark.parametrize(
    "spec", tried([spec for spec in KNOWN if build(spec).kind != "key_value_unary"]), ids=str
)
def test_somebody_holds_what_goes_as_far_as_a_law_allows(spec: Spec) -> None:
    found = on_average(spec)

    nearest = [
        float(ends.min())
        for what, both in found.items()
        for ends in both
        if not any(word in what for word in LOOSE)
    ]
    assert max(nearest) < EXACT


@pytest.mark.parametrize("n", [1, 5, 30, 1_000, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("chance", [1e-9, 1e-3, 0.27, 0.5, 0.9, 0.999])
def test_bounds_of_binomial_tails_are_at_least_the_tails(n: int, chance: float) -> None:
    spread = math.sqrt(n * chance * (1 - chance))
    above = np.clip(np.floor(n * chance + spread * np.array([0, 0.1, 1, 3, 6, 9, 30]) + 1), 0, n)
    below = np.clip(np.ceil(n * chance - spread * np.array([0, 0.1, 1, 3, 6, 9, 30]) - 1), 0, n)

    true = np.array([stats.binom.logsf(above - 1, n, chance), stats.binom.logcdf(below, n, chance)])
    stated = np.array([binomial_at_least(above, n, chance), binomial_at_most(below, n, chance)])
    excess = (stated - true)[true > -600]  # further out scipy says 0

    assert excess.min() > -1e-6
    assert excess.max() < 5  # up to two standard deviations a bound is 1


@pytest.mark.parametrize(("sds", "excess"), [(4, 0.1), (6, 0.05), (10, 0.02)])
def test_bounds_of_far_binomial_tails_are_within_a_few_percent(sds: int, excess: float) -> None:
    n, chance = 50_000, 0.2689414213699951
    hits = math.ceil(n * chance + sds * math.sqrt(n * chance * (1 - chance)))

    log = float(binomial_at_least(hits, n, chance))

    assert 0 <= log - stats.binom.logsf(hits - 1, n, chance) < excess


@pytest.mark.parametrize(
    ("n", "a", "b"), [(10, 5, 5), (100, 30, 40), (50_000, 13_000, 14_000), (50_000, 3, 9)]
)
def test_bounds_of_what_random_sets_share_are_at_least_the_tails(n: int, a: int, b: int) -> None:
    shared = np.arange(a * b // n + 1, min(a, b, a * b // n + 400) + 1)

    excess = shared_at_least(shared, n, a, b) - stats.hypergeom.logsf(shared - 1, n, a, b)

    assert excess.min() > -1e-6
    assert excess[-1] < 0.2


def test_bounds_of_sums_of_unlike_coins_are_at_least_the_tails() -> None:
    coins = [(50, 0.5), (200, 0.2)]
    law = np.convolve(stats.binom.pmf(np.arange(51), 50, 0.5), stats.binom.pmf(np.arange(201), 200, 0.2))
    hits = np.arange(law.size)

    high = np.array([sum_at_least(int(count), coins) for count in hits])
    low = np.array([sum_at_most(int(count), coins) for count in hits])

    assert (np.exp(high) >= law[::-1].cumsum()[::-1] * (1 - 1e-9)).all()
    assert (np.exp(low) >= law.cumsum() * (1 - 1e-9)).all()
    assert high[110] < math.log(law[110:].sum()) + 4


def test_bounds_of_sums_of_squares_are_at_least_the_tails() -> None:
    numbers, law = np.arange(7) ** 2, np.full(7, 1 / 7)
    whole = np.ones(1)
    for _ in range(20):
        one = np.zeros(37)
        one[numbers] = law
        whole = np.convolve(whole, one)
    mean, square = 20 * float(numbers @ law), float(numbers**2 @ law)
    sums = np.arange(whole.size)

    high = np.array([mean_at_least(x - mean, 20, square=square, most=36) for x in sums])
    low = np.array([mean_at_most(mean - x, 20, square=square) for x in sums])

    assert (np.exp(high) >= whole[::-1].cumsum()[::-1] * (1 - 1e-9)).all()
    assert (np.exp(low) >= whole.cumsum() * (1 - 1e-9)).all()


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.27), (0.75, 0.25), (0.5, 0.01)])
def test_two_bits_come_together_no_more_often_than_in_random_sets_of_as_many_reports(
    p: float, q: float
) -> None:
    n = 4
    told = np.array(list(product((0, 1), repeat=2 * n))).reshape(-1, 2, n)
    a, b, both = told[:, 0].sum(axis=1), told[:, 1].sum(axis=1), (told[:, 0] & told[:, 1]).sum(axis=1)

    excess = []
    for people in product((0, 1, 2), repeat=n):  # who hold the one, the other, or neither
        ones = np.array([[p if holds == bit else q for holds in people] for bit in (0, 1)])
        masses = np.where(told == 1, ones, 1 - ones).prod(axis=(1, 2))
        for some, others in product(range(n + 1), repeat=2):
            chosen = (a == some) & (b == others)
            for c in range(1, n + 1):
                tail = masses[chosen & (both >= c)].sum() / masses[chosen].sum()
                excess.append(tail - stats.hypergeom.sf(c - 1, n, some, others))

    assert max(excess) < EXACT


@pytest.mark.parametrize("mechanism", [*IN_PAIRS, *IN_LINES], ids=str)
def test_two_categories_are_supported_as_often_as_a_channels_law_says_whoever_reports(mechanism: Any) -> None:
    listed = mechanism.outputs()
    likely = [[float(mechanism.likelihood(held, each)) for each in listed] for held in range(mechanism.k)]

    (*_, law), *others = ([*mechanism.report_laws(report[None])] for report in listed)
    every = [law, *(each[-1] for each in others)]

    assert law.what == "reports that support both {} and {}"
    assert np.abs(np.array(likely) @ [each.seen - each.most for each in every]).max() < EXACT


@pytest.mark.parametrize("mechanism", IN_PAIRS, ids=str)
@pytest.mark.parametrize("holders", [0, 3, 8])
def test_bounds_of_how_often_a_channels_pairs_come_together_are_at_least_the_tails(
    mechanism: Any, holders: int
) -> None:
    n, channel = 8, mechanism.channel
    p, q, pq, qq = (float(each) for each in (channel.p, channel.q, channel.pq, channel.qq))
    law, c = np.ones((1, 1)), (pq - qq) / (p - q)
    for report in range(n):  # by how many support both, and how many the one plus how many the other
        x, y, both = (p, q, pq) if report < holders else (q, q, qq)
        told = np.array([[1 - x - y + both, x + y - 2 * both, 0], [0, 0, both]])
        law = sum(np.pad(told[i, j] * law, ((i, 1 - i), (j, 2 - j))) for i in range(2) for j in range(3))
    far = np.arange(n + 1)[:, None] - c * np.arange(2 * n + 1)

    excess = []
    for both, singles in zip(*np.nonzero(law), strict=True):
        bits = np.zeros((n, 2))
        bits[:both], bits[both : singles - both, 0] = 1, 1
        stated = of_channel(
            n, bits.sum(axis=0).astype(int), lambda chosen, bits=bits: bits[:, chosen], channel
        )
        excess.append(law[far >= far[both, singles] - 1e-9].sum() - np.exp(stated.many[0]))

    assert max(excess) < EXACT
