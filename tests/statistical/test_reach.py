"""This file proves how far fake reports can move an estimate, of every mechanism that is in the registry.

Everything is exact or tried on all reports that there are; nothing fails by chance.
"""

import math
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.combining import Combined, added, changed, combine, difference
from hubbub.estimate import Estimate
from hubbub.mechanism import Reports
from hubbub.mechanisms.gaussian import Gaussian
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.private_unit import PrivateUnit
from hubbub.reach import Reach, reach
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistical.specs import Floats, Spec, build, kinds, specs, tried, values

TEXTS = ["a"]  # that are asked for
UNKNOWN = {"square_wave", "bloom_rappor"}  # likeliest distributions and regressions are no means of reports
LOOSE = {
    "projective_geometry"
}  # no hyperplane goes through just any points, so that none moves some rows most
SPECS = [spec for spec in specs(epsilons=("2", "1")) if build(spec).exact]
KNOWN = [spec for spec in SPECS if build(spec).kind not in UNKNOWN]
SIZE = 40


def estimated(spec: Spec, tally: Tally) -> Estimate:
    mechanism: Any = build(spec)
    is_text = spec.metric.domain.kind == "text"
    found: Estimate = mechanism.estimate(tally, candidates=TEXTS) if is_text else mechanism.estimate(tally)
    return found


def told(spec: Spec, tally: Tally) -> Floats:
    """Return the values of all rows; where texts are found, those of the texts that are asked for."""
    found: Floats = estimated(spec, tally).values
    return found[: len(TEXTS)] if spec.metric.domain.kind == "text" else found


def bound(spec: Spec, tally: Tally) -> Reach:
    found = reach(estimated(spec, tally))
    return found.of(slice(len(TEXTS))) if spec.metric.domain.kind == "text" else found


def crowd(spec: Spec, seed: int) -> Reports:
    held = values(spec)
    return build(spec).perturb(held[np.arange(SIZE) ** 2 % len(held)], seeded_coins(seed))


def extremes(spec: Spec) -> tuple[Reports, list[tuple[int, int]]]:
    """Return all reports, and for each row the places of two: that say least and most of it by themselves."""
    mechanism = build(spec)
    listed = mechanism.outputs()
    said = np.array([told(spec, mechanism.tally(report[None])) for report in listed])
    said = np.where(np.isnan(said).all(axis=0), 0, said)
    return listed, list(zip(np.nanargmin(said, axis=0), np.nanargmax(said, axis=0), strict=True))


def test_every_exact_mechanism_is_tried() -> None:
    exact = {entry.kind for entry in registry.ENTRIES if registry.mechanism_class(entry.kind).exact}

    assert kinds(SPECS) == exact - {"gaussian"}  # whose reports can't be listed; see below


