"""This file proves that versions of a metric are answered together where that is right, and only there.

False alarms: each comparison by Z once in 10**9.
"""

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from hubbub import registry
from hubbub.declaration import metric_of
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.commands.cli import command
from hubbub_server.publication import publish
from tests.server.site import PERIOD, Column, Site, batch, code
from tests.statistics import Z

CHOICE = {"kind": "choice", "options": ["linux", "mac", "other"], "epsilon": "1"}
SHARES = np.array([0.5, 0.3, 0.2])


def version(**differences: Any) -> Metric:
    return metric_of("asked", CHOICE | differences).of("painter")


def published(home: Site, *metrics: Metric) -> None:
    """Put versions in force, one after the other."""
    for serial, metric in enumerate(metrics, start=1):
        publish(home.collector.store.manifests, Manifest(app="painter", serial=serial, metrics=(metric,)))


def send(home: Site, metric: Metric, n: int, *, period: int = PERIOD, labels: tuple[int, ...] = ()) -> None:
    mechanism = registry.build(metric)
    held = np.arange(3).repeat((SHARES * n).astype(int))
    reports = mechanism.perturb(held, seeded_coins(n + len(metric.mechanism)))
    answer = home.post(batch(Column(metric.id, period, labels, len(held), reports.tobytes())))
    assert answer.status_code == 200, answer.text


def groups(home: Site, **query: Any) -> list[dict[str, Any]]:
    reply = home.estimate("asked", **query)
    assert reply.status_code == 200, reply.text
    return list(json.loads(reply.data)["groups"])


def refusal(home: Site, **query: Any) -> str:
    reply = home.estimate("asked", **query)
    assert (reply.status_code, code(reply)) == (400, "bad_query")
    return str(json.loads(reply.data)["detail"])


OLD, NEW = version(), version(epsilon="3", mechanism="optimized_unary", labels={"edition": ["a", "b"]})


def test_a_name_alone_stands_for_the_newest_version(home: Site) -> None:
    published(home, OLD, NEW)
    send(home, OLD, 100)
    send(home, NEW, 50, labels=(0,))

    (group,) = groups(home)

    assert (group["answer"]["n"], group["answer"]["versions"]) == (50, [])


def test_versions_of_other_epsilon_mechanism_and_labels_are_one_mean_by_their_numbers(home: Site) -> None:
    published(home, OLD, NEW)
    send(home, OLD, 3000)
    send(home, NEW, 1000, labels=(0,))

    answer = groups(home, versions="all")[0]["answer"]

    alone = [
        json.loads(home.estimate(metric.id.hex()).data)["groups"][0]["answer"]["rows"]
        for metric in (OLD, NEW)
    ]
    for place, row in enumerate(answer["rows"]):
        old, new = (rows[place] for rows in alone)
        assert row["value"] == pytest.approx((3 * old["value"] + new["value"]) / 4)
        errors = [each["respondents"]["stderr"] for each in (old, new)]
        assert row["respondents"]["stderr"] ** 2 == pytest.approx((9 * errors[0] ** 2 + errors[1] ** 2) / 16)
        assert abs(row["value"] - SHARES[place]) < Z * row["respondents"]["stderr"]
    assert answer["n"] == 4000


def test_which_versions_were_put_together_is_told(home: Site) -> None:
    published(home, OLD, NEW)
    send(home, OLD, 100)
    send(home, NEW, 50, labels=(0,))

    answer = groups(home, versions="all")[0]["answer"]

    assert answer["versions"] == [
        {"id": NEW.id.hex(), "epsilon": "3", "mechanism": "optimized_unary", "n": 50},
        {"id": OLD.id.hex(), "epsilon": "1", "mechanism": "randomized_response", "n": 100},
    ]
    assert (answer["id"], answer["epsilon"]) == (NEW.id.hex(), "3")
    assert answer["mechanism"] == "optimized_unary, randomized_response"


def test_a_version_without_reports_adds_nothing(home: Site) -> None:
    published(home, OLD, NEW)
    send(home, OLD, 100)

    answer = groups(home, versions="all")[0]["answer"]

    alone = json.loads(home.estimate(OLD.id.hex()).data)["groups"][0]["answer"]
    assert answer["rows"] == alone["rows"]
    assert [each["n"] for each in answer["versions"]] == [0, 100]


