"""This file proves that periods of permanent answers are answered together with the error that they have."""

import json
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import choice
from hubbub.longitudinal import Longitudinal, over_periods
from hubbub.manifest import Manifest
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.analysis import gathering
from hubbub_server.publication import publish
from tests.server.site import PERIOD, Column, Site, batch, code, dark

PEOPLE = 4_000
WORD = choice(
    "word",
    options=["yes", "no", "maybe"],
    epsilon="4",
    mechanism="l_grr",
    parameters={"first": "2"},
    changes=1,
    labels={"version": ["1", "2"]},
).of("diary")


@pytest.fixture
def mechanism(home: Site) -> Longitudinal:
    """Collect three periods of everybody's memos."""
    built = registry.build(WORD)
    assert isinstance(built, Longitudinal)
    publish(home.collector.store.manifests, Manifest(app="diary", serial=1, metrics=(WORD,)))
    coins = seeded_coins(82)
    memos = built.memoize(np.arange(PEOPLE) % 4 % 3, coins)
    for period in range(PERIOD - 2, PERIOD + 1):
        halves = np.split(built.report(memos, coins), 2)
        columns = [
            Column(WORD.id, period, (at,), PEOPLE // 2, half.tobytes()) for at, half in enumerate(halves)
        ]
        assert home.post(batch(*columns)).status_code == 200
    return built


def answers(home: Site, **query: Any) -> list[dict[str, Any]]:
    reply = home.estimate("word", **query)
    assert reply.status_code == 200, reply.text
    return [group["answer"] for group in json.loads(reply.data)["groups"]]


def test_the_error_of_all_periods_is_that_of_one_memo_a_person(home: Site, mechanism: Longitudinal) -> None:
    (found,) = answers(home)

    row = found["rows"][1]
    expected = over_periods(mechanism, PEOPLE, 3, frequency=row["value"])
    assert found["n"] == 3 * PEOPLE
    assert row["respondents"]["stderr"] == pytest.approx(expected, rel=0.01)
    assert row["population"]["stderr"] > row["respondents"]["stderr"]
    about = "errors are those of the same people in each period; those of different ones are smaller"
    assert found["advice"][0] == about


def test_the_value_of_all_periods_is_the_mean_of_theirs(home: Site, mechanism: Longitudinal) -> None:
    (found,), alone = answers(home), answers(home, by="period")

    means = np.mean([[row["value"] for row in each["rows"]] for each in alone], axis=0)
    assert [row["value"] for row in found["rows"]] == pytest.approx(means.tolist())
    assert all(each["n"] == PEOPLE for each in alone)
    assert alone[0]["rows"][1]["respondents"]["stderr"] == pytest.approx(
        mechanism.stderr(PEOPLE, frequency=alone[0]["rows"][1]["value"]), rel=1e-9
    )


def test_labels_are_answered_over_all_periods_of_their_own(home: Site, mechanism: Longitudinal) -> None:
    found = answers(home, by="label")

    errors = [each["rows"][0]["respondents"]["stderr"] for each in found]
    shares = [each["rows"][0]["value"] for each in found]
    assert [each["n"] for each in found] == [3 * PEOPLE // 2] * 2
    assert errors == pytest.approx(
        [over_periods(mechanism, PEOPLE // 2, 3, frequency=share) for share in shares], rel=0.01
    )


@pytest.mark.parametrize("query", [{"any": ["yes", "no"]}, {"top": "2"}, {"view": "norm-sub"}], ids=str)
def test_what_else_can_be_asked_of_one_period_can_be_asked_of_several(
    home: Site, mechanism: Longitudinal, query: dict[str, Any]
) -> None:
    (found,) = answers(home, **query)

    intervals = np.array([row["respondents"]["interval"] for row in found["rows"]])
    values = np.array([row["value"] for row in found["rows"]])
    assert values.size == (3 if "view" in query else 2 if "top" in query else 1)
    assert (intervals[:, 0] < values).all()
    assert (values < intervals[:, 1]).all()


@pytest.mark.usefixtures("mechanism")
def test_more_periods_than_memory_holds_are_refused(home: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST_AT_ONCE", 8)  # two periods of three numbers

    reply = home.estimate("word")

    assert (reply.status_code, code(reply)) == (400, "bad_query")
    assert "ask for fewer periods" in reply.text


def test_periods_of_fresh_answers_are_added_up_as_ever(home: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for period in range(PERIOD - 2, PERIOD + 1):
        home.post(batch(dark([1, 0, 1], period=period)))
    monkeypatch.setattr(gathering, "MOST_AT_ONCE", 2)  # one sum of two numbers

    reply = home.estimate("dark")

    assert json.loads(reply.data)["groups"][0]["answer"]["n"] == 9
