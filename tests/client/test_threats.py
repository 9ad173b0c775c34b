"""This file plays collectors and makers against a device: what they gain is bounded by its own rules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import boolean, metric_of
from hubbub.errors import DomainError, ManifestError
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub_client import Client, Policy, Recorded
from hubbub_lab.seeded_coins import seeded_coins
from tests.client.conftest import DAY, Clock

Make = Callable[..., Client]
LIFE = 10 * 52  # weeks


def app(*metrics: Metric, serial: int = 1) -> Manifest:
    return Manifest(app="notepad", serial=serial, metrics=metrics)


def spent(client: Client, since: float = 0) -> float:
    return float(sum(entry.cost for entry in client.journal(notes=True) if entry.at > since))


def test_questions_that_follow_each_other_about_one_fact_stay_under_its_caps(
    make: Make, clock: Clock
) -> None:
    """Search for an age by halving, a new threshold under a new name each time, and never mind the noise."""
    age, low, high = 37, 0, 128
    windows = []

    for turn in range(40):
        middle = (low + high) // 2
        question = boolean(f"over_{turn}", epsilon="4", source="age")
        client = make(manifest=app(question, serial=turn + 1), policy=Policy(metrics=1000))
        client.record(question.name, age > middle)
        windows.append(spent(client, since=clock.now - 28 * DAY))
        low, high = (middle, high) if age > middle else (low, middle)
        clock.now += 7 * DAY

    assert max(windows) == 8
    assert spent(client) == 64


def test_a_question_that_never_ends_is_answered_until_the_life_is_spent(make: Make, clock: Clock) -> None:
    client = make(manifest=app(*(boolean(f"fact_{at}", epsilon="2") for at in range(3))))

    for _ in range(LIFE):
        for at in range(3):
            client.record(f"fact_{at}", True)
        clock.now += 7 * DAY

    assert spent(client) == 128
    assert client.remaining() == 0


def test_a_new_name_each_week_gives_out_at_the_thirty_second(make: Make, clock: Clock) -> None:
    outcomes = []

    for turn in range(40):
        metric = boolean(f"name_{turn}", epsilon="0.1", source=f"fact_{turn}")
        outcomes.append(make(manifest=app(metric, serial=turn + 1)).record(metric.name, True))
        clock.now += 7 * DAY

    assert [isinstance(outcome, Recorded) for outcome in outcomes] == [True] * 32 + [False] * 8


@pytest.mark.parametrize(
    "table",
    [
        {"kind": "boolean", "epsilon": "1", "p": 1.0},
        {"kind": "boolean", "epsilon": "1", "parameters": {"p": "1"}},
        {"kind": "boolean", "epsilon": "1", "flip": "0"},
        {"kind": "number", "range": [0, 1], "epsilon": "1", "scale": "0.001"},
        {"kind": "choice", "options": ["a", "b"], "epsilon": "1", "mechanism": "identity"},
        {"kind": "choice", "options": ["a", "b"], "epsilon": "1", "mechanism": "l_grr", "first": "2"},
    ],
    ids=range(6),
)
def test_a_manifest_can_not_state_a_probability_nor_name_what_a_device_does_not_know(
    table: dict[str, Any],
) -> None:
    with pytest.raises((ManifestError, DomainError)):
        registry.build(metric_of("fact", table).of("notepad"))


def test_every_device_of_an_app_answers_the_same_question_and_its_id_tells_none_apart(
    make: Make, tmp_path: Path
) -> None:
    manifest = tmp_path / "metrics.toml"
    manifest.write_text(
        'format = 1\napp = "a"\nserial = 1\n[metrics.dark]\nkind = "boolean"\nepsilon = "1"\n'
    )
    devices = [make(manifest=manifest, data_dir=None) for _ in range(3)]

    for device in devices:
        device.record("dark", True)

    ids = {entry.batch.columns[0].metric for device in devices for entry in device.journal()}
    assert ids == {Manifest.from_toml(manifest.read_text())["dark"].id}


OPTIONS = {"kind": "choice", "options": list("abcde"), "epsilon": "1"}
ORACLES = [
    OPTIONS | {"mechanism": entry.kind}
    for entry in registry.ENTRIES
    if "choice" in entry.domains and not entry.remembers and entry.kind != "integer_table"
]


@pytest.mark.parametrize("table", ORACLES, ids=lambda table: table["mechanism"])
def test_one_fake_report_moves_a_share_by_a_bounded_amount_whatever_it_says(table: dict[str, Any]) -> None:
    mechanism = registry.build(metric_of("fact", table).of("notepad"))
    n, coins = 1000, seeded_coins(11)
    honest = mechanism.tally(mechanism.perturb(np.arange(n) % 5, coins))
    channel = mechanism.channel  # type: ignore[attr-defined]
    gain = 1 / (n * float(channel.p - channel.q))

    before = mechanism.estimate(honest).values
    moved = [
        np.abs(
            mechanism.estimate(honest + mechanism.tally(fake[None]) - mechanism.tally(one[None])).values
            - before
        )
        for fake in mechanism.outputs()
        for one in mechanism.outputs()[:1]
    ]

    assert np.max(moved) <= gain * (1 + 1e-9)
    assert np.max(moved) >= gain / 2