def test_no_reports_of_any_version_are_an_honest_answer(home: Site) -> None:
    published(home, OLD, NEW)

    answer = groups(home, versions="all")[0]["answer"]

    assert answer["n"] == 0
    assert [row["value"] for row in answer["rows"]] == [None] * 3


def test_versions_can_be_chosen_by_their_ids(home: Site) -> None:
    other = version(options=["linux", "mac", "windows"])
    published(home, OLD, NEW, other)
    send(home, OLD, 100)
    send(home, NEW, 50, labels=(1,))

    (group,) = groups(home, versions=[OLD.id.hex(), NEW.id.hex()])
    (one,) = groups(home, versions=[OLD.id.hex()])

    assert (group["answer"]["n"], group["answer"]["id"]) == (150, NEW.id.hex())
    assert (one["answer"]["n"], one["answer"]["id"]) == (100, OLD.id.hex())


@pytest.mark.parametrize(
    ("differences", "why"),
    [
        ({"options": ["linux", "mac"]}, "what is asked"),
        ({"options": ["mac", "linux", "other"]}, "what is asked"),
        ({"source": "elsewhere"}, "source"),
        ({"absent": "other"}, "what silence stands for"),
    ],
    ids=str,
)
def test_what_asks_something_else_is_refused_and_named(
    home: Site, differences: dict[str, Any], why: str
) -> None:
    older = version(**differences)
    published(home, older, NEW)

    detail = refusal(home, versions="all")

    assert detail == (
        f'version {older.id.hex()[:12]} of "asked" does not go together with the newest, '
        f"it differs in {why}; name those that do by their ids"
    )


def test_what_tells_other_rows_is_refused(home: Site) -> None:
    number = {"kind": "number", "range": [0, 10], "epsilon": "1"}
    metrics = [
        metric_of("asked", number | {"mechanism": kind}).of("painter") for kind in ("laplace", "square_wave")
    ]
    published(home, *metrics)

    assert "it differs in the rows that its mechanism tells" in refusal(home, versions="all")


def test_means_of_numbers_go_together_whatever_else_their_mechanisms_tell(home: Site) -> None:
    number = {"kind": "number", "range": [0, 10], "epsilon": "1"}
    kinds = ("laplace", "integer_table", "one_bit_mean")
    metrics = [metric_of("asked", number | {"mechanism": kind}).of("painter") for kind in kinds]
    published(home, *metrics)
    for metric in metrics:
        mechanism = registry.build(metric)
        reports = mechanism.perturb(np.full(400, 7.5), seeded_coins(95))
        home.post(batch(Column(metric.id, PERIOD, (), 400, reports.tobytes())))

    answer = groups(home, versions="all")[0]["answer"]

    (row,) = answer["rows"]
    assert (row["name"], answer["n"]) == ("mean", 1200)
    assert abs(row["value"] - 7.5) < Z * row["respondents"]["stderr"]


def test_selections_of_other_epsilons_estimate_other_things_and_are_refused(home: Site) -> None:
    selection = {"kind": "selection", "options": ["a", "b"]}
    metrics = [metric_of("asked", selection | {"epsilon": epsilon}).of("painter") for epsilon in ("1", "2")]
    published(home, *metrics)

    assert "it differs in the epsilon of a selection" in refusal(home, versions="all")


@pytest.mark.parametrize("wanted", ["0" * 64, "newest", "ALL", ""])
def test_an_unknown_version_is_refused(home: Site, wanted: str) -> None:
    published(home, OLD, NEW)

    assert "write all, or ids of its versions" in refusal(home, versions=wanted)


def test_versions_are_grouped_by_the_labels_that_each_has(home: Site) -> None:
    middle = version(epsilon="2", labels={"edition": ["b", "c"]})
    published(home, OLD, middle, NEW)
    send(home, OLD, 10)
    send(home, middle, 20, labels=(0,))
    send(home, middle, 30, labels=(1,))
    send(home, NEW, 40, labels=(1,))

    found = groups(home, versions="all", by="label")

    told = [(group["labels"], group["answer"]["n"]) for group in found]
    assert told == [({}, 10), ({"edition": "b"}, 60), ({"edition": "c"}, 30)]


