"""This file holds the share of several categories together to its promises, for every frequency oracle.

Nothing here is drawn, so nothing fails by chance.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.errors import DomainError
from hubbub.frequencies import Channel, Shares
from tests.statistical.specs import Floats, Spec, build, chances, is_about_shares, kinds, people, specs, tried

WIDE: Mapping[str, tuple[dict[str, Any], ...]] = {"choice": ({"options": list("abcde")},)}


EPSILONS = ("0.1", "0.5", "4")  # at 0.5 a set has two of the five, at 4 one


def _channel(spec: Spec) -> Channel:
    channel: Channel = build(spec).channel  # type: ignore[attr-defined]
    return channel


def _is_oracle(spec: Spec) -> bool:
    mechanism = build(spec)
    if not (mechanism.exact and is_about_shares(spec)):
        return False
    return isinstance(mechanism.estimate(mechanism.tally(mechanism.outputs()[:1])), Shares)


ORACLES = [spec for spec in specs(WIDE, EPSILONS) if _is_oracle(spec)]
PLAIN = [spec for spec in ORACLES if _channel(spec).line == 2]
LINED = [spec for spec in ORACLES if _channel(spec).line > 2]
SETS = [(0,), (4,), (0, 1), (1, 4), (0, 2, 3), (1, 2, 3, 4)]


def test_every_mechanism_for_choices_is_an_oracle_but_the_one_that_watches_some() -> None:
    choices = {entry.kind for entry in registry.ENTRIES if "choice" in entry.domains}

    assert choices - kinds(ORACLES) == {"dbitflip"}


@pytest.mark.parametrize("rows", SETS, ids=str)
@pytest.mark.parametrize("spec", tried(ORACLES), ids=str)
def test_one_report_estimates_categories_together_without_bias(spec: Spec, rows: tuple[int, ...]) -> None:
    said = _alone(spec, rows)

    means = chances(spec) @ said

    assert means == pytest.approx(np.isin(people(spec), rows).astype(float), abs=1e-9)


@pytest.mark.parametrize("rows", SETS, ids=str)
@pytest.mark.parametrize("spec", tried(PLAIN), ids=str)
def test_one_report_estimates_categories_together_with_the_promised_error(
    spec: Spec, rows: tuple[int, ...]
) -> None:
    spreads = _spreads(spec, rows)

    inside, outside = _channel(spec).together(len(rows))

    promised = np.where(np.isin(people(spec), rows), inside, outside)
    assert spreads == pytest.approx(promised, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("rows", SETS, ids=str)
@pytest.mark.parametrize("spec", tried(LINED), ids=str)
def test_where_a_line_joins_three_categories_the_error_is_at_most_the_promised_one(
    spec: Spec, rows: tuple[int, ...]
) -> None:
    spreads, channel, is_held = _spreads(spec, rows), _channel(spec), np.isin(people(spec), rows)

    most, least = (
        np.where(is_held, *each.together(len(rows))) for each in (channel, replace(channel, line=2))
    )

    assert (spreads <= most * (1 + 1e-9)).all()
    assert (spreads >= least * (1 - 1e-9)).all()


@pytest.mark.parametrize("spec", tried(ORACLES), ids=str)
def test_one_category_together_is_that_category(spec: Spec) -> None:
    n = 40
    shares = Shares(n, np.array([0, 7, 20, 31, 40]), _channel(spec))

    found = [shares.together([row]) for row in range(5)]

    assert [one.share for one in found] == pytest.approx(shares.values, rel=1e-12, abs=1e-12)
    for about in ("respondents", "population"):
        assert np.concatenate([one.stderr(about) for one in found]) == pytest.approx(shares.stderr(about))
        ends = np.concatenate([one.interval(0.95, about) for one in found])
        assert ends == pytest.approx(shares.interval(0.95, about), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("spec", tried(ORACLES), ids=str)
@pytest.mark.parametrize("rows", [[], [0, 0], [5], [-1], [0, 1, 2, 3, 4]], ids=str)
def test_no_category_a_category_twice_a_strange_one_or_all_of_them_are_refused(
    spec: Spec, rows: list[int]
) -> None:
    mechanism = build(spec)
    shares = mechanism.estimate(mechanism.tally(mechanism.outputs()))

    with pytest.raises(DomainError, match="categor"):
        shares.together(rows)  # type: ignore[attr-defined]


def _spreads(spec: Spec, rows: tuple[int, ...]) -> Floats:
    said, laws = _alone(spec, rows), chances(spec)
    spreads: Floats = laws @ said**2 - (laws @ said) ** 2
    return spreads


def _alone(spec: Spec, rows: tuple[int, ...]) -> Floats:
    """Return what each report that there is says by itself about categories together."""
    return np.array([shares.together(rows).share for shares in _shares(spec)])


@cache
def _shares(spec: Spec) -> list[Shares]:
    """Return what each report that there is says by itself."""
    mechanism = build(spec)
    tallies = [mechanism.tally(report) for report in mechanism.outputs()[:, None]]
    return [mechanism.estimate(tally) for tally in tallies]  # type: ignore[misc] - an oracle's
