"""This file proves that a small request has no unbounded cost: it is refused, with what is allowed."""

import json
import tracemalloc
from itertools import count, product
from typing import Any

import numpy as np
import pytest
from werkzeug.test import TestResponse

from hubbub import registry
from hubbub.batch import Column
from hubbub.declaration import choice, metric_of
from hubbub.errors import DomainError
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_server.analysis import gathering
from hubbub_server.analysis.answers import answer
from hubbub_server.analysis.estimation import LONGEST, MOST_ROWS, estimate
from hubbub_server.publication import publish
from tests.server.site import PERIOD, Site, batch, code, dark

VALUES = [f"v{number}" for number in range(32)]
WIDE = choice(
    "wide",
    options=[str(option) for option in range(2**12)],
    epsilon="1",
    mechanism="hadamard_response",
    labels={"a": VALUES, "b": VALUES},
).of("notepad")


def refusal(reply: TestResponse) -> str:
    """Return why a query is refused."""
    assert (reply.status_code, code(reply)) == (400, "bad_query"), reply.text
    return str(json.loads(reply.data)["detail"])


WORD = metric_of("word", {"kind": "text", "length": 8, "epsilon": "1", "mechanism": "hadamard_sketch"}).of(
    "notepad"
)


@pytest.fixture
def wide(home: Site) -> Site:
    """Return a collector with 33 groups of 4,096 rows, which is over the limit by one."""
    publish(home.collector.store.manifests, Manifest(app="notepad", serial=2, metrics=(WIDE,)))
    one = bytes(registry.build(WIDE).layout.itemsize)
    places = list(product(range(32), range(2)))[: MOST_ROWS // 2**12 + 1]
    home.post(batch(*(Column(WIDE.id, PERIOD, place, 1, one) for place in places)))
    return home


def test_groups_of_too_many_rows_together_are_refused_with_the_way_out(wide: Site) -> None:
    detail = refusal(wide.estimate("wide", by="label"))

    assert detail.startswith("33 groups of 4,096 rows are over 131,072 rows together; ask for the largest")


@pytest.mark.parametrize(
    ("query", "rows"),
    [({"by": "label", "top": "2"}, 66), ({"by": "label", "any": ["1", "7"]}, 33), ({"by": "period"}, 4096)],
    ids=str,
)
def test_fewer_rows_of_as_many_groups_are_answered(wide: Site, query: dict[str, Any], rows: int) -> None:
    reply = wide.estimate("wide", **query)

    groups = json.loads(reply.data)["groups"]
    assert sum(len(group["answer"]["rows"]) for group in groups) == rows


def test_groups_whose_sums_fill_the_memory_are_refused(wide: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST_AT_ONCE", 32 * 2**12)

    detail = refusal(wide.estimate("wide", by="label", top="1"))

    assert detail.startswith("the sums of 33 groups or more are too large together")
    assert wide.estimate("wide", by="period").status_code == 200


def test_sums_of_a_metric_are_read_one_at_a_time(wide: Site) -> None:
    tallies = wide.collector.store.batches.tallies(WIDE.id, range(2**31))

    first = next(tallies)

    assert first[2].n == 1
    assert sum(1 for _ in tallies) == 32


def test_groups_that_take_too_long_are_refused_between_two_of_them(home: Site) -> None:
    home.post(batch(dark([1]), dark([1], period=PERIOD - 1), dark([1], period=PERIOD - 2)))
    store, catalog = home.collector.store.batches, home.collector.catalog
    slow, slower = (count(step=step) for step in (LONGEST / 3, LONGEST / 2))

    groups = estimate(store, catalog, metric="dark", by="period", clock=lambda: next(slow))

    assert len(groups) == 3
    with pytest.raises(DomainError, match="2 of 3 groups took 20 seconds already; ask for fewer periods"):
        estimate(store, catalog, metric="dark", by="period", clock=lambda: next(slower))


@pytest.mark.parametrize(
    ("metric", "what"),
    [(WIDE, {"any_of": "rows"}), (WIDE, {"all_of": "rows"}), (WORD, {"candidates": "candidates"})],
    ids=str,
)
def test_over_a_thousand_names_are_refused_whatever_they_are(metric: Metric, what: dict[str, str]) -> None:
    ((parameter, noun),) = what.items()
    named: dict[str, Any] = {parameter: [str(option) for option in range(1_001)]}

    with pytest.raises(DomainError, match=f"name at most 1,000 {noun} at once, got 1,001"):
        answer(metric, Tally(0, np.zeros(0, dtype=np.int64)), **named)


def test_a_thousand_options_are_one_row() -> None:
    options = [str(option) for option in range(3_000, 4_000)]
    tally = Tally(100, np.arange(2**12) % 97)

    (found,) = answer(WIDE, tally, any_of=options).rows

    assert found.value == pytest.approx(sum(row.value or 0 for row in answer(WIDE, tally).rows[3_000:4_000]))


def test_a_manifest_whose_answers_would_take_minutes_is_refused_with_what_is_allowed(home: Site) -> None:
    parameters = {"start": 8, "step": 9, "pool": 65_536}
    words = {"kind": "text", "length": 64, "epsilon": "1", "mechanism": "prefix_extension"}
    document = {"format": 1, "app": "a", "serial": 1, "metrics": {"m": words | {"parameters": parameters}}}

    reply = home.client.put("/operations/v1/manifests/a", json=document, headers=home.bearer("admin"))

    assert (reply.status_code, code(reply)) == (422, "bad_manifest")
    assert "pool must be at most 520" in reply.text


def test_naming_a_hundred_impossible_reports_of_millions_takes_no_list_of_them(home: Site) -> None:
    sent = batch(dark([1, 7] * 2_000_000))
    tracemalloc.start()

    answer = home.collector.intake.receive(sent).answer

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(json.loads(answer)["refused"]) == 100
    assert peak < 5 * 4_000_000  # bytes: a mask, what is kept, and one part with its positions