def test_a_label_chooses_among_versions_that_have_it_and_is_refused_where_one_has_not(home: Site) -> None:
    middle = version(epsilon="2", labels={"edition": ["b", "c"]})
    published(home, OLD, middle, NEW)
    send(home, middle, 30, labels=(1,))
    send(home, NEW, 40, labels=(1,))

    (group,) = groups(home, versions=[middle.id.hex(), NEW.id.hex()], label="edition:c")

    assert group["answer"]["n"] == 30
    assert "every version must have it" in refusal(home, versions="all", label="edition:c")


def test_versions_of_other_periods_go_by_dates(home: Site) -> None:
    daily = version(epsilon="2", period="1d")
    published(home, OLD, daily)
    send(home, OLD, 10)
    send(home, OLD, 20, period=PERIOD - 1)
    send(home, daily, 40, period=PERIOD * 7)
    send(home, daily, 80, period=PERIOD * 7 - 1)

    counts = [
        groups(home, versions="all", **query)[0]["answer"]["n"]
        for query in ({}, {"from": "2027-01-04"}, {"to": "2027-01-04"}, {"against": "2026-12-28/2027-01-04"})
    ]

    assert counts == [150, 50, 100, 50]


@pytest.mark.parametrize(
    "query",
    [
        {"by": "period"},
        {"from": "7"},
        {"to": "7"},
        {"against": "7"},
        {"against": "7/9"},
        {"by": "period,label"},
    ],
    ids=str,
)
def test_versions_of_other_periods_are_not_named_or_grouped_by_their_numbers(
    home: Site, query: dict[str, str]
) -> None:
    published(home, OLD, version(period="1d"))

    assert "periods of different lengths" in refusal(home, versions="all", **query)


def test_a_change_is_told_over_versions_too(home: Site) -> None:
    published(home, OLD, NEW)
    send(home, OLD, 3000, period=PERIOD - 1)
    send(home, OLD, 1000)
    send(home, NEW, 2000, labels=(0,))

    answer = groups(home, versions="all", against=str(PERIOD - 1))[0]["answer"]

    assert (answer["n"], answer["since"]["n"]) == (3000, 3000)
    assert [each["n"] for each in answer["versions"]] == [2000, 1000]
    assert all(abs(row["value"]) < Z * row["respondents"]["stderr"] for row in answer["rows"])


def test_options_of_all_versions_are_one_row(home: Site) -> None:
    published(home, OLD, NEW)
    send(home, OLD, 3000)
    send(home, NEW, 2000, labels=(0,))

    (row,) = groups(home, versions="all", any=["linux", "mac"])[0]["answer"]["rows"]

    assert row["name"] == "linux or mac"
    assert abs(row["value"] - 0.8) < Z * row["respondents"]["stderr"]


def test_a_view_is_one_of_the_mean_of_all_versions(home: Site) -> None:
    published(home, OLD, NEW)
    send(home, OLD, 300)
    send(home, NEW, 200, labels=(0,))

    rows = groups(home, versions="all", view="norm-sub")[0]["answer"]["rows"]

    assert sum(row["viewed"] for row in rows) == pytest.approx(1)


def test_an_answer_without_the_reports_of_older_versions_says_so(home: Site) -> None:
    published(home, OLD, NEW)
    before = groups(home)[0]["answer"]["advice"]
    send(home, OLD, 100)

    after = groups(home)[0]["answer"]["advice"]

    (note,) = set(after) - set(before)
    assert note == (
        f"older versions have reports that are left out here: {OLD.id.hex()[:8]}; "
        "name one in place of the metric, or have estimate answer all together by --versions all"
    )
    assert note not in groups(home, versions="all")[0]["answer"]["advice"]


