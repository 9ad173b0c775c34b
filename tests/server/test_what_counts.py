"""This file proves that labels choose which reports count, and that periods and labels group them."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_server.commands.cli import command
from hubbub_server.publication import publish
from tests.server.site import PERIOD, Column, Site, batch, code, seconds

BOTH = boolean(
    "both", epsilon="1", labels={"version": ["1.0", "1.1", "other"], "colour": ["red:ish", "blue"]}
).of("painter")


def both(n: int, version: int, colour: int, *, period: int = PERIOD) -> Column:
    return Column(BOTH.id, period, (version, colour), n, bytes(n))


@pytest.fixture
def house(home: Site) -> Site:
    publish(home.collector.store.manifests, Manifest(app="painter", serial=1, metrics=(BOTH,)))
    home.post(
        batch(both(1, 0, 0), both(2, 0, 1), both(4, 1, 0), both(8, 2, 1), both(16, 2, 1, period=PERIOD - 1))
    )
    return home


def groups(home: Site, metric: str, **query: Any) -> list[dict[str, Any]]:
    answer = home.estimate(metric, **query)
    assert answer.status_code == 200, answer.text
    return list(json.loads(answer.data)["groups"])


@pytest.mark.parametrize(
    ("labels", "counted"),
    [
        ([], 31),
        (["version:1.0"], 3),
        (["version:1.0", "version:1.1"], 7),
        (["colour:blue"], 26),
        (["colour:red:ish"], 5),
        (["version:1.0", "colour:blue"], 2),
        (["version:1.0", "version:other", "colour:blue"], 26),
        (["version:1.1", "colour:blue"], 0),
    ],
    ids=str,
)
def test_any_named_value_of_a_label_counts_and_every_named_label_must_fit(
    house: Site, labels: list[str], counted: int
) -> None:
    (group,) = groups(house, "both", label=labels)

    assert group["answer"]["n"] == counted


def test_labels_choose_within_a_span_and_within_groups(house: Site) -> None:
    (one,) = groups(house, "both", label=["version:other"], **{"from": str(PERIOD)})
    found = groups(house, "both", label=["colour:blue"], by="label")

    assert one["answer"]["n"] == 8
    assert [(group["labels"]["version"], group["answer"]["n"]) for group in found] == [
        ("1.0", 2),
        ("other", 24),
    ]


@pytest.mark.parametrize("by", ["period,label", "label,period"])
def test_by_period_and_label_there_is_a_group_for_each_pair_that_came(house: Site, by: str) -> None:
    found = groups(house, "both", by=by, label=["colour:blue"])

    told = [(group["period"], group["start"], group["labels"], group["answer"]["n"]) for group in found]
    assert told == [
        (PERIOD - 1, "2026-12-28", {"version": "other", "colour": "blue"}, 16),
        (PERIOD, "2027-01-04", {"version": "1.0", "colour": "blue"}, 2),
        (PERIOD, "2027-01-04", {"version": "other", "colour": "blue"}, 8),
    ]


def test_the_number_of_periods_is_told(house: Site) -> None:
    (every,), last = groups(house, "both"), groups(house, "both", by="period")[-1]

    assert (every["answer"]["periods"], last["answer"]["periods"]) == (2, 1)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"label": ["version"]}, "a label to count is told by name:value"),
        ({"label": ["edition:1"]}, "labels are version, colour"),
        ({"label": ["version:2.0"]}, "label version has no value '2.0'; values are 1.0, 1.1, other"),
        ({"label": [""]}, "a label to count is told by name:value"),
        ({"by": "period, label"}, 'by must be one of "period", "label", "period,label", "label,period"'),
        ({"by": "label,label"}, "by must be"),
        ({"by": ["label", "period"]}, "each once at most"),
    ],
    ids=str,
)
def test_what_can_not_choose_or_group_is_refused(house: Site, query: dict[str, Any], why: str) -> None:
    answer = house.estimate("both", **query)

    assert (answer.status_code, code(answer)) == (400, "bad_query")
    assert why in json.loads(answer.data)["detail"]


def test_a_metric_without_labels_has_none_to_choose_by(house: Site) -> None:
    answer = house.estimate("dark", label=["version:1.0"])  # type: ignore[arg-type]

    assert json.loads(answer.data)["detail"].endswith("labels are none")


def test_the_command_takes_the_same(home: Site) -> None:
    home.post(batch(seconds([5], label=2), seconds([6, 7], label=0)))
    settings = home.database.parent / "hubbub.toml"
    settings.write_text(f'database = "{home.database}"\n')

    asked = [
        "estimate",
        "seconds",
        "--by",
        "period,label",
        "--label",
        "version:other",
        "--config",
        str(settings),
    ]
    result = CliRunner().invoke(command, asked)

    assert result.exit_code == 0, result.output
    assert result.output.startswith(
        "from 2027-01-04, version other: seconds: 1 report by laplace, epsilon 1\n"
    )
