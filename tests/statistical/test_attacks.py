"""This file proves what fake reports can do, which of them are found, and that honest ones are not.

False alarms of the code: under 10**-9 a collection of honest reports. Of the tests: under one in a million.
"""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub import registry
from hubbub.declaration import metric_of
from hubbub.laws import Breach, breaches, laws_of_reports, laws_of_sums
from hubbub.mechanism import Mechanism, Reports
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistical.attacks import chosen, ticked

ALARM = 5e-10  # for the laws of sums, and for those of reports
K = 64
UNARY = OptimizedUnary("1", K)
N = 50_000
FAKES = N // 20
TOGETHER = (
    "subset_selection",
    "hadamard_response",
    "local_hashing",
    "projective_geometry",
    "symmetric_unary",
    "rappor",
    "l_osue",
    "loloha",
)


def kinds() -> dict[str, tuple[Mechanism, Any]]:
    """Return mechanisms on larger domains, each with what everybody holds in the worst case and at random."""
    choice = {"kind": "choice", "options": [f"o{place}" for place in range(K)], "epsilon": "1"}
    memo = {"parameters": {"first": "1"}, "epsilon": "2"}
    number = {"kind": "number", "range": ["0", "10"], "epsilon": "1"}
    names = ("randomized_response", "optimized_unary", "symmetric_unary", "subset_selection")
    hashed = ("hadamard_response", "local_hashing", "projective_geometry", "dbitflip")
    tables = [choice | {"mechanism": name} for name in (*names, *hashed)]
    tables += [choice | {"mechanism": name} | memo for name in ("l_osue", "rappor", "loloha", "l_grr")]
    means = ("laplace", "one_bit_mean", "piecewise", "hybrid", "integer_table")
    tables += [number | {"mechanism": name} for name in (*means, "square_wave", "hierarchical_histogram")]
    return {
        str(table["mechanism"]): registry.build(metric_of("tried", table).of("tests")) for table in tables
    }


KINDS = kinds()


def crowd(kind: str, n: int, seed: int) -> Reports:
    """Return reports of people who all hold one value, or any; of numbers those at the ends of the range."""
    mechanism: Any = KINDS[kind]
    random = np.random.default_rng(seed)
    most = getattr(mechanism, "k", 11) - 1
    held = np.full(n, seed // 2 % 2 * most) if seed % 2 else random.integers(0, most + 1, n)
    return mechanism.perturb(held, seeded_coins(seed))


def broken(mechanism: Mechanism, reports: Reports, alarm: float = ALARM) -> tuple[list[Breach], list[Breach]]:
    sums = laws_of_sums(mechanism, mechanism.tally(reports))
    return breaches(sums, alarm), breaches(laws_of_reports(mechanism, reports), alarm)


def said(some: list[Breach]) -> list[str]:
    return [breach.law.what.format(*breach.names) for breach in some]


def honest(n: int = N, seed: int = 3) -> Reports:
    return UNARY.perturb(np.random.default_rng(seed).integers(0, K, n), seeded_coins(seed))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rounds", [40, pytest.param(400, marks=pytest.mark.torture)])
def test_honest_collections_raise_no_alarm_and_false_ones_are_as_rare_as_stated(
    kind: str, rounds: int
) -> None:
    collections = [crowd(kind, 2_000, seed) for seed in range(rounds)]

    alarms = [broken(KINDS[kind], reports) for reports in collections]
    often = [any(broken(KINDS[kind], reports, alarm=0.005)) for reports in collections]

    assert alarms == [([], [])] * rounds
    assert sum(often) <= stats.binom.isf(1e-8, rounds, 0.01)


@pytest.mark.torture
def test_a_thousand_honest_collections_raise_no_alarm() -> None:
    names = [list(KINDS)[seed % len(KINDS)] for seed in range(1_000)]

    alarms = [broken(KINDS[kind], crowd(kind, 5_000, seed)) for seed, kind in enumerate(names)]

    assert alarms == [([], [])] * 1_000


@pytest.mark.parametrize("targets", [3, 10])
def test_naive_attackers_are_found_in_the_sums(targets: int) -> None:
    fakes = ticked(UNARY, FAKES, targets, is_padded=False)

    sums, _ = broken(UNARY, np.concatenate([honest(N - FAKES), fakes]))

    assert "ticks in all reports" in said(sums)


@pytest.mark.parametrize("targets", [3, 10])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.torture)])
def test_padded_attackers_that_share_targets_are_found(targets: int, seed: int) -> None:
    fakes = ticked(UNARY, FAKES, targets, is_padded=True, seed=seed)

    _, reports = broken(UNARY, np.concatenate([honest(N - FAKES, seed), fakes]))

    (together,) = said(reports)
    ticks = [int(word) for word in together.split() if word.isdigit()]
    assert together.startswith("reports that support both ")
    assert max(ticks) < targets


@pytest.mark.parametrize("kind", TOGETHER)
def test_attackers_who_choose_reports_that_support_all_targets_are_found_by_pairs(kind: str) -> None:
    mechanism: Any = KINDS[kind]
    fakes = chosen(mechanism, FAKES, 3)

    _, reports = broken(mechanism, np.concatenate([crowd(kind, N - FAKES, 2), fakes]))

    assert any(words.startswith("reports that support both ") for words in said(reports))


def test_padded_attackers_are_no_different_in_number_of_ticks_so_that_only_pairs_tell_them() -> None:
    fakes = ticked(UNARY, FAKES, 3, is_padded=True)

    sums, reports = broken(UNARY, np.concatenate([honest(N - FAKES), fakes]))

    assert sums == []
    assert [breach.law.what for breach in reports] == ["reports that support both {} and {}"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "square_wave"])
@pytest.mark.parametrize("n", [2_000, pytest.param(50_000, marks=pytest.mark.torture)])
def test_no_attack_goes_beyond_the_stated_worst_case(kind: str, n: int) -> None:
    mechanism: Any = KINDS[kind]
    true, fakes = crowd(kind, n, 4), n // 20
    is_number = not hasattr(mechanism, "k")
    attacks = [chosen(mechanism, fakes, targets) for targets in ((1,) if is_number else (1, 3, 10))]
    if isinstance(mechanism, OptimizedUnary):
        attacks += [
            ticked(mechanism, fakes, targets, is_padded=padded)
            for targets in (3, 10)
            for padded in (True, False)
        ]
    alone = mechanism.estimate(mechanism.tally(true)).values

    parts = []
    for attack in attacks:
        found = mechanism.estimate(mechanism.tally(np.concatenate([true, attack])))
        parts.append(np.abs(found.values - alone) / (fakes * found.reach().per_fake))

    assert np.nanmax(parts) <= 1
    assert np.nanmax(parts) > 0.25  # an attack it is


def test_a_few_reports_without_noise_or_far_out_break_the_laws_of_sums() -> None:
    mechanism = Laplace("1", "0", "10")
    true = mechanism.perturb(np.full(N, 5.0), seeded_coins(5))
    far = np.full(N // 100, mechanism.steps + mechanism.margin, dtype=mechanism.layout)
    bare = np.full(N, mechanism.steps // 2, dtype=mechanism.layout)

    found = [said(broken(mechanism, reports)[0]) for reports in (true, np.concatenate([true, far]), bare)]

    assert found == [[], *[["sum of squared distances from the middle"]] * 2]
