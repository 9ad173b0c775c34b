"""This file proves that a collector answers what the vectors for clients in other languages say."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hubbub.batch import Column
from tests.server.site import METRICS, Site, batch, site

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "estimates.json").read_text("utf-8")
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A collector with the reports of the vectors and no others."""
    with site(tmp_path_factory.mktemp("estimates")) as running:
        columns = [
            Column(
                METRICS[column["metric"]].id,
                column["period"],
                tuple(column["labels"]),
                column["count"],
                bytes.fromhex(column["reports"]),
            )
            for column in VECTORS["columns"]
        ]
        assert running.post(batch(*columns)).status_code == 200
        yield running


def test_the_manifest_is_that_of_the_tests() -> None:
    assert json.loads(json.dumps(METRICS.document())) == VECTORS["manifest"]


@pytest.mark.parametrize("asked", VECTORS["asked"], ids=lambda asked: asked["query"])
def test_the_answer_holds_what_the_vector_does(home: Site, asked: dict[str, Any]) -> None:
    answer = home.client.get(f"/v1/estimates?{asked['query']}", headers=home.bearer("analyst"))

    assert answer.status_code == 200
    assert list(_differences(asked["answer"], answer.json, "answer")) == []


def _differences(expected: Any, found: Any, where: str) -> Iterator[str]:
    """Name the places where found lacks something or has something else; more members are in order."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from _differences(value, found.get(key, "missing"), f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (value, other) in enumerate(zip(expected, found, strict=True)):
            yield from _differences(value, other, f"{where}[{number}]")
    elif isinstance(expected, float) and isinstance(found, float):
        if not math.isclose(expected, found, rel_tol=1e-9):
            yield f"{where}: {expected} is {found}"
    elif expected != found:
        yield f"{where}: {expected} is {found}"
