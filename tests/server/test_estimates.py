"""This file proves that estimates are grouped, bounded and spelt as asked."""

import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub.period import DAY, start_of
from hubbub_server.commands.cli import command
from tests.server.site import METRICS, PERIOD, Site, batch, code, dark, seconds, system


def day(period: int, *, days: int = 0) -> str:
    """Return so many days after a period's start."""
    return datetime.fromtimestamp(start_of(period, 7) + days * DAY, UTC).date().isoformat()


def groups(home: Site, metric: str, **query: str) -> list[dict[str, Any]]:
    answer = home.estimate(metric, **query)
    assert answer.status_code == 200, answer.text
    return list(json.loads(answer.data)["groups"])


def test_without_reports_there_is_an_honest_answer(home: Site) -> None:
    (group,) = groups(home, "system")

    assert group["answer"]["n"] == 0
    assert [row["value"] for row in group["answer"]["rows"]] == [None, None, None]
    assert group["answer"]["advice"][0].startswith("no reports, so nothing is known; ")
    assert "outside" not in " ".join(group["answer"]["advice"])
    assert groups(home, "system", by="period") == groups(home, "system", by="label") == []


@pytest.mark.parametrize(
    "query",
    [
        {"from": day(PERIOD, days=1)},  # in the middle of the newest period
        {"from": "2099-01-01"},
        {"to": day(PERIOD - 2)},
        {"from": str(PERIOD + 1), "label": "version:1.0"},
    ],
)
def test_reports_outside_of_the_span_that_was_asked_for_are_told_of(
    home: Site, query: dict[str, str]
) -> None:
    home.post(batch(seconds([5], label=0), seconds([6, 7], label=2), seconds([8], period=PERIOD - 1)))

    (group,) = groups(home, "seconds", **query)

    assert group["answer"]["n"] == 0
    assert group["answer"]["advice"][-1] == (
        f"outside of this span: 4 reports, in periods that start from {day(PERIOD - 1)} to {day(PERIOD)}; "
        "a span has the periods that start in it"
    )


def test_reports_with_other_labels_than_were_asked_for_are_told_of(home: Site) -> None:
    home.post(batch(seconds([5], label=0), seconds([8], label=0, period=PERIOD - 1)))

    (group,) = groups(home, "seconds", label="version:1.1", **{"from": str(PERIOD)})

    assert group["answer"]["advice"][-1] == "in this span: 1 report, with other labels"


def test_one_group_holds_all_periods_and_labels(home: Site) -> None:
    home.post(batch(seconds([5], label=0), seconds([6, 7], label=2), seconds([8], period=PERIOD - 1)))

    (group,) = groups(home, "seconds")

    assert group["answer"]["n"] == 4
    assert set(group) == {"answer"}


def test_by_label_there_is_a_group_for_each_value_that_came(home: Site) -> None:
    home.post(batch(seconds([5], label=2), seconds([6, 7], label=0)))

    found = groups(home, "seconds", by="label")

    assert [(group["labels"], group["answer"]["n"]) for group in found] == [
        ({"version": "1.0"}, 2),
        ({"version": "other"}, 1),
    ]


def test_by_period_there_is_a_group_for_each_with_its_day(home: Site) -> None:
    home.post(batch(dark([1, 1]), dark([0], period=PERIOD - 1)))

    found = groups(home, "dark", by="period")

    assert [(group["period"], group["start"], group["answer"]["n"]) for group in found] == [
        (PERIOD - 1, "2026-12-28", 1),
        (PERIOD, "2027-01-04", 2),
    ]


