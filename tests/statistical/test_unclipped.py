"""This file proves that intervals lie around their values, and are cut at no end of what is possible."""

import numpy as np
import pytest

from hubbub.estimate import About
from hubbub.mechanisms.square_wave import SquareWave
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistical.specs import Spec, build, specs, values

PEOPLE = 4_000
LISTED = [spec for spec in specs(epsilons=("2",)) if build(spec).rows]


@pytest.mark.parametrize("about", ["respondents", "population"])
@pytest.mark.parametrize("spec", LISTED, ids=str)
def test_where_all_hold_the_same_every_interval_lies_around_its_value(spec: Spec, about: About) -> None:
    mechanism = build(spec)
    held = values(spec)[:1].repeat(PEOPLE, axis=0)

    estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(held, seeded_coins(97))))

    found, ends, errors = estimate.values, estimate.interval(0.95, about), estimate.stderr(about)
    sure = np.array([row.unbiased for row in estimate.rows]) & (errors > 0) & ~np.isnan(ends).any(axis=1)
    assert sure.any()
    assert (ends[sure, 0] < found[sure]).all()
    assert (found[sure] < ends[sure, 1]).all()


@pytest.mark.parametrize("about", ["respondents", "population"])
def test_likely_shares_and_means_have_intervals_beyond_what_is_possible(about: About) -> None:
    mechanism = SquareWave("1", low="0", high="1", buckets=16)
    held = np.zeros(PEOPLE)

    estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(held, seeded_coins(98))))

    ends = dict(zip((row.name for row in estimate.rows), estimate.interval(0.95, about), strict=True))
    assert ends["mean"][0] < 0
    assert ends["[0, 0.0625)"][1] > 1
    assert ends["[0.9375, 1]"][0] < 0
    assert estimate.between(0.9, 1).interval(0.95, about)[0, 0] < 0
    assert 0 <= ends["quantile 0.05"][0] < ends["quantile 0.95"][1] <= 1
