"""This file proves that every kind of question goes the whole way: manifest, devices, collector, answers.

False alarms: a comparison by Z once in 10**9.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from flask import Flask

from hubbub import registry
from hubbub.batch import BINARY, Batch, Column, encode
from hubbub.domains.kinds import KINDS as DOMAINS
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub_client import Client, Policy, Recorded, Skipped
from hubbub_client.testing import WsgiTransport
from hubbub_lab import cli as lab
from hubbub_lab.crowds import KINDS
from hubbub_lab.population import given
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.app import create_app
from hubbub_server.commands import cli as server
from hubbub_server.config import Config
from hubbub_server.keys import add_key
from hubbub_server.publication import publish
from tests.client.conftest import DAY, Clock
from tests.statistics import Z

HEAD = """\
format = 1
app = "notepad"
serial = 1

[metrics.asked]
epsilon = "4"
period = "28d"
why = "decide what to keep"
owner = "ux@example.org"
expires = 2099-01-01
"""
# what a manifest says of each kind; what people may answer, in turn; and what they may not
DECLARED: dict[str, tuple[str, list[Any], Any]] = {
    "boolean": ("absent = false", [True, False, False], "yes"),
    "choice": ('options = ["mac", "other"]\nabsent = "other"', ["mac", "other", "other"], "beos"),
    "number": ("range = [0, 10]\nabsent = 0", [2.5, 3, 9.75], "2.5"),
    "choices": (
        'options = ["maps", "mail", "=sum"]\nmost = 2\nabsent = []',
        [["maps", "mail"], ["=sum"], []],
        ["beos"],
    ),
    "record": (
        'attributes.dark = { kind = "boolean" }\n'
        'attributes.system = { kind = "choice", options = ["linux", "mac", "other"] }\n'
        'absent = { dark = false, system = "other" }',
        [{"dark": True, "system": "mac"}, {"dark": False, "system": "linux"}],
        {"dark": True},
    ),
    "key_value": (
        'keys = ["maps", "mail"]\nrange = [0, 60]\nmost = 1\nabsent = {}',
        [{"maps": 12}, {"mail": 45.5}, {"maps": 30}, {}],
        {"maps": "12"},
    ),
    "selection": (
        'options = ["wide", "narrow", "none"]\nabsent = { wide = 0, narrow = 0, none = 1 }',
        [{"wide": 1, "narrow": 0.2, "none": 0}, {"wide": 0.5, "narrow": 0.75, "none": 0}],
        {"wide": 1},
    ),
    "text": ('length = 8\nabsent = ""', ["firefox", "café", "", "firefox"], "netscape navigator"),
    "vector": ('size = 3\nnorm = 2\nabsent = [0, 0, 0]\ndelta = "1e-9"', [[1, 0.5, -1], [0, 2, 0]], [1, 2]),
}
ASKED = [
    (kind, entry.kind)
    for kind in DECLARED
    for entry in registry.ENTRIES
    if kind in entry.domains and not entry.remembers and registry.mechanism_class(entry.kind).exact
]
QUICK = {
    "square_wave": "parameters.buckets = 16",
    "hierarchical_histogram": "parameters.buckets = 16",
    "prefix_extension": "parameters = { start = 8, step = 8, pool = 16 }",
}
PEOPLE = 3_000


@dataclass(frozen=True, slots=True)
class Collecting:
    """The real collector in this process, and what talks to it."""

    app: Flask
    settings: Path
    keys: dict[str, str]

    def post(self, batch: Batch) -> int:
        headers = {"Content-Type": BINARY, "Authorization": f"Bearer {self.keys['ingest']}"}
        return self.app.test_client().post("/v1/batches", data=encode(batch), headers=headers).status_code

    def groups(self, **query: Any) -> list[dict[str, Any]]:
        headers = {"Authorization": f"Bearer {self.keys['analyst']}"}
        reply = self.app.test_client().get("/v1/estimates", query_string=query, headers=headers)
        assert reply.status_code == 200, reply.text
        return list(reply.json["groups"])  # type: ignore[index]

    def printed(self, form: str, candidates: list[str]) -> str:
        looked_for = [word for text in candidates for word in ("--candidate", text)]
        options = ["--by", "period", "--format", form, *looked_for, "--config", str(self.settings)]
        result = CliRunner().invoke(server.command, ["estimate", "asked", *options])
        assert result.exit_code == 0, result.output
        return result.stdout


@pytest.fixture
def file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    kind, mechanism = request.param
    path = tmp_path / "metrics.toml"
    own = f'kind = "{kind}"\nmechanism = "{mechanism}"\n{QUICK.get(mechanism, "")}\n'
    path.write_text(HEAD + own + DECLARED[kind][0])
    return path


@pytest.fixture
def metric(file: Path) -> Metric:
    return Manifest.from_toml(file.read_text())["asked"]


@pytest.fixture
def collecting(tmp_path: Path, file: Path, clock: Clock) -> Iterator[Collecting]:
    database, settings = tmp_path / "collector.sqlite3", tmp_path / "hubbub.toml"
    settings.write_text(f'database = "{database}"\n')
    app = create_app(Config(database=database), clock=clock)
    store = app.extensions["hubbub"].store
    publish(store.manifests, Manifest.from_toml(file.read_text()))
    keys = {kind: add_key(store.keys, kind) for kind in ("ingest", "analyst")}
    yield Collecting(app, settings, keys)
    app.extensions["hubbub"].close()


every = pytest.mark.parametrize("file", ASKED, ids="-".join, indirect=True)
Make = Callable[..., Client]


def test_every_kind_goes_this_way() -> None:
    assert set(DECLARED) == set(DOMAINS)
    assert {kind for kind, _ in ASKED} == set(DOMAINS)


@every
def test_an_answer_and_a_silence_reach_the_collector_and_are_counted(
    make: Make, file: Path, metric: Metric, collecting: Collecting, clock: Clock
) -> None:
    _, (answer, *_), wrong = DECLARED[metric.domain.kind]
    client = make(
        manifest=file,
        transport=WsgiTransport(collecting.app),
        key=collecting.keys["ingest"],
        policy=Policy(delta="1e-6"),
    )

    refused, told = client.record("asked", wrong), client.record("asked", answer)
    first = client.flush(now=True)
    clock.now += 29 * DAY
    client.flush(now=True)  # the device is seen at work, but has nothing to say
    clock.now += 20 * DAY  # and that period is over
    client.flush(now=True)

    assert isinstance(refused, Skipped)
    assert refused.code == "value"
    assert isinstance(told, Recorded)
    assert (first.sent, first.refused, first.error) == (1, 0, "")
    assert [entry.status for entry in client.journal()] == ["sent", "sent"]
    assert [group["answer"]["n"] for group in collecting.groups(metric="asked", by="period")] == [1, 1]
    assert "at most once in 28 days, each time for epsilon 4" in client.explain("asked")


@every
def test_many_answers_are_estimated_and_shown_in_every_form(
    metric: Metric, collecting: Collecting, clock: Clock
) -> None:
    kind, mechanism = metric.domain.kind, registry.build(metric)
    some = DECLARED[kind][1]
    held = [some[at % len(some)] for at in range(PEOPLE)]
    truth = KINDS[kind].truth(metric, given(metric, held))
    period = int((clock.now - 345_600) // (28 * DAY))
    reports = mechanism.perturb(np.array([metric.domain.encode(each) for each in held]), seeded_coins(61))
    candidates = ["firefox", "café"] if kind == "text" else []

    status = collecting.post(Batch(b"\x07" * 16, (Column(metric.id, period, (), PEOPLE, reports.tobytes()),)))
    (group,) = collecting.groups(metric="asked", by="period", candidate=candidates)

    rows = group["answer"]["rows"]
    listed = list(csv.DictReader(io.StringIO(collecting.printed("csv", candidates))))
    table = collecting.printed("table", candidates)
    off = [
        abs(row["value"] - truth[row["name"]]) / (row["population"]["stderr"] or np.inf)
        for row in rows
        if row["value"] is not None and truth.get(row["name"]) is not None
    ]
    assert (status, group["answer"]["n"]) == (200, PEOPLE)
    assert len(off) >= min(2, len(rows))
    assert max(off) < Z
    assert json.loads(collecting.printed("json", candidates))["groups"] == [group]
    assert [row["name"].lstrip("'") for row in listed] == [row["name"] for row in rows]
    assert [float(row["value"]) for row in listed if row["value"]] == [
        row["value"] for row in rows if row["value"] is not None
    ]
    assert all(row["name"] in table for row in rows)


@every
def test_the_commands_of_the_lab_take_it(file: Path, metric: Metric) -> None:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(lab.command, [*arguments], catch_exceptions=False)

    lint, plan = run("lint", str(file)), run("plan", str(file))
    simulated = run("simulate", str(file), "--people", "500", "--format", "json")

    agreed = [line for line in lint.stdout.splitlines() if line.startswith(("error: ", "warning: "))]
    assert [line for line in agreed if "delta" not in line and "not all unbiased" not in line] == []
    assert (plan.exit_code, simulated.exit_code) == (0, 0)
    assert f"asked ({metric.domain.kind}, epsilon 4): " in plan.stdout
    (answered,) = json.loads(simulated.stdout)["metrics"]
    assert (answered["n"], answered["mechanism"]) == (500, metric.mechanism)
    assert any(row["truth"] is not None and row["value"] is not None for row in answered["rows"])
