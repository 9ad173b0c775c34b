"""This file proves that an analyst can ask about people of whom several facts are true at once."""

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import metric_of
from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.answers import answer

FACTS = {"reader": {"kind": "boolean"}, "theme": {"kind": "choice", "options": ["dark", "light", "other"]}}


def asked(mechanism: str) -> Metric:
    table = {"kind": "record", "attributes": FACTS, "epsilon": "4", "mechanism": mechanism}
    return metric_of("segment", table).of("browser")


def tally(metric: Metric) -> Tally:
    """Return the tally of 10,000 people: 40 % with a reader, of whom a quarter take the dark theme."""
    mechanism = registry.build(metric)
    people = np.repeat([[1, 0], [1, 1], [0, 0]], [1_000, 3_000, 6_000], axis=0)
    return mechanism.tally(mechanism.perturb(people, seeded_coins(81)))


@pytest.mark.parametrize(
    ("options", "share"),
    [
        (["reader = yes"], 0.4),
        (["reader = no"], 0.6),
        (["reader = yes", "theme = dark"], 0.1),
        (["reader = yes", "theme = dark", "theme = light"], 0.4),
        (["theme = dark", "theme = light", "reader = no"], 0.6),
    ],
)
def test_a_private_segment_is_one_row(options: list[str], share: float) -> None:
    metric = asked("joint_response")

    (row,) = answer(metric, tally(metric), together=options).rows

    assert row.name == " + ".join(options)
    assert row.value == pytest.approx(share, abs=6 * (row.respondents.stderr or 0))
    assert row.respondents.stderr is not None
    assert row.respondents.stderr < 0.02


@pytest.mark.parametrize(
    "options", [["reader"], ["reader = maybe"], ["reader = yes", "reader = no"]], ids=str
)
def test_a_segment_of_nobody_knows_what_or_of_everybody_is_refused(options: list[str]) -> None:
    metric = asked("joint_response")

    with pytest.raises(DomainError):
        answer(metric, tally(metric), together=options)


def test_facts_that_were_not_told_together_make_no_segment() -> None:
    metric = asked("sampled_attribute")

    with pytest.raises(DomainError, match="no estimate of options together"):
        answer(metric, tally(metric), together=["reader = yes"])
