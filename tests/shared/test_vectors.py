"""This file checks mechanisms for vectors: what is sent, what it protects, and what it says.

False alarms: a comparison by Z once in 10**9, by chi-square once in 10**8.
"""

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub.declaration import metric_of
from hubbub.delta import Delta
from hubbub.discrete_gaussian import DiscreteGaussian
from hubbub.domains.vector import Vector
from hubbub.errors import DomainError, ManifestError, TooFewReportsError
from hubbub.gaussian_privacy import analytic_delta, analytic_sigma, largest_rho
from hubbub.manifest import Manifest
from hubbub.mechanisms.gaussian import Gaussian
from hubbub.mechanisms.private_unit import Lean, PrivateUnit
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z, chi_square_excess, far, far_in_variance

REFERENCE = json.loads(Path("tests/vectors/reference_gaussian.json").read_text())
TABLE = {"kind": "vector", "size": 3, "norm": "1", "epsilon": "1", "mechanism": "gaussian", "delta": "1e-9"}
MAKERS = {
    "gaussian": lambda epsilon, size, norm: Gaussian(epsilon, size, norm, delta="1e-6"),
    "private_unit": PrivateUnit,
}


@pytest.mark.parametrize("row", REFERENCE["rows"], ids=str)
def test_the_analytic_deviation_is_the_reference(row: dict[str, float]) -> None:
    assert analytic_sigma(row["eps"], row["delta"]) == pytest.approx(row["sigma_analytic"], rel=1e-12)
    assert analytic_delta(row["eps"], row["sigma_classic"]) == pytest.approx(
        row["delta_of_classic"], rel=1e-9
    )


@pytest.mark.parametrize("size", [1, 2, 100, 16_384])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "20"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-9", "1e-18"])
def test_the_proven_delta_is_at_most_the_claim_and_close_to_it(epsilon: str, delta: str, size: int) -> None:
    mechanism = Gaussian(epsilon, size, "1", delta=delta)

    loss = mechanism.loss()

    assert loss.lower == loss.upper == mechanism.epsilon.exact
    assert mechanism.delta.exact * Fraction(3, 4) < loss.delta <= mechanism.delta.exact


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "1e-6"), ("1", "1e-9"), ("4", "1e-3")])
def test_the_noise_is_within_a_fifth_of_what_a_continuous_law_would_need(epsilon: str, delta: str) -> None:
    mechanism = Gaussian(epsilon, 16, "1", delta=delta)

    ratio = mechanism.noise.sigma / (2 * mechanism.reach) / analytic_sigma(float(epsilon), float(delta))

    assert 1 < ratio < 1.2


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "1e-3"), ("1", "1e-6"), ("4", "1e-6")])
def test_two_points_as_far_apart_as_can_be_differ_by_at_most_the_claim(epsilon: str, delta: str) -> None:
    mechanism = Gaussian(epsilon, 1, "1", delta=delta)
    span = np.arange(-mechanism.margin * 2, mechanism.margin * 2 + 1)
    sigma = mechanism.noise.sigma

    one, other = (np.exp(-(((span - at) / sigma) ** 2) / 2) for at in (-mechanism.reach, mechanism.reach))

    failing = np.maximum(one / one.sum() - math.exp(float(epsilon)) * other / other.sum(), 0).sum()
    assert failing <= float(delta)


def test_no_order_proves_more_than_the_best_by_a_thousandth() -> None:
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    orders = 1 + np.exp(np.linspace(-3, 8, 20_000))

    proven = (
        epsilon + (math.log(delta) + orders * np.log(orders)) / (orders - 1) - np.log(orders - 1)
    ) / orders

    assert float(largest_rho(epsilon, delta)[0]) == pytest.approx(proven.max(), rel=1e-3)


@pytest.mark.parametrize("digits", [2, 4, 7])
def test_discrete_gaussian_draws_follow_the_law(digits: int) -> None:
    law, n = DiscreteGaussian(digits), 200_000
    reach = 9 * law.sigma

    drawn = law.draw(n, seeded_coins(digits))

    expected = n * np.array([law.mass(z) for z in range(-reach, reach + 1)])
    assert chi_square_excess(np.bincount(drawn + reach, minlength=2 * reach + 1), expected) < 1
    assert expected.sum() == pytest.approx(n, rel=1e-12)


