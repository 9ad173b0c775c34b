"""This file proves that an analyst can ask about people of whom several facts are true at once."""

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import choice, metric_of
from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.analysis.answers import answer

THEMES = ["dark", "light", "other"]


def asked(mechanism: str, themes: list[str] = THEMES) -> Metric:
    facts = {"reader": {"kind": "boolean"}, "theme": {"kind": "choice", "options": themes}}
    table = {"kind": "record", "attributes": facts, "epsilon": "4", "mechanism": mechanism}
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
        (["theme = light", "reader = no"], 0.0),
    ],
)
def test_a_private_segment_is_one_row(options: list[str], share: float) -> None:
    metric = asked("joint_response")

    (row,) = answer(metric, tally(metric), all_of=options).rows

    assert row.name == " and ".join(options)
    assert row.value == pytest.approx(share, abs=6 * (row.respondents.stderr or 0))
    assert row.respondents.stderr is not None
    assert row.respondents.stderr < 0.02


def test_options_of_one_attribute_are_one_row() -> None:
    metric = asked("joint_response")

    (row,) = answer(metric, tally(metric), any_of=["theme = dark", "theme = other"]).rows

    assert row.name == "theme = dark or theme = other"
    assert row.value == pytest.approx(0.7, abs=6 * (row.respondents.stderr or 0))


def test_every_cell_has_a_row_after_those_of_single_facts() -> None:
    metric = asked("joint_response")

    rows = answer(metric, tally(metric)).rows

    cells = [f"reader = {reader}, theme = {theme}" for reader in ("no", "yes") for theme in THEMES]
    assert [row.name for row in rows[4:]] == cells
    shares = [0.6, 0, 0, 0.1, 0.3, 0]
    assert [row.value for row in rows[4:]] == pytest.approx(shares, abs=6 * (rows[4].respondents.stderr or 0))


def test_cells_that_are_too_many_have_no_rows() -> None:
    few, many = ([f"option {at}" for at in range(size)] for size in (32, 33))

    rows = [registry.build(asked("joint_response", options)).rows for options in (few, many)]

    assert [len(each) for each in rows] == [2 + 32 + 64, 2 + 33]


@pytest.mark.parametrize(
    ("how", "options", "why"),
    [
        (
            "all_of",
            ["reader"],
            r'no row .*; name rows like "reader = no"; rows are reader = no, reader = yes, th',
        ),
        ("all_of", ["reader = maybe"], "no row"),
        ("all_of", ["reader = yes", "reader = no"], "nobody holds two"),
        ("all_of", ["reader = yes", "reader = yes"], "name each row once"),
        ("any_of", ["reader = yes", "theme = dark"], "one attribute, got reader and theme"),
        ("any_of", ["reader = yes", "reader = no"], "everybody holds one"),
    ],
)
def test_rows_that_do_not_go_together_so_are_refused(how: str, options: list[str], why: str) -> None:
    metric = asked("joint_response")

    with pytest.raises(DomainError, match=why):
        answer(metric, tally(metric), **{how: options})  # type: ignore[arg-type]


def test_any_and_all_are_not_asked_for_at_once() -> None:
    metric = asked("joint_response")

    with pytest.raises(DomainError, match="not for both"):
        answer(metric, tally(metric), any_of=["reader = yes"], all_of=["theme = dark"])


def test_all_is_for_facts_of_a_record() -> None:
    metric = choice("system", options=["linux", "mac"], epsilon="2").of("browser")

    with pytest.raises(DomainError, match='all is for facts of a record, "system" is a choice'):
        answer(metric, Tally.zero(2), all_of=["linux"])


def test_facts_that_were_not_told_together_make_no_segment() -> None:
    metric = asked("sampled_attribute")

    with pytest.raises(DomainError, match="mechanism joint_response does"):
        answer(metric, tally(metric), all_of=["reader = yes", "theme = dark"])
