"""This file checks the square wave: its width, its bytes, and what is made of its reports."""

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from hubbub.buckets import cumulative
from hubbub.deconvolution import Deconvolution
from hubbub.distribution import Distribution
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import About
from hubbub.mechanisms.hierarchical_histogram import HierarchicalHistogram
from hubbub.mechanisms.square_wave import SquareWave
from hubbub.probability import Real
from hubbub.tally import Tally
from hubbub.windows import Window
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins

GOLDEN = {
    # one byte: the bucket itself, 3; coins: the window has one place, inside, any place
    "bucket 3 of 4": (SquareWave("2", "0", "1", buckets=4), 0.75, ScriptedCoins([0, 0]), "03"),
    "bucket 3 of 4, another report": (
        SquareWave("2", "0", "1", buckets=4),
        0.75,
        ScriptedCoins([255, 1]),
        "01",
    ),
    # two bytes, little-endian: 255 + 3; coins: two for the place in it, one if inside, two for any
    "the upper end": (SquareWave("1", "0", "1"), 1.0, ScriptedCoins([3, 0, 0, 9, 0]), "0201"),
    "the upper end, from anywhere": (
        SquareWave("1", "0", "1"),
        1.0,
        ScriptedCoins([3, 0, 255, 9, 0]),
        "0900",
    ),
}


@pytest.mark.parametrize(("mechanism", "value", "coins", "wire"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_is_these_bytes(
    mechanism: SquareWave, value: float, coins: ScriptedCoins, wire: str
) -> None:
    report = mechanism.perturb(np.array([value]), replace(coins))

    assert report.tobytes().hex() == wire
    assert mechanism.check(report).all()


# reference value: b = 0.256083 at epsilon 1, from 50-digit arithmetic; 2 b of 255 steps
@pytest.mark.parametrize(
    ("epsilon", "buckets", "width"), [("1", 256, 131), ("1", 1024, 524), ("0.001", 256, 255), ("20", 256, 1)]
)
def test_the_width_is_the_one_of_the_paper_rounded(epsilon: str, buckets: int, width: int) -> None:
    assert SquareWave(epsilon, "0", "1", buckets=buckets).window.width == width


# half the window's width as a part of the range: reference values computed with 50-digit arithmetic
REFERENCE = {
    "0.25": 0.4232245461637664,
    "0.5": 0.35815542461116706,
    "1": 0.2560829375014726,
    "2": 0.12933706674576634,
    "4": 0.03042770382435361,
    "8": 0.0011777312285622182,
}


@pytest.mark.parametrize(("epsilon", "half"), REFERENCE.items())
def test_the_window_covers_what_the_continuous_wave_does_to_half_a_bucket(epsilon: str, half: float) -> None:
    width = SquareWave(epsilon, "0", "1", buckets=1024).window.width

    assert width == max(1, round(2 * half * 1023))


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "3"])
def test_no_other_width_tells_more_about_an_even_distribution(epsilon: str) -> None:
    window = SquareWave(epsilon, "0", "1").window

    near = [told(replace(window, width=width)) for width in range(window.width - 2, window.width + 3)]

    assert max(near) == pytest.approx(near[2], abs=1e-7)
    assert told(replace(window, width=window.width // 2)) < near[2]


def told(window: Window) -> float:
    """Return the entropy of reports, taken for even, less that of the reports of one person, in nats."""
    p, q, width = float(window.p), float(window.q), window.width
    own = -width * p * math.log(p) - (window.outputs - width) * q * math.log(q)
    return math.log(window.outputs) - own


@pytest.mark.parametrize("value", [-1e300, -0.1, 0.0, 9.99, 10.0, 1e300])
def test_values_beyond_the_range_count_as_its_end(value: float) -> None:
    mechanism = SquareWave("1", "0", "10", buckets=16)

    held = mechanism.inputs(np.array([value]), seeded_coins(0))

    assert held.tolist() == [0 if value <= 0 else 15]


def test_an_impossible_report_is_told_and_never_counted() -> None:
    mechanism = SquareWave("1", "0", "1")
    impossible = np.array([386, 65_535], dtype="<u2")

    assert mechanism.check(impossible).tolist() == [False, False]
    with pytest.raises(DomainError, match="from 0 to 385"):
        mechanism.tally(impossible)


@pytest.mark.parametrize("buckets", [0, 1, 4097, True, 2.0, "4"])
def test_a_number_of_buckets_out_of_range_is_refused(buckets: Any) -> None:
    with pytest.raises(DomainError, match="buckets must be an integer from 2 to 4096"):
        SquareWave("1", "0", "1", buckets=buckets)


@pytest.mark.parametrize("values", [[math.nan], [math.inf], ["1"], [[0.5]]])
def test_what_is_no_finite_number_is_refused(values: list[Any]) -> None:
    with pytest.raises(DomainError, match="finite numbers"):
        SquareWave("1", "0", "1").perturb(np.array(values), seeded_coins(0))


def test_no_report_is_no_distribution() -> None:
    mechanism = SquareWave("1", "0", "1")

    with pytest.raises(TooFewReportsError, match="at least 1 report"):
        mechanism.estimate(Tally.zero(386))
    with pytest.raises(TooFewReportsError, match="at least 1 report"):
        mechanism.stderr(0)


@pytest.mark.parametrize("n", [1, 2, 30])
def test_a_few_reports_make_a_distribution_with_an_error(n: int) -> None:
    mechanism = SquareWave("1", "-5", "5", buckets=32)

    estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(np.full(n, 3.0), seeded_coins(3))))

    intervals = estimate.interval(0.95, "population")
    assert estimate.shares.sum() == pytest.approx(1)
    assert (estimate.shares >= 0).all()
    assert (intervals[:, 0] <= estimate.values).all()
    assert (estimate.values <= intervals[:, 1]).all()
    assert (estimate.stderr("respondents") > 0).all()