@pytest.mark.parametrize(
    ("span", "counted"),
    [
        ({}, 7),
        ({"from": str(PERIOD)}, 4),
        ({"to": str(PERIOD)}, 3),
        ({"from": str(PERIOD - 1), "to": str(PERIOD)}, 2),
        ({"from": str(PERIOD), "to": str(PERIOD)}, 0),
        ({"from": "9" * 10}, 0),
        ({"from": "2027-01-04"}, 4),
        ({"to": "2027-01-04"}, 3),
        ({"from": "2027-01-05"}, 0),
        ({"to": "2027-01-05"}, 7),
        ({"from": "2026-12-22", "to": "2027-01-04"}, 2),
        ({"from": "1900-01-01", "to": "9999-01-01"}, 7),
    ],
)
def test_a_span_is_half_open_in_periods_and_days(home: Site, span: dict[str, str], counted: int) -> None:
    home.post(batch(dark([1] * 4), dark([1] * 2, period=PERIOD - 1), dark([1], period=PERIOD - 2)))

    (group,) = groups(home, "dark", **span)

    assert group["answer"]["n"] == counted


def test_the_answer_is_that_of_the_mechanism(home: Site) -> None:
    reports = [1] * 600 + [0] * 400
    home.post(batch(dark(reports)))

    (row,) = groups(home, "dark")[0]["answer"]["rows"]

    p = 0.7310585786300049  # e / (1 + e), reference value computed with 50-digit arithmetic
    assert row["value"] == pytest.approx((0.6 - (1 - p)) / (2 * p - 1), abs=1e-12)
    assert row["respondents"]["interval"][0] < row["value"] < row["respondents"]["interval"][1]


def test_about_leaves_the_other_error_out(home: Site) -> None:
    home.post(batch(system([0b001] * 50)))

    one, other, both = (
        set(groups(home, "system", **query)[0]["answer"]["rows"][0])
        for query in ({"about": "population"}, {"about": "respondents"}, {})
    )

    assert both - one == {"respondents"}
    assert both - other == {"population"}


def test_a_view_and_a_level_are_what_was_asked_for(home: Site) -> None:
    home.post(batch(system([0b001] * 50)))

    answer = groups(home, "system", view="norm-sub", level="0.5")[0]["answer"]

    assert (answer["view"], answer["level"]) == ("norm-sub", 0.5)
    assert sum(row["viewed"] for row in answer["rows"]) == pytest.approx(1)


