"""This file proves that the largest shares are found, with intervals that hold for all options at once.

False alarms: one comparison of a binomial count, at six standard errors, once in 10**9.
"""

import json
import math

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import boolean, choice, number
from hubbub.errors import DomainError
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.analysis.answers import Answer, answer
from hubbub_server.analysis.lines import lines
from tests.server.site import Site, batch, system
from tests.statistics import Z

OPTIONS = [f"option {number}" for number in range(40)]
WORD = choice("word", options=OPTIONS, epsilon="1", mechanism="optimized_unary").of("tests")
COUNTS = np.array([5000, *[50] * 38, 3000])


def ask(seed: int, **more: object) -> Answer:
    tally = registry.build(WORD).simulate(COUNTS, seeded_coins(seed))
    return answer(WORD, tally, **more)  # type: ignore[arg-type]


def test_the_largest_shares_come_first_and_the_others_not_at_all() -> None:
    found = ask(1, top=2)

    assert [row.name for row in found.rows] == ["option 0", "option 39"]
    assert (found.top, found.document()["top"]) == (2, 2)
    assert "; the 2 largest, by intervals that hold for all options at once" in lines(found)


def test_more_than_there_are_is_all_of_them() -> None:
    found = ask(1, top=100)

    assert sorted(row.name for row in found.rows) == sorted(OPTIONS)
    assert found.rows[0].value == max(row.value or 0 for row in found.rows)


@pytest.mark.parametrize("about", ["respondents", "population"])
def test_each_interval_is_as_wide_as_all_of_them_need_to_hold_at_once(about: str) -> None:
    one, all_of_them = ask(1, level=1 - 0.05 / 40)["option 0"], ask(1, top=1)["option 0"]

    assert all_of_them.error(about) == one.error(about)  # type: ignore[arg-type]


def test_the_intervals_of_all_options_hold_at_once_as_often_as_they_say() -> None:
    rounds, truth = 1_000, dict(zip(OPTIONS, COUNTS / COUNTS.sum(), strict=True))

    missed = 0
    for seed in range(rounds):
        ends = [(row.name, *row.respondents.interval) for row in ask(seed, top=40).rows]  # type: ignore[misc]
        missed += any(not low <= truth[name] <= high for name, low, high in ends)

    assert missed <= 0.05 * rounds + Z * math.sqrt(0.05 * 0.95 * rounds)
    assert missed >= 0.05 * rounds - Z * math.sqrt(0.05 * 0.95 * rounds)


def test_without_reports_nothing_is_known_about_any() -> None:
    found = answer(WORD, Tally.zero(0), top=3)

    assert [row.value for row in found.rows] == [None, None, None]


@pytest.mark.parametrize("top", [0, -1])
def test_fewer_than_one_is_refused(top: int) -> None:
    with pytest.raises(DomainError, match="a whole number from 1"):
        ask(1, top=top)


def test_the_largest_are_asked_for_over_http_too(home: Site) -> None:
    home.post(batch(system([0, 1, 1, 2, 1])))

    (group,) = json.loads(home.estimate("system", top="1").data)["groups"]

    assert group["answer"]["top"] == 1
    assert len(group["answer"]["rows"]) == 1


def test_numbers_have_no_largest_share() -> None:
    seconds = number("seconds", low=0, high=1, epsilon=1).of("tests")

    with pytest.raises(DomainError, match="top is for shares of options"):
        answer(seconds, Tally.zero(0), top=1)


def test_a_yes_or_no_question_has_one() -> None:
    dark = boolean("dark", epsilon=1).of("tests")

    assert [row.name for row in answer(dark, Tally(10, np.array([5, 5])), top=1).rows] == ["yes"]