def made(values: Any, *, epsilon: str = "4", buckets: int = 64, seed: int = 62) -> Distribution:
    """Collect and estimate once."""
    mechanism = SquareWave(epsilon, "0", "8", buckets=buckets)
    return mechanism.estimate(mechanism.tally(mechanism.perturb(np.asarray(values), seeded_coins(seed))))


def test_rows_are_those_of_the_distribution() -> None:
    estimate = made(np.linspace(0, 8, 200_000))

    found = dict(zip([row.name for row in estimate.rows], estimate.values.tolist(), strict=True))

    assert list(found)[:6] == [
        "mean",
        "quantile 0.05",
        "quantile 0.25",
        "median",
        "quantile 0.75",
        "quantile 0.95",
    ]
    assert list(found)[6::15] == ["[0, 0.5)", "[7.5, 8]"]
    assert found["mean"] == pytest.approx(4, abs=0.1)
    assert found["quantile 0.25"] == pytest.approx(2, abs=0.1)
    assert found["[7.5, 8]"] == pytest.approx(1 / 16, abs=0.01)
    assert estimate.between(2, 4).values == pytest.approx(0.25, abs=0.02)
    assert estimate.cdf(6).values == pytest.approx(0.75, abs=0.02)
    assert estimate.quantile(0.5) == found["median"]


@pytest.mark.parametrize("about", ["respondents", "population"])
def test_the_share_between_the_ends_of_a_bin_is_its_row(about: About) -> None:
    estimate = made(np.linspace(0, 8, 2_000))
    row = [each.name for each in estimate.rows].index("[2, 2.5)")

    between = estimate.between(2, 2.5)

    assert between.n == 2_000
    assert between.rows[0].unit == "share"
    assert between.values == pytest.approx(estimate.values[[row]])
    assert between.stderr(about) == pytest.approx(estimate.stderr(about)[[row]])
    assert between.interval(0.9, about) == pytest.approx(estimate.interval(0.9, about)[[row]])


@pytest.mark.parametrize("maker", [SquareWave, HierarchicalHistogram])
def test_every_distribution_is_asked_in_the_same_words(maker: Any) -> None:
    mechanism = maker("4", "0", "8", buckets=64)

    estimate = mechanism.estimate(
        mechanism.tally(mechanism.perturb(np.linspace(0, 8, 200_000), seeded_coins(62)))
    )

    assert estimate.between(2, 4).values == pytest.approx([0.25], abs=0.02)
    assert estimate.cdf(6).values == pytest.approx([0.75], abs=0.02)
    assert estimate.quantile(0.5) == pytest.approx(4, abs=0.1)
    with pytest.raises(DomainError, match="rise from low to high"):
        estimate.between(4, 2)


def test_the_same_tally_makes_the_same_errors() -> None:
    once, again = (made([1.0, 2.0, 7.0] * 100) for _ in range(2))

    assert once.stderr("population").tolist() == again.stderr("population").tolist()
    assert once.values.tolist() == again.values.tolist()


def test_what_many_hold_exactly_is_found_as_a_spike_in_a_smooth_crowd() -> None:
    smooth = np.random.default_rng(63).beta(5, 2, 70_000) * 8
    estimate = made(np.concatenate([smooth, np.full(30_000, 1.0)]), epsilon="1", buckets=256)

    shares = estimate.shares

    assert shares[28:37].sum() == pytest.approx(0.3, abs=0.05)  # the spike is in bucket 32
    assert shares.max() > 20 * np.sort(shares)[-4]


def test_a_smooth_crowd_has_no_spike() -> None:
    estimate = made(np.random.default_rng(64).beta(5, 2, 100_000) * 8, epsilon="1", buckets=256)

    roughness = np.abs(np.diff(estimate.shares)).max()

    assert roughness < 0.1 * estimate.shares.max()


def test_steps_end_where_no_step_of_plain_em_leads_further() -> None:
    mechanism = SquareWave("2", "0", "1", buckets=16)
    tally = mechanism.tally(mechanism.perturb(np.random.default_rng(65).beta(2, 5, 20_000), seeded_coins(65)))
    law = np.array([[float(mechanism.likelihood(i, j)) for i in range(16)] for j in mechanism.outputs()])
    slow = np.full(16, 1 / 16)
    for _ in range(20_000):
        slow = slow * (law.T @ (tally.cells / (law @ slow))) / tally.n

    fast = Deconvolution(mechanism.window, 0).shares(tally.cells)

    assert cumulative(fast) == pytest.approx(cumulative(slow), abs=2e-3)


def test_several_counts_are_explained_as_each_alone() -> None:
    window, generator = Window(8, 3, Real(20)), np.random.default_rng(66)
    counts = generator.integers(100, 1000, size=(2, window.outputs))
    explain = Deconvolution(window, 1)

    both = explain.shares(counts)

    alone = [explain.shares(each) for each in counts]
    assert both == pytest.approx(np.array(alone), abs=2e-3)


def test_ends_in_no_round_decimal_name_bins_in_twelve_digits() -> None:
    mechanism = SquareWave("1", Decimal(0), Decimal(1), buckets=9)

    assert [row.name for row in mechanism.rows][-2:] == [
        "[0.777777777778, 0.888888888889)",
        "[0.888888888889, 1]",
    ]


def test_one_true_sentence_tells_the_owner_what_is_sent() -> None:
    assert SquareWave("1", "0", "10").sentence(("0", "10")) == (
        "your number, taken as within 0 and 10, is sent as one of 386 numbers: as one of the 131 nearest to "
        "it with probability 58.3 %, else as any other"
    )
