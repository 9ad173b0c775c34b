"""This file proves of every mechanism that reports which no honest device sends are named and not counted."""

from collections.abc import Iterator
from typing import Any

import pytest

from hubbub.batch import BINARY, Batch, Column
from hubbub.batch_json import JSON
from hubbub_server.publication import publish
from tests.server.atlas import ATLAS, VECTORS
from tests.server.site import PERIOD, Site, fresh_id, site


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One collector with a metric of every mechanism."""
    with site(tmp_path_factory.mktemp("atlas")) as running:
        publish(running.collector.store.manifests, ATLAS)
        yield running


@pytest.mark.parametrize("vector", VECTORS["metrics"], ids=lambda vector: vector["name"])
@pytest.mark.parametrize("form", [BINARY, JSON])
def test_impossible_reports_are_named_and_not_counted(home: Site, form: str, vector: Any) -> None:
    before = home.counted(f"atlas/{vector['name']}")
    good, bad = (list(map(bytes.fromhex, vector[which])) for which in ("possible", "impossible"))
    reports = [*bad, *good, *bad]
    column = Column(bytes.fromhex(vector["id"]), PERIOD, (), len(reports), b"".join(reports))

    answer = home.post(Batch(fresh_id(), (column,)), form=form)

    places = [*range(len(bad)), *range(len(bad) + len(good), len(reports))]
    assert answer.json == {
        "accepted": len(good),
        "refused": [{"column": 0, "report": place, "code": "impossible_report"} for place in places],
        "reasons": {"impossible_report": 2 * len(bad)},
    }
    assert home.counted(f"atlas/{vector['name']}") == before + len(good)


@pytest.mark.parametrize("vector", VECTORS["metrics"], ids=lambda vector: vector["name"])
def test_a_batch_of_impossible_reports_alone_changes_no_estimate(home: Site, vector: Any) -> None:
    before = home.estimate(f"atlas/{vector['name']}").data
    column = Column(
        bytes.fromhex(vector["id"]), PERIOD, (), 1000, bytes.fromhex(vector["impossible"][0]) * 1000
    )

    answer = home.post(Batch(fresh_id(), (column,))).json

    assert answer is not None
    assert (answer["accepted"], len(answer["refused"])) == (0, 100)
    assert answer["reasons"] == {"impossible_report": 1000}
    assert home.estimate(f"atlas/{vector['name']}").data == before
