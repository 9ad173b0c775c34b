"""This file checks the sketches of texts: their bytes, what they refuse, their bias and their error.

False alarms: a comparison by Z once in 10**9.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.mechanisms.count_mean_sketch import CountMeanSketch
from hubbub.mechanisms.hadamard_sketch import HadamardSketch
from hubbub.mechanisms.prefix_extension import PrefixExtension
from hubbub.public_hashes import rows_of_texts, symbols
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z, far

Sketching = HadamardSketch | CountMeanSketch
BOTH = pytest.mark.parametrize("make", [HadamardSketch, CountMeanSketch])
ZEROS, ONES = ScriptedCoins(then=0), ScriptedCoins(then=255)
TEXT = rows_of_texts(["linux"], 8)

GOLDEN = {
    # 2 (0 * 1024 + 0) + 1: hash 0, row 0, where all entries are +1, told truly; four bytes, little-endian
    "hash 0, row 0, true": (HadamardSketch("1", 8), ZEROS, "01000000"),
    # hash 1 of 2 (the coin 1), row 5 of 8 (the coin 5), a lie (the coin 255): 2 (1 * 8 + 5) and the bit
    "hash 1, row 5, untrue": (
        HadamardSketch("1", 8, hashes=2, width=8),
        ScriptedCoins([1, 5], then=255),
        f"{2 * 13 + (int(symbols(TEXT, 2, 8)[0, 1]) & 5).bit_count() % 2:02x}",
    ),
    # the hash in two bytes, little-endian, then bits: all of 8 that are not held, and the one held
    "hash 2 of 3, all bits": (CountMeanSketch("1", 8, hashes=3, width=8), ScriptedCoins([2]), "0200" + "ff"),
    # hash 0; 16 bits all 0 but the lowest four, by their coins, then that of the bit held
    "hash 0, no bit": (CountMeanSketch("1", 8, hashes=1, width=16), ONES, "0000" + "0000"),
}


@pytest.mark.parametrize(("mechanism", "coins", "wire"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_is_these_bytes(mechanism: Sketching, coins: ScriptedCoins, wire: str) -> None:
    report = mechanism.perturb(TEXT, replace(coins))

    assert report.tobytes().hex() == wire
    assert mechanism.check(report).all()


@BOTH
@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": "0"},
        {"length": 0},
        {"length": 65},
        {"hashes": 0},
        {"hashes": 65_537},
        {"hashes": True},
        {"width": 1},
        {"width": 12},
        {"width": 131_072},
        {"hashes": 4096, "width": 1024},
    ],
    ids=str,
)
def test_a_parameter_out_of_range_is_refused(make: Callable[..., Sketching], wrong: dict[str, Any]) -> None:
    with pytest.raises(DomainError):
        make(**{"epsilon": "1", "length": 8} | wrong)


@pytest.mark.parametrize(
    ("mechanism", "impossible"),
    [
        (HadamardSketch("1", 8, hashes=3, width=4), np.array([24, 255], dtype="u1")),
        (HadamardSketch("1", 8, hashes=3, width=4), np.array([-1, 24])),
        (CountMeanSketch("1", 8, hashes=3, width=8), np.array([[3, 0, 0], [0, 1, 0]], dtype="u1")),
        (CountMeanSketch("1", 8, hashes=3, width=4), np.array([[2, 0, 16], [0, 0, 255]], dtype="u1")),
    ],
    ids=str,
)
def test_an_impossible_report_is_told_and_never_counted(mechanism: Sketching, impossible: Any) -> None:
    assert mechanism.check(impossible).tolist() == [False, False]
    with pytest.raises(DomainError):
        mechanism.tally(impossible)


@BOTH
@pytest.mark.parametrize(
    "values",
    [
        np.zeros((2, 7), dtype=int),
        np.zeros(8, dtype=int),
        np.full((1, 8), 256),
        np.full((1, 8), -1),
        np.zeros((1, 8)),
    ],
)
def test_what_is_no_text_is_refused(make: Callable[..., Sketching], values: Any) -> None:
    with pytest.raises(DomainError):
        make("1", 8).perturb(values, ZEROS)


TEXTS = ["", "a", "b", "c", "d"]
TINY = {
    "hadamard sketch": HadamardSketch("1", 1, hashes=3, width=4),
    "count-mean sketch": CountMeanSketch("1", 1, hashes=3, width=4),
    "last group of a prefix extension": PrefixExtension("1", 1, pool=3),
}


@pytest.mark.parametrize("mechanism", TINY.values(), ids=TINY)
def test_one_report_tells_the_truth_on_average_but_for_what_hashes_have_in_common(
    mechanism: Sketching | PrefixExtension,
) -> None:
    held = mechanism.inputs(rows_of_texts(TEXTS, 1), ZEROS)[:, -3:]
    reports = mechanism.outputs()
    said = np.array(
        [_said(mechanism.estimate(mechanism.tally(report[None]), candidates=TEXTS)) for report in reports]
    )
    told = ~np.isnan(said[:, 0])

    laws = [
        [float(mechanism.likelihood(row, report)) for report in reports[told]]
        for row in mechanism.inputs(rows_of_texts(TEXTS, 1), ZEROS)
    ]

    means = np.array(laws) / np.sum(laws, axis=1)[:, None] @ said[told]
    equal = (held[:, None] == held[None]).mean(axis=2)
    assert means == pytest.approx((equal - 1 / 4) / (1 - 1 / 4), abs=1e-12)


def _said(estimate: Any) -> Any:
    """Return what is said of TEXTS, without what was found besides."""
    return estimate.values[: len(TEXTS)] if estimate.values.size else np.full(len(TEXTS), np.nan)


@BOTH
@pytest.mark.parametrize(("hashes", "width", "epsilon"), [(16, 16, "4"), (64, 64, "1"), (100, 32, "0.5")])
def test_shares_of_texts_are_unbiased_over_hashes_and_texts_with_the_stated_error(
    make: Callable[..., Sketching], hashes: int, width: int, epsilon: str
) -> None:
    mechanism, n, rounds = make(epsilon, 16, hashes=hashes, width=width), 10_000, 80
    shares = np.arange(1, 101) ** -1.2 / np.sum(np.arange(1, 101) ** -1.2)
    counts = np.round(shares * n).astype(int)
    n, coins, off, concentrations = int(counts.sum()), seeded_coins(71), [], []
    for number in range(rounds):  # other texts collide otherwise
        texts = [f"{number} {text}" for text in range(100)]
        held = np.repeat(rows_of_texts(texts, 16), counts, axis=0)

        found = mechanism.estimate(
            mechanism.tally(mechanism.perturb(held, coins)), candidates=[*texts[:3], "?"]
        )

        truth = np.array([*counts[:3], 0]) / n
        off.append((found.values - truth) / found.stderr("respondents"))
        concentrations.append(found.collisions[-1:] * hashes * (width - 1))

    spread = np.square(off).mean()
    assert (far(np.array(off), np.zeros(4)) < Z).all()
    assert abs(spread - 1) < Z * np.sqrt(2 / np.size(off)) * 1.5  # the rows of a round hang together a little
    if hashes == 16:
        assert (far(np.array(concentrations), np.sum((counts / n) ** 2)) < Z).all()


@BOTH
def test_many_reports_leave_the_error_of_the_collisions(make: Callable[..., Sketching]) -> None:
    mechanism = make("8", 8, hashes=4, width=4)
    reports = mechanism.perturb(np.repeat(rows_of_texts(["a", "b"], 8), 50_000, axis=0), seeded_coins(72))

    found = mechanism.estimate(mechanism.tally(reports), candidates=["a", "c"])

    noise = found.shares.stderr("respondents")
    assert found.stderr("respondents") == pytest.approx(np.sqrt(np.array([0.25, 0.5]) / (4 * 3)), rel=0.1)
    assert (noise < 0.03).all()
    low, high = found.interval(0.95, "respondents").T
    assert (high - low) / 2 == pytest.approx(1.96 * found.stderr("respondents"), rel=0.01)


@BOTH
def test_nothing_is_asked_for_nothing_is_told(make: Callable[..., Sketching]) -> None:
    mechanism = make("1", 8)
    reports = mechanism.perturb(np.repeat(TEXT, 5, axis=0), seeded_coins(73))

    found = mechanism.estimate(mechanism.tally(reports))

    assert (found.n, found.rows, found.values.shape) == (5, (), (0,))
    assert found.interval(0.95, "population").shape == (0, 2)
    assert mechanism.simulate(np.array([1]), seeded_coins(73)) is None


@BOTH
def test_without_reports_there_is_no_estimate(make: Callable[..., Sketching]) -> None:
    mechanism = make("1", 8, hashes=2, width=2)

    with pytest.raises(TooFewReportsError):
        mechanism.estimate(Tally.zero(mechanism.tally(mechanism.outputs()).cells.size), candidates=["a"])


@BOTH
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["0.001", "20"])
def test_a_few_reports_have_a_finite_answer(make: Callable[..., Sketching], n: int, epsilon: str) -> None:
    mechanism = make(epsilon, 8)
    reports = mechanism.perturb(np.repeat(TEXT, n, axis=0), seeded_coins(74))

    found = mechanism.estimate(mechanism.tally(reports), candidates=["linux", "mac"])

    assert np.isfinite(found.values).all()
    assert np.isfinite(found.interval(0.95, "respondents")).all()
    assert (found.stderr("population") > 0).all()


@BOTH
@pytest.mark.parametrize("candidate", ["too long to be held", "a\n", "\ud800"])
def test_a_candidate_that_nobody_can_hold_is_refused(make: Callable[..., Sketching], candidate: str) -> None:
    mechanism = make("1", 8, hashes=2, width=2)

    with pytest.raises(DomainError):
        mechanism.estimate(mechanism.tally(mechanism.outputs()), candidates=[candidate])


@BOTH
def test_tallies_of_parts_add_up(make: Callable[..., Sketching]) -> None:
    mechanism = make("1", 8, hashes=7, width=8)
    reports = mechanism.perturb(np.repeat(rows_of_texts(["a", "b", "c"], 8), 500, axis=0), seeded_coins(75))

    whole = mechanism.tally(reports)

    assert whole == mechanism.tally(reports[:1]) + mechanism.tally(reports[1:])
    assert whole.n == 1500


def test_the_sentences_tell_how_likely_the_truth_is() -> None:
    sentences = [make("1", 8).sentence(()) for make in (HadamardSketch, CountMeanSketch, PrefixExtension)]

    assert "true with probability 73.1 %" in sentences[0]
    assert "yours with probability 50 %, each other one, untrue, with 26.9 %" in sentences[1]
    assert "sent with probability 47.5 %, and each other one, untrue, with 17.5 %" in sentences[2]
