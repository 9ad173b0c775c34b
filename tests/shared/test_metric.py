"""This file proves that a metric's id pins what a report means, and nothing else."""

import hashlib
import json
from dataclasses import replace
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hubbub import registry
from hubbub.declaration import boolean, choice, metric_of, number
from hubbub.domains.choice import Choice
from hubbub.epsilon import Epsilon
from hubbub.errors import DomainError, ManifestError
from hubbub.metric import Label, Metric

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "batches.json").read_text("utf-8")
)
SYSTEM = choice(
    "system", options=["linux", "mac", "other"], epsilon="1", labels={"version": ["1", "2", "other"]}
).of("notepad")
CHANGES: dict[str, Any] = {
    "app": {"app": "other"},
    "name": {"name": "systems"},
    "source": {"source": "platform"},
    "options": {"domain": Choice(("linux", "mac", "windows"))},
    "the order of options": {"domain": Choice(("mac", "linux", "other"))},
    "epsilon": {"epsilon": Epsilon.parse("1.000001")},
    "mechanism": {"mechanism": "optimized_unary"},
    "period": {"period": 28},
    "once": {"once": True},
    "absent": {"absent": "other"},
    "no labels": {"labels": ()},
    "another label": {"labels": (Label("release", ("1", "2", "other")),)},
    "the order of label values": {"labels": (Label("version", ("2", "1", "other")),)},
}
REMARKS: dict[str, Any] = {
    "why": {"why": "because"},
    "owner": {"owner": "ux@example.org"},
    "expires": {"expires": date(2030, 1, 1)},
    "the same epsilon": {"epsilon": Epsilon.parse("1.00")},
    "the same source": {"source": "system"},
}


@pytest.mark.parametrize("vector", VECTORS["metrics"], ids=lambda vector: vector["name"])
def test_the_vectors_are_the_ids_that_we_compute(vector: Any) -> None:
    metric = metric_of(vector["name"], vector["manifest"]).of(VECTORS["app"])

    assert metric.canonical == vector["canonical"]
    assert metric.id.hex() == vector["id"] == hashlib.sha256(vector["canonical"].encode()).hexdigest()
    assert registry.build(metric).layout.itemsize == vector["report_bytes"]


@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_the_meaning_of_a_report_changes_the_id(what: str) -> None:
    assert replace(SYSTEM, **CHANGES[what]).id != SYSTEM.id


def test_parameters_change_the_id() -> None:
    fine, coarse = (
        number("seconds", low=0, high=10, epsilon=1, parameters={"steps": steps}).of("notepad")
        for steps in (1024, 512)
    )

    assert fine.id != coarse.id
    assert fine.id == number("seconds", low=0, high=10, epsilon=1).of("notepad").id


@pytest.mark.parametrize("what", REMARKS)
def test_remarks_do_not_change_the_id(what: str) -> None:
    assert replace(SYSTEM, **REMARKS[what]).id == SYSTEM.id


def test_the_canonical_definition_is_ascii_and_says_everything_once() -> None:
    definition = json.loads(SYSTEM.canonical)

    assert SYSTEM.canonical.isascii()
    assert sorted(definition) == [
        *("absent", "app", "changes", "domain", "epsilon", "format", "labels", "mechanism", "name"),
        *("once", "period", "source"),
    ]
    assert json.dumps(definition, sort_keys=True, separators=(",", ":")) == SYSTEM.canonical


def test_a_metric_without_an_app_or_a_mechanism_has_no_id() -> None:
    with pytest.raises(ManifestError, match="app is missing"):
        _ = boolean("dark", epsilon=1).id
    with pytest.raises(ManifestError, match="mechanism is still open"):
        _ = boolean("dark", epsilon=1, mechanism="best").of("notepad").id
    with pytest.raises(DomainError, match="leaves its mechanism open"):
        registry.build(boolean("dark", epsilon=1, mechanism="best"))


@pytest.mark.parametrize("name", ["", "Dark", "1st", "a-b", "a b", "é", "a" * 65, "_a", "a\n", "１"])
@pytest.mark.parametrize("key", ["name", "source", "label"])
def test_names_are_plain(name: str, key: str) -> None:
    makers = {
        "name": lambda: boolean(name, epsilon=1),
        "source": lambda: boolean("dark", epsilon=1, source=name or "-"),
        "label": lambda: boolean("dark", epsilon=1, labels={name: ["a", "b"]}),
    }

    with pytest.raises(ManifestError):
        makers[key]()


def test_a_label_is_given_by_its_value_and_other_takes_the_rest() -> None:
    assert [SYSTEM.label_indices({"version": version}) for version in ("1", "2", "other", "3")] == [
        *((0,), (1,), (2,), (2,))
    ]
    assert boolean("dark", epsilon=1).label_indices() == ()


@pytest.mark.parametrize(
    ("labels", "given"), [({}, {"version": "1"}), ({"a": ["1", "2"]}, {}), ({"a": ["1", "2"]}, {"a": "3"})]
)
def test_labels_that_are_missing_unknown_or_unlisted_are_refused(
    labels: dict[str, list[str]], given: dict[str, str]
) -> None:
    metric = boolean("dark", epsilon=1, labels=labels)

    with pytest.raises(DomainError):
        metric.label_indices(given)


def test_a_metric_is_built_whole_or_not_at_all() -> None:
    for changes in (
        {"period": 2},
        {"changes": 1},
        {"why": "x" * 501},
        {"owner": 5},
        {"labels": SYSTEM.labels * 3},
    ):
        with pytest.raises(ManifestError):
            replace(SYSTEM, **changes)


def test_the_source_is_the_name_unless_given() -> None:
    assert (SYSTEM.source, replace(SYSTEM, source="platform").source) == ("system", "platform")
    assert isinstance(SYSTEM, Metric)


def test_labels_without_end_are_refused_as_soon_as_one_is_wrong() -> None:
    with pytest.raises(DomainError, match="no label of that name"):
        SYSTEM.label_indices(count())  # type: ignore[arg-type]
