"""This file proves that the vectors for clients in other languages are what this code does."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import metric_of
from hubbub.manifest import Manifest

VECTORS = Path(__file__).parents[1] / "vectors"
METRICS: dict[str, Any] = json.loads((VECTORS / "metrics.json").read_text("utf-8"))
MANIFEST = Manifest(
    app=METRICS["app"],
    serial=1,
    metrics=tuple(metric_of(vector["name"], vector["manifest"]) for vector in METRICS["metrics"]),
)


def test_there_is_a_metric_of_every_kind_with_every_mechanism_that_answers_it() -> None:
    found = {(metric.mechanism, metric.domain.kind) for metric in MANIFEST.metrics}

    assert found == {(entry.kind, kind) for entry in registry.ENTRIES for kind in entry.domains}


@pytest.mark.parametrize("vector", METRICS["metrics"], ids=lambda vector: vector["name"])
def test_a_metric_has_this_definition_and_id_and_sends_such_reports(vector: Any) -> None:
    metric = MANIFEST[vector["name"]]
    mechanism = registry.build(metric)

    judged = {
        which: [bool(mechanism.check(_report(report, mechanism.layout))[0]) for report in vector[which]]
        for which in ("possible", "impossible")
    }

    assert metric.canonical == vector["canonical"]
    assert metric.id.hex() == vector["id"] == hashlib.sha256(vector["canonical"].encode()).hexdigest()
    assert mechanism.layout.itemsize == vector["report_bytes"]
    assert set(judged["possible"]) == {True}
    assert set(judged["impossible"]) == {False}


def test_a_manifest_in_json_says_what_its_tables_say() -> None:
    tables = {vector["name"]: vector["manifest"] for vector in METRICS["metrics"]}

    assert json.loads(json.dumps(MANIFEST.document()))["metrics"] == tables


def _report(text: str, layout: "np.dtype[Any]") -> Any:
    return np.frombuffer(bytes.fromhex(text), dtype=layout)
