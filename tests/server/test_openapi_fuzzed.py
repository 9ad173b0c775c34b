"""This file proves that the collector does what its description says, whatever it is asked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.fuzzing import fuzz
from tests.server.process import Served, serving

KNOWN = {"app": "notepad", "metric": "dark"}
NEVER = {  # what is taken only if it fits an app, a time or a signature that no schema knows
    "POST /v1/batches",
    "GET /v1/manifests/{app}/signed",
    "PUT /operations/v1/manifests/{app}",
    "PUT /operations/v1/manifests/{app}/signed",
}
UNFOUND = {
    "GET /v1/manifests/{app}",
    "GET /v1/metrics/{metric}",
    "GET /v1/estimates",
    "GET /v1/reports",
    "GET /v1/suspicion",
}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as running:
        yield running


@pytest.mark.parametrize(
    ("known", "examples", "unanswered"),
    [
        (KNOWN, 5, NEVER),
        pytest.param({}, 100, NEVER | UNFOUND, marks=pytest.mark.torture),
        pytest.param(KNOWN, 100, NEVER, marks=pytest.mark.torture),
    ],
    ids=["known", "long", "known and long"],
)
def test_the_collector_does_what_its_description_says(
    served: Served, known: dict[str, str], examples: int, unanswered: set[str]
) -> None:
    found = fuzz(served, examples=examples, known=known)

    assert found.faults == []
    assert {asked for asked, statuses in found.answers.items() if not statuses & {200, 201}} <= unanswered
