"""This file proves what watched categories tell: shares, their error, their sums, their intervals.

False alarms: a comparison by Z once in 10**9.
"""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.mechanisms.dbitflip import DBitFlip
from hubbub.together import Joinable
from hubbub.watched import WatchedShares
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistics import Z, far, far_in_variance

REFERENCE = json.loads((Path(__file__).parents[1] / "vectors" / "reference_longitudinal.json").read_text())
SETS = [rows for size in (1, 2, 3) for rows in combinations(range(4), size)]
ROUNDS = 2_000


@pytest.mark.parametrize("row", REFERENCE["watched"], ids=str)
def test_the_error_of_one_report_is_the_reference_one(row: dict[str, Any]) -> None:
    mechanism = DBitFlip(row["epsilon"], row["k"], buckets=row["buckets"])

    found = (float(mechanism.truth), mechanism.watch.inside, mechanism.watch.outside)

    assert found == pytest.approx((row["a"], row["v1"], row["v0"]), rel=1e-12)
    assert mechanism.stderr(7, frequency=0.25) ** 2 == pytest.approx((row["v1"] + 3 * row["v0"]) / 28)


def test_a_tally_counts_what_is_denied_and_what_is_affirmed_of_each_category() -> None:
    mechanism = DBitFlip("2", 3, buckets=2)

    tally = mechanism.tally(np.array([[0, 3], [1, 3], [2, 5]], dtype="u1"))

    found = mechanism.estimate(tally)
    assert tally.cells.tolist() == [1, 1, 1, 2, 0, 1]
    assert (found.yes.tolist(), found.watched.tolist()) == ([1, 2, 1], [2, 3, 1])


@pytest.mark.parametrize("buckets", [1, 2, 3])
@pytest.mark.parametrize("rows", SETS, ids=str)
def test_one_report_estimates_categories_together_without_bias_and_with_the_promised_error(
    rows: tuple[int, ...], buckets: int
) -> None:
    mechanism = DBitFlip("1", 4, buckets=buckets)
    reports = mechanism.outputs()
    found = [mechanism.estimate(mechanism.tally(report[None])).together(rows) for report in reports]
    said = np.array([one.share for one in found])
    laws = np.array([[float(mechanism.likelihood(held, report)) for report in reports] for held in range(4)])

    means, spreads = laws @ said, laws @ said**2 - (laws @ said) ** 2

    is_held = np.isin(range(4), rows)
    assert means == pytest.approx(is_held.astype(float), abs=1e-12)
    assert spreads == pytest.approx(np.where(is_held, found[0].inside, found[0].outside), rel=1e-12)


def test_many_estimates_have_no_bias_and_the_error_that_is_promised() -> None:
    mechanism, coins, n = DBitFlip("2", 20, buckets=4), seeded_coins(91), 200
    held = np.arange(n) ** 2 % 23 % 20
    truth = np.bincount(held, minlength=20) / n

    reports = np.split(mechanism.perturb(np.tile(held, ROUNDS), coins), ROUNDS)
    values = np.array([mechanism.estimate(mechanism.tally(some)).values for some in reports])

    promised = np.array([mechanism.stderr(n, frequency=share) ** 2 for share in truth])
    assert (far(values, truth) < Z).all()
    assert (far_in_variance(values - truth, promised) < Z).all()


@pytest.mark.parametrize("about", ["respondents", "population"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(about: Any) -> None:
    mechanism, coins, n, rounds = DBitFlip("1", 10, buckets=3), seeded_coins(92), 300, 1_000
    held = np.arange(n) ** 2 % 13 % 10
    truth = np.bincount(held, minlength=10) / n

    asked = coins.generator.choice(held, n * rounds) if about == "population" else np.tile(held, rounds)
    reports = np.split(mechanism.perturb(asked, coins), rounds)
    ends = np.array([mechanism.estimate(mechanism.tally(some)).interval(0.95, about) for some in reports])

    holds = ((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean(axis=1, keepdims=True)
    stderr = holds.std(ddof=1) / np.sqrt(rounds)
    assert abs(holds.mean() - 0.95) < 0.01 + Z * stderr  # the normal law is that close


def shares() -> WatchedShares:
    mechanism = DBitFlip("1", 5, buckets=2)
    return mechanism.estimate(mechanism.tally(mechanism.perturb(np.arange(50) % 5, seeded_coins(93))))


def test_one_category_together_is_that_category() -> None:
    found = shares()

    alone = [found.together([row]) for row in range(5)]

    assert isinstance(found, Joinable)
    assert np.concatenate([one.values for one in alone]) == pytest.approx(found.values)
    for about in ("respondents", "population"):
        assert np.concatenate([one.stderr(about) for one in alone]) == pytest.approx(found.stderr(about))
        ends = np.concatenate([one.interval(0.95, about) for one in alone])
        assert ends == pytest.approx(found.interval(0.95, about))


@pytest.mark.parametrize("rows", [[], [0, 0], [5], [-1], [0, 1, 2, 3, 4]], ids=str)
def test_no_category_a_category_twice_a_strange_one_or_all_of_them_are_refused(rows: list[int]) -> None:
    with pytest.raises(DomainError, match="categor"):
        shares().together(rows)


def test_nothing_is_said_of_no_reports_or_of_a_share_that_is_none() -> None:
    mechanism = DBitFlip("1", 5)

    with pytest.raises(TooFewReportsError):
        mechanism.estimate(mechanism.tally(np.zeros((0, 1), dtype="u1")))
    with pytest.raises(TooFewReportsError):
        mechanism.stderr(0)
    with pytest.raises(DomainError, match="frequency must be from 0 to 1"):
        mechanism.stderr(1, frequency=1.5)