def test_it_advises_to_ask_together_only_what_is_answered_together(home: Site) -> None:
    wider = version(options=["linux", "mac", "bsd", "other"])
    published(home, OLD, wider, version(options=wider.domain.names, epsilon="2"))
    send(home, OLD, 100)
    send(home, wider, 100)

    newest, older = (
        home.estimate(metric).json["groups"][0]["answer"]  # type: ignore[index]
        for metric in ("asked", wider.id.hex())
    )

    ids = [answer["id"][:8] for answer in (newest, older)]
    assert left_out(newest["advice"]) == (
        f"{wider.id.hex()[:8]}, {OLD.id.hex()[:8]}; name one in place of the metric, or have estimate answer "
        f"those that ask the same together by --versions {ids[0]} --versions {ids[1]}"
    )
    assert left_out(older["advice"]) == f"{OLD.id.hex()[:8]}; name one in place of the metric"
    assert groups(home, versions=ids)[0]["answer"]["n"] == 100


@pytest.mark.parametrize("query", [{"by": "period"}, {"label": "edition:a"}, {"from": "3"}])
def test_it_does_not_advise_what_other_words_of_the_question_rule_out(
    home: Site, query: dict[str, str]
) -> None:
    newest = version(period="1d", labels={"edition": ["a", "b"]})
    published(home, OLD, newest)
    send(home, OLD, 100)
    send(home, newest, 100, period=7 * PERIOD, labels=(0,))

    advice = groups(home, **query)[0]["answer"]["advice"]

    assert left_out(advice) == f"{OLD.id.hex()[:8]}; name one in place of the metric"
    assert "every version must have it" in refusal(home, versions="all", label="edition:a")


def test_an_older_version_of_which_everything_was_withdrawn_is_not_left_out(home: Site) -> None:
    published(home, OLD, NEW)
    sent = batch(Column(OLD.id, PERIOD, (), 1, b"\0"))
    home.post(sent)
    home.withdraw(sent.id)

    told = groups(home)[0]["answer"]["advice"]

    assert not any("left out" in sentence for sentence in told)


def left_out(advice: list[str]) -> str:
    (told,) = [sentence for sentence in advice if sentence.startswith("older versions")]
    return told.removeprefix("older versions have reports that are left out here: ")


def test_suspicion_and_an_export_say_so_too(home: Site) -> None:
    published(home, OLD, NEW)
    send(home, OLD, 100)

    looked, exported, empty = (
        run(home, *words)
        for words in (("suspicion", "asked"), ("export", "asked"), ("estimate", "asked", "--by", "label"))
    )

    note = f"note: older versions have reports that are left out here: {OLD.id.hex()[:8]}"
    assert (looked.stdout.split("\n")[0], looked.exit_code) == ("no reports", 0)
    assert note in looked.stdout
    assert note in exported.stderr
    assert "--versions" not in looked.stdout + exported.stderr  # which they don't have
    assert note not in exported.stdout
    assert note in empty.stdout


def test_a_metric_and_its_versions_are_named_by_the_start_of_an_id(home: Site) -> None:
    published(home, OLD, NEW)
    send(home, OLD, 100)
    start = OLD.id.hex()[:8]

    named = json.loads(home.estimate(start).data)["groups"][0]["answer"]
    (chosen,) = groups(home, versions=[start])

    assert (named["id"], named["n"]) == (OLD.id.hex(), 100)
    assert chosen["answer"]["n"] == 100
    assert home.estimate(start[:7]).status_code == 404


def test_metrics_lists_every_version_with_its_reports(home: Site) -> None:
    published(home, OLD, NEW)
    send(home, OLD, 100)

    listed = [line.split() for line in run(home, "metrics").stdout.splitlines() if "painter" in line]

    assert listed == [
        ["painter/asked", NEW.id.hex()[:12], "choice", "optimized_unary", "3", "2", "yes", "0"],
        ["painter/asked", OLD.id.hex()[:12], "choice", "randomized_response", "1", "1", "replaced", "100"],
    ]


def run(home: Site, *words: str) -> Result:
    file = home.database.parent / "hubbub.toml"
    file.write_text(f'database = "{home.database}"\n')
    return CliRunner().invoke(command, [*words, "--config", str(file)])
