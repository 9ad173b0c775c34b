"""This file proves that a change between two spans comes with the error that it has.

False alarms: each comparison by Z once in 10**9; coverage by a binomial count at Z standard errors.
"""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import boolean, choice, metric_of
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.analysis.answers import Answer, answer, answered
from hubbub_server.analysis.asking import ask
from hubbub_server.analysis.lines import lines
from hubbub_server.analysis.samples import Sample
from hubbub_server.catalog import Question
from hubbub_server.publication import publish
from tests.server.site import DARK, PERIOD, Column, Site, batch, code, dark, seconds, system
from tests.statistics import Z

WORD = choice("word", options=list("abcd"), epsilon="2", mechanism="optimized_unary").of("tests")


def groups(home: Site, metric: str, **query: Any) -> list[dict[str, Any]]:
    reply = home.estimate(metric, **query)
    assert reply.status_code == 200, reply.text
    return list(json.loads(reply.data)["groups"])


def value(home: Site, metric: str, **query: Any) -> float:
    return float(groups(home, metric, **query)[0]["answer"]["rows"][0]["value"])


def change(metric: Metric, later: Tally, earlier: Tally, **more: Any) -> Answer:
    question = Question(metric, registry.build(metric), later.cells.size)
    after, before = (
        Sample(((question, tally),), 1, "2027-01-04", "2027-01-11") for tally in (later, earlier)
    )
    return answered([question], after, ask(question, is_change=True, **more), before=before)


@pytest.fixture
def weeks(home: Site) -> Site:
    """Return a collector with three weeks of reports."""
    columns = [
        dark([1] * yes + [0] * no, period=PERIOD - back)
        for back, yes, no in [(0, 60, 40), (1, 90, 60), (2, 5, 45)]
    ]
    assert home.post(batch(*columns)).status_code == 200
    return home


def test_a_change_is_the_difference_of_two_answers_and_its_variance_the_sum_of_theirs(weeks: Site) -> None:
    (group,) = groups(weeks, "dark", against=str(PERIOD - 1))

    later, earlier = (
        groups(weeks, "dark", **{"from": str(first), "to": str(first + 1)})[0]["answer"]["rows"][0]
        for first in (PERIOD, PERIOD - 1)
    )
    (row,) = group["answer"]["rows"]
    assert row["value"] == pytest.approx(later["value"] - earlier["value"])
    own = [each["respondents"]["stderr"] for each in (later, earlier)]
    assert row["respondents"]["stderr"] == pytest.approx(math.hypot(*own))
    lucks = [
        math.sqrt(each["population"]["stderr"] ** 2 - each["respondents"]["stderr"] ** 2)
        for each in (later, earlier)
    ]
    assert row["population"]["stderr"] == pytest.approx(math.hypot(*own, sum(lucks)))
    assert (group["answer"]["n"], group["answer"]["since"]) == (
        100,
        {"start": "2026-12-28", "end": "2027-01-04", "n": 150},
    )


@pytest.mark.parametrize(
    ("query", "now", "then"),
    [
        ({"against": str(PERIOD - 1)}, 100, 150),
        ({"against": "2026-12-28"}, 100, 150),
        ({"against": "2027-01-03"}, 100, 150),
        ({"against": str(PERIOD - 2)}, 250, 50),
        ({"against": "2026-12-21/2027-01-04"}, 100, 200),
        ({"against": f"{PERIOD - 2}/{PERIOD}"}, 100, 200),
        ({"against": "2026-12-22/2027-01-04"}, 100, 150),
        ({"against": str(PERIOD), "to": str(PERIOD)}, 0, 100),
        ({"against": str(PERIOD), "from": "0", "to": str(PERIOD)}, 200, 100),
        ({"against": str(PERIOD - 2), "from": str(PERIOD - 1), "to": "2027-01-04"}, 150, 50),
    ],
    ids=str,
)
def test_what_is_compared_are_the_periods_that_are_named(
    weeks: Site, query: dict[str, str], now: int, then: int
) -> None:
    (group,) = groups(weeks, "dark", **query)

    assert (group["answer"]["n"], group["answer"]["since"]["n"]) == (now, then)


def test_by_period_each_is_compared_with_the_one_before_it(weeks: Site) -> None:
    found = groups(weeks, "dark", by="period", against="before")

    told = [
        (group["period"], group["answer"]["since"]["start"], group["answer"]["since"]["n"]) for group in found
    ]
    assert told == [
        (PERIOD - 2, "2026-12-14", 0),
        (PERIOD - 1, "2026-12-21", 50),
        (PERIOD, "2026-12-28", 150),
    ]
    assert [group["answer"]["rows"][0]["value"] is None for group in found] == [True, False, False]
    assert found[0]["answer"]["advice"][0].startswith("no reports of then, so no change is known")