def test_coins_that_never_keep_a_far_draw_are_noticed() -> None:
    with pytest.raises(DomainError, match="no coins"):
        DiscreteGaussian(2).draw(1, ScriptedCoins([0] * 4096, then=255))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_means_are_unbiased_with_the_promised_error(make: Any, epsilon: str) -> None:
    mechanism, rounds, n = make(epsilon, 3, "2"), 400, 50
    held = np.array([[0.3, -0.7, 1.7], [-0.1, 0.2, 0.0]] * (n // 2))
    coins = seeded_coins(8)

    reports = np.split(mechanism.perturb(np.concatenate([held] * rounds), coins), rounds)
    found = [mechanism.estimate(mechanism.tally(some)) for some in reports]

    values = np.array([estimate.values for estimate in found])
    truth = held.mean(axis=0)
    promised = np.array([estimate.stderr("respondents") ** 2 for estimate in found]).mean(axis=0)
    assert (far(values, truth) < Z).all()
    assert (far_in_variance(values - truth, promised) < Z).all()
    assert (promised <= mechanism.stderr(n) ** 2 * 1.0001).all()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_intervals_hold_the_truth_as_often_as_they_say(make: Any) -> None:
    mechanism, rounds, n, coins = make("2", 2, "1"), 1_000, 40, seeded_coins(9)
    held = np.tile([[0.6, -0.2]], (n, 1))

    reports = np.split(mechanism.perturb(np.concatenate([held] * rounds), coins), rounds)
    found = [mechanism.estimate(mechanism.tally(some)) for some in reports]
    ends = np.concatenate(
        [[each.interval(0.95, about) for each in found] for about in ("respondents", "population")]
    )

    covered = ((ends[:, :, 0] <= held[0]) & (held[0] <= ends[:, :, 1])).mean()
    assert abs(covered - 0.95) < Z * math.sqrt(0.95 * 0.05 / rounds)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("far_out", [[3e307, -4e307], [30.0, -40.0], [3, -4]])
def test_a_long_vector_counts_as_the_one_shortened_to_the_norm(make: Any, far_out: list[float]) -> None:
    mechanism = make("20", 2, "1")

    reports = mechanism.perturb(np.array([far_out] * 20_000), seeded_coins(3))

    estimate = mechanism.estimate(mechanism.tally(reports))
    assert (np.abs(estimate.values - [0.6, -0.8]) < Z * estimate.stderr("respondents")).all()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_no_length_however_large_overflows(make: Any) -> None:
    mechanism = make("20", 2, "1e-30")

    reports = mechanism.perturb(np.array([[1e300, 0.0]] * 20_000), seeded_coins(3))

    estimate = mechanism.estimate(mechanism.tally(reports))
    assert (np.abs(estimate.values - [1e-30, 0]) < Z * estimate.stderr("respondents")).all()


def test_no_rounded_vector_is_longer_than_the_reach() -> None:
    mechanism = Gaussian("1", 100, "1", delta="1e-6")
    held = np.full((2_000, 100), 0.1)

    points = mechanism.inputs(held, ScriptedCoins(then=0))

    assert (points**2).sum(axis=1).max() <= mechanism.reach**2
    assert points.min() >= mechanism.steps * 0.1 - 1


def test_a_gaussian_report_is_these_bytes() -> None:
    mechanism = Gaussian("1", 2, "1", delta="1e-9")  # a grid of 706 steps
    # nothing is rounded up; no digit of the noise and no sign is set; both draws of noise, 0, are kept
    coins = ScriptedCoins([255] * 8 + [255] * 32 + [0, 0], then=255)

    report = mechanism.perturb(np.array([[0.5, -0.5]]), coins)

    # four bytes a number, signed, little-endian: grid points 353 and -353
    assert report.tobytes().hex() == "61010000" + "9ffeffff"


def test_a_private_unit_report_is_two_signed_bytes_a_number() -> None:
    mechanism = PrivateUnit("1", 2, "1")
    # two bytes a number, signed, little-endian: 32767 stands for 24 standard deviations, -1 for almost none
    report = np.frombuffer(bytes.fromhex("ff7f" + "ffff"), dtype=mechanism.layout)

    estimate = mechanism.estimate(mechanism.tally(report))

    assert estimate.values * mechanism.lean.gain == pytest.approx([24, -24 / 32767])


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    "values",
    [[[math.nan, 0]], [[math.inf, 0]], [[0.5]], [0.5, 0.5], [["a", "b"]], [[True, False]], [[1j, 0]]],
)
def test_what_is_no_vector_is_refused(make: Any, values: list[Any]) -> None:
    with pytest.raises(DomainError, match="rows of 2 finite numbers"):
        make("1", 2, "1").perturb(np.array(values), seeded_coins(1))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("size", "norm", "words"),
    [
        (0, "1", "size"),
        (16_385, "1", "size"),
        (True, "1", "size"),
        (2, "0", "norm"),
        (2, "-1", "norm"),
        (2, 0.5, "norm"),
        (2, "nan", "norm"),
        (2, True, "norm"),
        (2, "1e99999999", "norm"),
        (2, "1e-99999999", "norm"),
        (2, "1/0", "norm"),
    ],
)
def test_a_shape_that_is_none_is_refused(make: Any, size: Any, norm: Any, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        make("1", size, norm)


@pytest.mark.parametrize("delta", [0, "0", "1e-2", "-1e-9", 1e-9, None, "nan", "1e-19", True])
def test_a_delta_that_promises_nothing_is_refused(delta: Any) -> None:
    with pytest.raises(DomainError, match="delta"):
        Gaussian("1", 2, "1", delta=delta)


def test_a_grid_that_cannot_be_fine_enough_is_refused() -> None:
    with pytest.raises(DomainError, match="no grid is fine enough"):
        Gaussian("0.001", 16_384, "1", delta="1e-9")


def test_reports_beyond_the_margin_are_refused() -> None:
    gaussian, unit = Gaussian("1", 2, "1", delta="1e-9"), PrivateUnit("1", 2, "1")
    margin = gaussian.margin
    wide = np.array([[0, margin], [0, margin + 1], [-margin - 1, 0]], dtype=gaussian.layout.base)

    assert gaussian.check(wide).tolist() == [True, False, False]
    assert unit.check(np.array([[-(2**15), 0], [2**15 - 1, 0]], dtype="<i2")).tolist() == [False, True]
    with pytest.raises(DomainError, match="a report must be"):
        gaussian.tally(wide)
    with pytest.raises(DomainError, match="a report must be"):
        unit.tally(np.array([[-(2**15), 0]], dtype="<i2"))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_no_report_is_too_few_and_one_is_enough(make: Any) -> None:
    mechanism = make("1", 2, "1")
    none = mechanism.tally(np.zeros((0, 2), dtype=mechanism.layout.base))

    one = mechanism.estimate(mechanism.tally(mechanism.perturb(np.array([[0.5, 0]]), seeded_coins(1))))

    assert np.isfinite(one.values).all()
    assert np.isfinite(one.stderr("respondents")).all()
    assert np.isnan(one.stderr("population")).all()
    with pytest.raises(TooFewReportsError):
        mechanism.estimate(none)


@pytest.mark.parametrize("epsilon", ["0.001", "1", "20"])
def test_the_lean_spends_all_of_epsilon(epsilon: str) -> None:
    lean = Lean.best(float(epsilon), 65)

    spent = math.log(lean.p / (1 - lean.p)) + math.log(lean.q / (1 - lean.q))

    assert spent == pytest.approx(float(epsilon), rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "size", "error"), [(1.0, 64, 6.330), (4.0, 64, 1.741), (8.0, 64, 1.063), (4.0, 1024, 1.741)]
)
def test_the_error_of_a_unit_vector_is_the_published_one(epsilon: float, size: int, error: float) -> None:
    assert Lean.best(epsilon, size).error(size) * epsilon / size == pytest.approx(error, rel=1e-3)


