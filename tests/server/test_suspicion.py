"""This file proves what a collector says about fake reports, and when it says nothing.

False alarms: none of these can fail by chance more often than once in 10**9.
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner, Result

from hubbub import registry
from hubbub.batch import Column
from hubbub.declaration import metric_of
from hubbub.errors import DomainError
from hubbub.manifest import Manifest
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.analysis.answers import answer
from hubbub_server.analysis.suspicion import MOST, suspicion, suspicions
from hubbub_server.catalog import Question
from hubbub_server.commands.cli import command
from hubbub_server.publication import publish
from hubbub_server.store.protocol import Store
from tests.server.changes import METRIC, deposit
from tests.server.site import PERIOD, SECONDS, SYSTEM, Site, batch, code, dark, seconds, system

MECHANISM = registry.build(SYSTEM)  # of three options, with a tick for each


def honest(n: int, seed: int = 1) -> list[int]:
    reports = MECHANISM.perturb(np.arange(n) % 3, seeded_coins(seed))
    return [int(report) for report in reports[:, 0]]


def ask(home: Site, metric: str, **query: str) -> "dict[str, object]":
    response = home.client.get(
        "/v1/suspicion", query_string={"metric": metric, **query}, headers=home.bearer("analyst")
    )
    assert response.status_code == 200, response.data
    found: dict[str, object] = response.json
    return found


def run(home: Site, *words: str) -> Result:
    file = home.database.parent / "hubbub.toml"
    file.write_text(f'database = "{home.database}"\n')
    return CliRunner().invoke(command, [*words, "--config", str(file)])


def test_honest_reports_raise_no_suspicion_whatever_they_say(home: Site) -> None:
    home.post(batch(system(honest(3_000)), dark([1] * 10), seconds([0, 500, 1024])))

    found = [ask(home, name) for name in ("system", "dark", "seconds")]

    assert [each["periods"][0]["findings"] for each in found] == [[], [], []]  # type: ignore[index]
    assert [each["periods"][0]["n"] for each in found] == [3_000, 10, 3]  # type: ignore[index]
    assert home.estimate("system").json["groups"][0]["answer"]["warnings"] == []  # type: ignore[index]


def test_reports_that_no_crowd_could_send_are_found_in_their_sums_and_one_by_one(home: Site) -> None:
    home.post(batch(system(honest(1_000) + [0b111] * 500)))

    period = ask(home, "system")["periods"][0]  # type: ignore[index]

    statistics = {finding["statistic"] for finding in period["findings"]}
    assert {"ticks in all reports", "reports with 3 ticks"} <= statistics
    assert any(text.startswith("reports that support both ") for text in statistics)
    assert all(0 < finding["p_value"] < 1e-9 for finding in period["findings"])
    assert (period["n"], period["inspected"], period["is_tested"]) == (1_500, 1_500, True)


def test_a_chance_is_that_of_anything_that_was_looked_at_to_be_so_odd(home: Site) -> None:
    home.post(batch(dark([1] * 100)))

    (finding,) = ask(home, "dark")["periods"][0]["findings"]  # type: ignore[index]

    p = 0.7310585786300049  # e / (1 + e), reference value computed with 50-digit arithmetic
    assert finding["p_value"] == pytest.approx(
        2 * 2 * 2 * p**100, rel=1e-6, abs=0
    )  # options, ends, sums or reports


def test_a_broken_law_of_sums_is_a_warning_beside_the_estimate_which_stays_as_it_is(home: Site) -> None:
    home.post(batch(system(honest(1_000) + [0b111] * 500)))

    answer = home.estimate("system").json["groups"][0]["answer"]  # type: ignore[index]

    warning = answer["warnings"][0]
    assert warning["statistic"] == "ticks in all reports"
    assert warning["sentence"].startswith("ticks in all reports: ")
    assert answer["n"] == 1_500
    assert run(home, "estimate", "system").output.count("warning: ") == len(answer["warnings"])
    assert warning["sentence"] in run(home, "estimate", "system", "--format", "csv").output


def test_options_are_named_as_the_metric_calls_them(home: Site) -> None:
    home.post(batch(system([0b001] * 300), dark([0] * 300)))

    system_found, dark_found = ask(home, "system"), ask(home, "dark")

    statistics = {each["statistic"] for each in system_found["periods"][0]["findings"]}  # type: ignore[index]
    assert "reports that support linux" in statistics
    (finding,) = dark_found["periods"][0]["findings"]  # type: ignore[index]
    assert finding["statistic"] in ("reports that support no", "reports that support yes")
    assert finding["law"] == "reports that support ..."


def test_each_period_is_tested_by_itself(home: Site) -> None:
    first = 7 * PERIOD
    home.post(batch(system(honest(500), period=first), system([0b111] * 500, period=first + 1)))
    home.clock.now += 86_400

    every, second = ask(home, "system"), ask(home, "system", **{"from": str(first + 1)})

    assert [bool(each["findings"]) for each in every["periods"]] == [False, True]  # type: ignore[attr-defined]
    assert [each["period"] for each in second["periods"]] == [first + 1]  # type: ignore[attr-defined]
    assert every["alarm"] == 1e-9


def test_reports_far_beyond_the_range_are_found(home: Site) -> None:
    mechanism = registry.build(SECONDS)
    true = mechanism.perturb(np.full(2_000, 5.0), seeded_coins(2)).tolist()
    home.post(batch(seconds(true + [25_000] * 40)))

    found = ask(home, "seconds")["periods"][0]["findings"]  # type: ignore[index]

    assert "reports that lie 16 scales of the noise or more beyond the high end of the range" in {
        each["statistic"] for each in found
    }


def test_of_many_reports_a_part_is_looked_at_of_each_combination_of_labels(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hubbub_server.analysis.suspicion.MOST", 90)
    home.post(batch(seconds([3] * 70, label=0), seconds([3] * 20, label=1), seconds([3] * 70, label=2)))

    period = ask(home, "seconds")["periods"][0]  # type: ignore[index]

    assert (period["n"], period["inspected"]) == (160, 30 + 20 + 30)
    assert MOST == 50_000


def test_a_wrong_question_is_a_problem(home: Site) -> None:
    def get(key: str, **query: str) -> str:
        return code(home.client.get("/v1/suspicion", query_string=query, headers=home.bearer(key)))

    problems = [
        get("analyst"),
        get("analyst", metric="system", by="period"),
        get("analyst", metric="system", to="yesterday"),
        get("analyst", metric="nobody"),
        get("ingest", metric="system"),
    ]

    assert problems == ["bad_query", "bad_query", "bad_query", "not_found", "forbidden"]


def test_an_operator_is_told_in_words_and_by_the_exit_code(home: Site) -> None:
    home.post(batch(dark([0, 1] * 100), system([0b111] * 500)))

    nothing, something = run(home, "suspicion", "dark"), run(home, "suspicion", "system")

    assert (nothing.exit_code, something.exit_code) == (0, 1)
    assert nothing.output == "from 2027-01-04: 200 reports: nothing found\n"
    assert something.output.splitlines()[1].startswith("warning: reports that support ")
    assert run(home, "suspicion", "seconds").output == "no reports\n"


def test_programs_get_the_same_from_the_command_as_over_http(home: Site) -> None:
    home.post(batch(system([0b111] * 500)))

    printed = run(home, "suspicion", "system", "--format", "json").output

    assert json.loads(printed) == ask(home, "system")


def test_periods_that_take_too_long_together_are_refused(home: Site) -> None:
    first = 7 * PERIOD
    home.post(batch(system(honest(9), period=first), system(honest(9), period=first + 1)))
    home.clock.now += 86_400
    seconds_of = iter([0, 21])

    def look(**span: str) -> int:
        store, catalog = home.collector.store.batches, home.collector.catalog
        asked = suspicion(store, catalog, metric="system", longest=20, clock=lambda: next(seconds_of), **span)
        return len(asked.periods)

    with pytest.raises(DomainError, match="0 of 2 periods took 20 seconds already"):
        look()
    seconds_of = iter([0, 1, 21])
    with pytest.raises(DomainError, match="1 of 2 periods took 20 seconds already"):
        look()
    seconds_of = iter([0, 1])
    assert look(first=str(first + 1)) == 1


def test_answers_about_all_facts_at_once_are_named_as_an_estimate_names_them() -> None:
    facts = [["dark", {"kind": "boolean"}], ["system", {"kind": "choice", "options": ["linux", "mac"]}]]
    table = {"kind": "record", "attributes": facts, "epsilon": "1", "mechanism": "joint_response"}
    metric = metric_of("device", table).of("notepad")
    question = Question(metric, registry.build(metric), 4)

    (finding,) = suspicions(question, Tally(1_000, np.array([0, 0, 1_000, 0])))

    assert finding.statistic == "reports that support dark = yes, system = linux"
    assert finding.statistic.removeprefix("reports that support ") in {
        row.name for row in answer(metric, Tally(9, np.array([2, 2, 3, 2]))).rows
    }


def test_of_a_large_cell_no_more_is_read_than_a_page_or_two(store: Store) -> None:
    store.batches.commit([deposit(str(number)) for number in range(2_500)])

    some, every = (list(store.batches.reports(METRIC, range(7, 8), most=most)) for most in (900, None))

    assert 900 <= len(some) <= 2_000
    assert len(every) == 2_500


def test_where_no_law_is_known_that_is_said(home: Site) -> None:
    table = 'kind = "vector"\nsize = 1\nnorm = 1\nepsilon = "1"\nmechanism = "gaussian"\ndelta = "1e-9"'
    vectors = Manifest.from_toml(f'format = 1\napp = "other"\nserial = 1\n[metrics.step]\n{table}\n')
    publish(home.collector.store.manifests, vectors)
    home.post(batch(Column(vectors["step"].id, PERIOD, (), 3, np.arange(3, dtype="<i4").tobytes())))

    (period,) = ask(home, "step")["periods"]  # type: ignore[misc]

    assert (period["is_tested"], period["findings"]) == (False, [])
    assert run(home, "suspicion", "step").output == (
        "from 2027-01-04: 3 reports: no law of honest reports is known\n"
    )