def test_the_period_before_the_first_that_is_asked_for_is_read_too(weeks: Site) -> None:
    (group,) = groups(weeks, "dark", by="period", against="before", **{"from": str(PERIOD)})

    assert (group["answer"]["n"], group["answer"]["since"]["n"]) == (100, 150)


def test_by_period_every_later_one_is_compared_with_the_same(weeks: Site) -> None:
    found = groups(weeks, "dark", by="period", against=str(PERIOD - 2))

    assert [(group["period"], group["answer"]["since"]["n"]) for group in found] == [
        (PERIOD - 1, 50),
        (PERIOD, 50),
    ]


def test_by_label_each_is_compared_with_itself_even_if_it_came_once_only(home: Site) -> None:
    then = [seconds([5] * 3, label=0, period=PERIOD - 1), seconds([5] * 4, label=1, period=PERIOD - 1)]
    home.post(batch(*then, seconds([5] * 5, label=0), seconds([5] * 6, label=2)))

    found = groups(home, "seconds", by="label", against=str(PERIOD - 1))

    counts = {
        group["labels"]["version"]: (group["answer"]["n"], group["answer"]["since"]["n"]) for group in found
    }
    assert counts == {"1.0": (5, 3), "1.1": (0, 4), "other": (6, 0)}


def test_a_filter_holds_for_both_sides(home: Site) -> None:
    then = [seconds([5] * 3, label=0, period=PERIOD - 1), seconds([5] * 4, label=1, period=PERIOD - 1)]
    home.post(batch(*then, seconds([5] * 5, label=0), seconds([5] * 6, label=2)))

    (group,) = groups(home, "seconds", label=["version:1.0"], against=str(PERIOD - 1))

    assert (group["answer"]["n"], group["answer"]["since"]["n"]) == (5, 3)
    assert [row["name"] for row in group["answer"]["rows"]] == ["mean", "sum", "variance"]


def test_options_together_and_the_largest_changes_can_be_asked_for(home: Site) -> None:
    now, then = [0b001] * 30 + [0b010] * 10, [0b010] * 39 + [0b011]
    home.post(batch(system(now), system(then, period=PERIOD * 7 - 1)))

    (one,) = groups(home, "system", against=str(PERIOD * 7 - 1), any=["linux", "mac"])
    (top,) = groups(home, "system", against=str(PERIOD * 7 - 1), top="1")

    assert [row["name"] for row in one["answer"]["rows"]] == ["linux or mac"]
    q = 0.11920292202211755  # 1 / (1 + e^2), reference value computed with 50-digit arithmetic
    assert one["answer"]["rows"][0]["value"] == pytest.approx((40 - 41) / 40 / (0.5 - q))
    assert [row["name"] for row in top["answer"]["rows"]] == ["mac"]
    assert top["answer"]["rows"][0]["value"] == pytest.approx((10 - 40) / 40 / (0.5 - q))


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"against": "before"}, "ask by period"),
        ({"against": "yesterday"}, "by their number or by a date"),
        ({"against": "2027-01-04/"}, "has two ends"),
        ({"against": str(PERIOD), "from": str(PERIOD - 1)}, "no period can be compared with itself"),
        (
            {"against": str(PERIOD), "from": str(PERIOD), "by": "period"},
            "no period can be compared with itself",
        ),
        ({"against": [str(PERIOD), "1"]}, "each once at most"),
    ],
    ids=str,
)
def test_what_can_not_be_compared_is_refused(weeks: Site, query: dict[str, Any], why: str) -> None:
    reply = weeks.estimate("dark", **query)

    assert (reply.status_code, code(reply)) == (400, "bad_query")
    assert why in json.loads(reply.data)["detail"]


def test_a_change_has_no_view(home: Site) -> None:
    reply = home.estimate("system", view="norm-sub", against="5")

    assert "a change has no view" in json.loads(reply.data)["detail"]


@pytest.mark.parametrize("about", ["respondents", "population"])
def test_intervals_of_changes_hold_the_truth_as_often_as_they_say(about: str) -> None:
    rounds, coins, mechanism = 1_000, seeded_coins(91), registry.build(WORD)
    then, now = np.array([400, 300, 200, 100]), np.array([300, 300, 300, 100])
    truth = now / 1000 - then / 1000

    held = np.zeros(4)
    for _ in range(rounds):
        sides = [now, then]
        if about == "population":
            sides = [coins.generator.multinomial(1000, side / 1000) for side in sides]
        found = change(WORD, *(mechanism.simulate(side, coins) for side in sides))
        ends = np.array([getattr(row, about).interval for row in found.rows])
        held += (ends[:, 0] <= truth) & (truth <= ends[:, 1])

    slack = Z * math.sqrt(0.05 * 0.95 / rounds)
    assert (held / rounds > 0.95 - slack).all()
    if about == "respondents":
        assert (held / rounds < 0.95 + slack).all()