def test_a_private_unit_proves_nothing_and_says_so() -> None:
    mechanism = PrivateUnit("1", 2, "1")

    assert not mechanism.exact
    with pytest.raises(DomainError, match="draws floats"):
        mechanism.loss()
    with pytest.raises(DomainError, match="draws floats"):
        mechanism.likelihood(None, None)


def test_a_vector_metric_survives_a_manifest() -> None:
    metric = metric_of("gradient", TABLE | {"absent": [0, 0, 0]})
    manifest = Manifest(app="notepad", serial=1, metrics=(metric,))

    again = Manifest.from_document(manifest.document())

    assert again.metrics[0] == manifest.metrics[0]
    assert '"delta":"0.000000001"' in manifest.metrics[0].canonical
    assert metric.domain.encode([1, Decimal("0.5"), -2.5]) == (1.0, 0.5, -2.5)
    assert metric.domain.encode(metric.absent) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"delta": None}, "delta is missing"),
        ({"mechanism": "private_unit"}, "delta must be left out"),
        ({"mechanism": None}, 'add mechanism = "gaussian"'),
        ({"delta": 1e-9}, "must be a string"),
        ({"size": None}, "add size = 64"),
        ({"norm": "-1"}, "norm must be"),
        ({"absent": [0, 0]}, "list of 3"),
    ],
)
def test_a_vector_metric_that_is_wrong_is_refused(change: dict[str, Any], words: str) -> None:
    table = {key: value for key, value in (TABLE | change).items() if value is not None}

    with pytest.raises(ManifestError, match=words):
        metric_of("gradient", table)


@pytest.mark.parametrize(
    "value", [[1, 2], [1, 2, "3"], [1, 2, math.nan], "123", 1.0, [1, 2, True], None, [[1], 2, 3]]
)
def test_a_value_that_is_no_such_vector_is_refused_and_not_repeated(value: object) -> None:
    with pytest.raises(DomainError) as refusal:
        Vector(3, Decimal(1)).encode(value)

    assert "2" not in str(refusal.value).replace("got 2", "")


def test_deltas_are_counted_exactly() -> None:
    assert Delta.parse("1e-18").atto == 1
    assert str(Delta.parse(Decimal("0.001"))) == "0.001"
    assert str(Delta()) == "0"