@pytest.mark.parametrize("spec", tried(KNOWN), ids=str)
@pytest.mark.parametrize("fakes", [1, 7])
def test_no_fakes_move_an_estimate_by_more_than_is_stated_whatever_all_reports_say(
    spec: Spec, fakes: int
) -> None:
    mechanism, random = build(spec), np.random.default_rng(3)
    listed, ends = extremes(spec)
    extreme = [listed[[end]] for end in {end for pair in ends for end in pair}]
    few = extreme[:: max(1, len(extreme) // 6)]
    honest = [crowd(spec, 1), *(np.repeat(some, SIZE, axis=0) for some in few)]
    fake = [
        listed[random.integers(len(listed), size=fakes)],
        *(np.repeat(some, fakes, axis=0) for some in few),
    ]

    excess = []
    for true in honest:
        alone = told(spec, mechanism.tally(true))
        for false in fake:
            everything = mechanism.tally(np.concatenate([true, false]))
            moved = np.abs(told(spec, everything) - alone)
            excess.append(moved - fakes * bound(spec, everything).per_fake * (1 + 1e-9))

    assert np.nanmax(excess) <= 1e-12


@pytest.mark.parametrize("spec", tried(KNOWN), ids=str)
def test_fakes_in_the_places_of_honest_reports_move_an_estimate_by_no_more(spec: Spec) -> None:
    mechanism, fakes = build(spec), 5
    listed, ends = extremes(spec)
    crowded = crowd(spec, 2)

    excess = []
    for least, most in ends[:12]:
        honest = np.concatenate([crowded, np.repeat(listed[[least]], fakes, axis=0)])
        faked = np.concatenate([crowded, np.repeat(listed[[most]], fakes, axis=0)])
        tally = mechanism.tally(faked)
        moved = np.abs(told(spec, tally) - told(spec, mechanism.tally(honest)))
        excess.append(moved - fakes * bound(spec, tally).per_fake * (1 + 1e-9))

    assert np.nanmax(excess) <= 1e-12


@pytest.mark.parametrize("spec", tried([spec for spec in KNOWN if build(spec).kind not in LOOSE]), ids=str)
def test_fakes_can_move_each_row_as_far_as_is_stated(spec: Spec) -> None:
    mechanism, fakes = build(spec), 3
    listed, ends = extremes(spec)

    shares = []
    for row, (least, most) in enumerate(ends):
        places = np.repeat([least, most], [SIZE - fakes, fakes])
        faked, honest = mechanism.tally(listed[places]), mechanism.tally(listed[np.full(SIZE, least)])
        moved = told(spec, faked)[row] - told(spec, honest)[row]
        shares.append(moved / (fakes * bound(spec, faked).per_fake[row]))

    assert [share for share in shares if not math.isnan(share)] == pytest.approx(
        [1.0] * sum(not math.isnan(share) for share in shares)
    )


@pytest.mark.parametrize("spec", [spec for spec in SPECS if build(spec).kind in UNKNOWN], ids=str)
def test_of_what_is_no_mean_of_reports_no_reach_is_stated(spec: Spec) -> None:
    found = reach(estimated(spec, build(spec).tally(crowd(spec, 4))))

    assert np.isnan(found.per_fake).all()


@pytest.mark.parametrize(
    ("spec", "rows"),
    [
        ("laplace", {"variance"}),
        ("key_value_unary", {"0:mean", "1:mean"}),
        (
            "hierarchical_histogram",
            {"quantile 0.05", "quantile 0.25", "median", "quantile 0.75", "quantile 0.95"},
        ),
    ],
)
def test_no_reach_is_stated_of_variances_ratios_and_quantiles(spec: str, rows: set[str]) -> None:
    tried = next(each for each in SPECS if build(each).kind == spec)
    estimate = estimated(tried, build(tried).tally(crowd(tried, 5)))

    known = ~np.isnan(reach(estimate).per_fake)

    assert {row.name for row, is_known in zip(estimate.rows, known, strict=True) if not is_known} == rows


@pytest.mark.parametrize(
    "mechanism",
    [Gaussian("1", 3, "1", delta="1e-9"), PrivateUnit("4", 3, "1")],
    ids=["gaussian", "private_unit"],
)
def test_a_fake_vector_moves_each_mean_by_what_is_stated_if_it_is_as_large_as_can_be(mechanism: Any) -> None:
    honest = mechanism.perturb(np.tile([0.5, 0.0, -0.5], (99, 1)), seeded_coins(6))
    top = np.flatnonzero(mechanism.check(np.repeat(-np.arange(2**18)[:, None], 3, axis=1))).max()
    ends = np.array([[-top] * 3, [top] * 3])

    low, high = (mechanism.estimate(mechanism.tally(np.concatenate([honest, [end]]))) for end in ends)

    assert high.values - low.values == pytest.approx(high.reach().per_fake)
    assert not mechanism.check(ends - 1)[0]


def test_the_reach_of_a_share_is_one_over_p_less_q_and_of_a_mean_the_noise_that_is_kept() -> None:
    unary, number = OptimizedUnary("1", 64), Laplace("1", "0", "10")

    share = unary.estimate(Tally(100, np.full(64, 30))).reach().per_fake
    mean = number.estimate(number.tally(np.zeros(100, dtype=number.layout))).reach().per_fake

    assert share == pytest.approx([1 / (100 * (0.5 - 0.2689414213699951))] * 64)
    assert mean[:2] == pytest.approx([(10 + 2 * 280) / 100, 10 + 2 * 280])


def test_a_sum_of_numbers_far_from_0_moves_by_a_whole_number_if_a_report_is_added() -> None:
    mechanism = OneBitMean("8", "100", "101")
    reports = mechanism.perturb(np.full(50, 100.5), seeded_coins(9))

    fewer, all_of_them = (mechanism.estimate(mechanism.tally(some)) for some in (reports[:-1], reports))

    moved = np.abs(all_of_them.values - fewer.values)[1]
    assert 99 < moved <= all_of_them.reach().per_fake[1] < 102


def unary_part(epsilon: str, n: int) -> tuple[OptimizedUnary, Tally]:
    mechanism = OptimizedUnary(epsilon, 4)
    return mechanism, mechanism.tally(mechanism.perturb(np.arange(n) % 4, seeded_coins(7)))


def change(parts: list[tuple[OptimizedUnary, Tally]]) -> Combined:
    """Return how much all of them are above 30 reports of before."""
    told = [(mechanism, mechanism.estimate(tally)) for mechanism, tally in [*parts, unary_part("0.5", 30)]]
    return changed(told[:2], told[2:])


def moved_most(whole: Any, parts: list[tuple[OptimizedUnary, Tally]], at: int) -> tuple[Floats, Combined]:
    """Return how far a fake in one part moves the values, at most, and the estimate with it."""
    mechanism, tally = parts[at]
    found: list[Combined] = []
    for fake in mechanism.outputs():
        faked = parts.copy()
        faked[at] = mechanism, tally + mechanism.tally(fake[None])
        found.append(whole(faked))
    moves = np.abs([each.values - whole(parts).values for each in found])
    return moves.max(axis=0), found[0]


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize(
    "whole",
    [combine, added, lambda parts: difference(*parts), change],
    ids=["combine", "added", "difference", "changed"],
)
def test_what_several_estimates_make_together_moves_no_further_than_is_stated(whole: Any, at: int) -> None:
    parts = [unary_part("1", 200), unary_part("2", 50)]

    moves, found = moved_most(whole, parts, at)

    assert (moves <= found.reach().per_fake * (1 + 1e-9)).all()


def test_a_mean_weighted_by_precision_states_no_reach() -> None:
    parts = [unary_part("1", 200), unary_part("2", 50)]

    assert np.isnan(combine(parts, weights="precision").reach().per_fake).all()


@pytest.mark.parametrize(
    "kind", ["randomized_response", "optimized_unary", "subset_selection", "local_hashing", "dbitflip"]
)
@pytest.mark.parametrize("rows", [(0,), (0, 2), (0, 1, 3)])
def test_categories_together_move_no_further_than_is_stated_and_as_far(
    kind: str, rows: tuple[int, ...]
) -> None:
    mechanism: Any = registry.make(kind, "1", k=5)
    honest = mechanism.tally(mechanism.perturb(np.arange(60) % 5, seeded_coins(8)))

    def share(tally: Tally) -> float:
        return float(mechanism.estimate(tally).together(rows).values[0])

    alone = [share(honest + mechanism.tally(report[None])) for report in mechanism.outputs()]
    stated = mechanism.estimate(honest + mechanism.tally(mechanism.outputs()[:1])).together(rows).reach()

    assert max(alone) - min(alone) == pytest.approx(stated.per_fake[0])
