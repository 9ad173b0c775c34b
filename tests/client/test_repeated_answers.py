"""This file proves that a device that keeps no permanent answers refuses whatever needs them."""

from collections.abc import Callable
from typing import Any

import pytest

from hubbub import registry
from hubbub.declaration import boolean, choice
from hubbub.longitudinal import Longitudinal
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub_client import Client, Skipped

Make = Callable[..., Client]
OPTIONS = ["linux", "mac", "other"]
REPEATED: dict[str, tuple[Metric, object]] = {
    entry.kind: (
        choice(
            "system",
            options=OPTIONS,
            epsilon=2,
            mechanism=entry.kind,
            changes=2,
            parameters={each.name: "0.5" for each in entry.parameters if each.default is None},
        ),
        "mac",
    )
    for entry in registry.ENTRIES
    if entry.remembers
}


@pytest.mark.parametrize(("metric", "value"), REPEATED.values(), ids=REPEATED)
def test_an_answer_that_must_be_kept_is_refused_and_charges_nothing(
    make: Make, metric: Metric, value: object
) -> None:
    other = boolean("dark", epsilon=1)
    client = make(manifest=Manifest(app="notepad", serial=1, metrics=(metric, other)))

    outcome = client.record("system", value)

    assert isinstance(outcome, Skipped)
    assert outcome.code == "policy"
    assert "permanent answers" in outcome.message
    assert (client.remaining(), list(client.journal())) == (16, [])


@pytest.mark.parametrize("metric", [metric for metric, _ in REPEATED.values()], ids=REPEATED)
def test_the_registry_tells_what_must_be_kept(metric: Metric) -> None:
    assert isinstance(registry.build(metric.of("tests")), Longitudinal)


@pytest.mark.parametrize("metric", [boolean("dark", epsilon=1), choice("a", options=OPTIONS, epsilon=1)])
def test_a_mechanism_without_a_memo_is_not_taken_for_one(metric: Any) -> None:
    assert not isinstance(registry.build(metric.of("tests")), Longitudinal)