@pytest.mark.parametrize("view", ["raw", "norm-sub", "shrunk"])
@pytest.mark.parametrize("n", [0, 1, 2, 1000])
@pytest.mark.parametrize("metric", [metric.name for metric in METRICS.metrics])
def test_an_answer_is_json_that_everybody_reads(home: Site, metric: str, n: int, view: str) -> None:
    columns = {
        "dark": dark([1] * n or [1]),
        "seconds": seconds([5] * n or [1]),
        "system": system([1] * n or [1]),
    }
    sent = [home.post(batch(columns[metric])) for _ in range(min(n, 1))]

    answer = home.estimate(metric, view=view)

    assert len(sent) == min(n, 1)
    assert answer.status_code == (400 if view != "raw" and metric != "system" else 200)
    json.loads(answer.data, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_the_cost_of_an_answer_does_not_grow_with_the_reports(home: Site) -> None:
    for _ in range(20):
        home.post(batch(dark([0, 1] * 1000)))

    cells = list(home.collector.store.batches.tallies(METRICS["dark"].id, range(2**31)))

    assert len(cells) == 1
    assert home.counted("dark") == 40_000


def test_a_metric_is_found_by_id_name_and_app(home: Site) -> None:
    home.post(batch())

    assert [home.counted(name) for name in ("dark", "notepad/dark", METRICS["dark"].id.hex())] == [3, 3, 3]


@pytest.mark.parametrize(
    "name", ["light", "calendar/dark", "/dark/", "0" * 64, METRICS["dark"].id.hex().upper()]
)
def test_an_unknown_metric_is_not_found(home: Site, name: str) -> None:
    answer = home.estimate(name)

    assert (answer.status_code, code(answer)) == (404, "not_found")


def test_a_day_is_a_day(home: Site) -> None:
    home.clock.now -= DAY

    home.post(batch(system([1], period=PERIOD * 7)))

    assert groups(home, "system", by="period")[0]["start"] == "2027-01-04"


def run(home: Site, *arguments: str) -> str:
    """Return what the command prints."""
    settings = home.database.parent / "hubbub.toml"
    settings.write_text(f'database = "{home.database}"\n')
    done = CliRunner().invoke(command, ["estimate", *arguments, "--config", str(settings)])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("about", ["population", "respondents"])
def test_every_form_leaves_the_other_error_out(home: Site, about: str) -> None:
    home.post(batch(system([0b001] * 50)))
    other = {"population": "respondents", "respondents": "population"}[about]

    forms = {
        form: run(home, "system", "--about", about, "--format", form)
        for form in ("table", "csv", "ndjson", "json")
    }

    heads = [
        forms["table"].splitlines()[1],
        forms["csv"].splitlines()[0],
        *json.loads(forms["ndjson"].splitlines()[0]),
        *json.loads(forms["json"])["groups"][0]["answer"]["rows"][0],
    ]
    assert any(about in head for head in heads)
    assert not any(other in head for head in heads)


def test_lines_for_programs_say_what_each_row_is_about(home: Site) -> None:
    home.post(batch(seconds([5], label=2), seconds([6, 7], label=0)))

    printed = run(home, "seconds", "--by", "period,label", "--format", "ndjson")
    rows = list(csv.DictReader(io.StringIO(run(home, "seconds", "--by", "period,label", "--format", "csv"))))

    first, *_, last = (json.loads(line) for line in printed.splitlines())
    assert [(row["start"], row["label_version"], row["n"], row["name"]) for row in (first, last)] == [
        ("2027-01-04", "1.0", 2, "mean"),
        ("2027-01-04", "other", 1, "variance"),
    ]
    assert {"epsilon", "mechanism", "level", "view", "periods", "warnings", "advice"} <= set(first)
    assert list(rows[0]) == list(first)
    assert [row["value"] for row in rows[:2]] == [
        str(json.loads(line)["value"]) for line in printed.splitlines()[:2]
    ]


def test_lines_for_programs_of_a_change_say_since_when(home: Site) -> None:
    home.post(batch(dark([1, 0]), dark([1], period=PERIOD - 1)))

    line = json.loads(run(home, "dark", "--against", str(PERIOD - 1), "--format", "ndjson"))

    assert (line["since"], line["since_end"], line["since_n"]) == ("2026-12-28", "2027-01-04", 1)


def test_no_groups_are_no_lines_below_the_heads_that_some_would_have(home: Site) -> None:
    table, csv, ndjson = (
        run(home, "dark", "--by", "label", "--format", form) for form in ("table", "csv", "ndjson")
    )

    assert table.startswith("all: dark: 0 reports by randomized_response")
    assert (csv.count("\n"), ndjson) == (1, "")
    assert csv.startswith("metric,id,")


@pytest.mark.parametrize(
    ("form", "media"), [("csv", "text/csv; charset=utf-8"), ("ndjson", "application/x-ndjson")]
)
@pytest.mark.parametrize("query", [{}, {"by": "period"}, {"by": "label", "from": str(PERIOD + 1)}], ids=str)
def test_lines_are_the_same_over_http_as_those_of_the_command(
    home: Site, form: str, media: str, query: dict[str, str]
) -> None:
    home.post(batch(seconds([5], label=2), seconds([6, 7], period=PERIOD - 1)))

    told = home.estimate("seconds", about="population", format=form, **query)

    words = [word for name, value in query.items() for word in (f"--{name}", value)]
    assert told.text == run(home, "seconds", "--about", "population", "--format", form, *words)
    assert (told.status_code, told.content_type) == (200, media)


def test_an_unknown_parameter_is_named(home: Site) -> None:
    reply = home.estimate("dark", form="csv")

    assert code(reply) == "bad_query"
    assert json.loads(reply.data)["detail"].startswith("one is unknown; parameters are metric, from, ")