@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_as_many_reports_on_each_side_as_advised_tell_a_change_as_closely_as_promised(epsilon: str) -> None:
    metric = boolean("dark", epsilon=epsilon).of("tests")
    advice = change(metric, Tally(1, np.array([1, 0])), Tally(1, np.array([1, 0]))).advice[0]
    n = int(advice.split()[2].replace(",", ""))

    found = change(metric, *[Tally(n, np.array([n // 2, n - n // 2]))] * 2)

    low, high = found["yes"].population.interval or (0, 0)
    assert advice.startswith("few reports: ")
    assert 0.04 < (high - low) / 2 <= 0.0501
    assert not any("few reports" in sentence for sentence in found.advice)


def test_where_a_device_may_count_in_several_periods_of_a_side_that_is_said(weeks: Site) -> None:
    one = groups(weeks, "dark", against=str(PERIOD - 1))[0]["answer"]["advice"]
    several = groups(weeks, "dark", against=str(PERIOD - 2))[0]["answer"]["advice"]

    assert [any("both times" in sentence for sentence in told) for told in (one, several)] == [True, False]
    assert [any("too narrow" in sentence for sentence in told) for told in (one, several)] == [False, True]


def test_a_device_that_answers_once_for_good_counts_in_no_other_period(home: Site) -> None:
    sure = replace(DARK, once=True)
    publish(home.collector.store.manifests, Manifest(app="notepad", serial=2, metrics=(sure,)))
    home.post(batch(*(Column(sure.id, PERIOD - back, (), 2, b"\1\0") for back in range(3))))

    told = [groups(home, "dark"), groups(home, "dark", against=str(PERIOD - 2))]

    advice = [sentence for ((group,),) in zip(told, strict=True) for sentence in group["answer"]["advice"]]
    assert not any("too narrow" in sentence or "both times" in sentence for sentence in advice)


@pytest.mark.parametrize(
    ("kind", "parameters"), [("count_mean_sketch", {}), ("prefix_extension", {"pool": 64})]
)
def test_texts_are_compared_whether_they_are_named_or_found(kind: str, parameters: dict[str, int]) -> None:
    table = {"kind": "text", "length": 4, "epsilon": "4", "mechanism": kind, "parameters": parameters}
    metric = metric_of("browser", table).of("notepad")
    mechanism, coins = registry.build(metric), seeded_coins(92)

    def tally(fire: int, other: int) -> Tally:
        held = ["fire"] * fire + ["ice"] * other
        return mechanism.tally(
            mechanism.perturb(np.array([metric.domain.encode(text) for text in held]), coins)
        )

    later, earlier = tally(3000, 1000), tally(1000, 3000)

    named = change(metric, later, earlier, candidates=["fire", "fox"])
    found = change(metric, later, earlier)

    error = mechanism.stderr(4000) * math.sqrt(2)
    assert [row.name for row in named.rows] == ["fire", "fox"]
    assert [row.value for row in named.rows] == [pytest.approx(true, abs=Z * error) for true in (0.5, 0)]
    assert ("fire" in [row.name for row in found.rows]) == (kind == "prefix_extension")


def test_memos_of_several_periods_are_compared_as_if_drawn_anew(home: Site) -> None:
    word = choice("word", options=["a", "b"], epsilon="4", mechanism="l_grr", parameters={"first": "2"}).of(
        "diary"
    )
    publish(home.collector.store.manifests, Manifest(app="diary", serial=1, metrics=(word,)))
    mechanism, coins = registry.build(word), seeded_coins(93)
    for back in range(3):
        reports = mechanism.perturb(np.arange(500) % 2, coins)
        home.post(batch(Column(word.id, PERIOD - back, (), 500, reports.tobytes())))

    (group,) = groups(home, "word", against=str(PERIOD - 2))

    (later,) = groups(home, "word", **{"from": str(PERIOD - 1)})
    (earlier,) = groups(home, "word", to=str(PERIOD - 1))
    row, *own = (each["answer"]["rows"][0]["respondents"]["stderr"] for each in (group, later, earlier))
    assert (group["answer"]["n"], group["answer"]["since"]["n"]) == (1000, 500)
    assert row == pytest.approx(math.hypot(*own))
    assert any("drawn anew" in sentence for sentence in group["answer"]["advice"])


def test_a_change_is_printed_in_points_and_says_since_when() -> None:
    found = change(
        WORD, Tally(1000, np.array([500, 300, 200, 100])), Tally(900, np.array([300, 300, 200, 100]))
    )

    first, head, _, row, *_ = lines(found).splitlines()

    assert first.startswith("word: 1,000 reports by optimized_unary, epsilon 2; ")
    assert first.endswith("; change since 2027-01-04 to 2027-01-11, 900 reports")
    assert head.split()[0] == "change"
    assert row.startswith("a ")
    assert "points" in row
    assert "%" not in row


def test_without_a_change_nothing_is_said_of_one() -> None:
    found = answer(DARK, Tally(10, np.array([5, 5])))

    assert found.since is None
    assert not any("both times" in sentence for sentence in found.advice)
