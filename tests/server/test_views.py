"""This file proves that a view is shown where it makes sense, and refused elsewhere."""

import json

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import choice, number
from hubbub.errors import DomainError
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.analysis.answers import answer
from hubbub_server.publication import publish
from tests.server.site import PERIOD, Column, Site, batch

KINDS = ("hierarchical_histogram", "square_wave")
CUT = [
    number("seconds", low=0, high=16, epsilon=1, mechanism=kind, parameters={"buckets": 16}).of("diary")
    for kind in KINDS
]
PLAIN = number("seconds", low=0, high=16, epsilon=1).of("diary")
SYSTEM = choice("system", options=["linux", "mac"], epsilon=1).of("diary")


def reports(metric: Metric) -> bytes:
    held = np.repeat([3.5, 9.5], [300, 200])
    return registry.build(metric).perturb(held, seeded_coins(81)).tobytes()


@pytest.mark.parametrize("metric", CUT, ids=KINDS)
def test_a_monotone_view_of_a_distribution_is_shown_over_http(home: Site, metric: Metric) -> None:
    publish(home.collector.store.manifests, Manifest(app="diary", serial=1, metrics=(metric,)))
    home.post(batch(Column(metric.id, PERIOD, (), 500, reports(metric))))

    reply = home.estimate("diary/seconds", view="monotone")

    rows = json.loads(reply.data)["groups"][0]["answer"]["rows"]
    bins = [row["viewed"] for row in rows if row["unit"] == "share"]
    assert (reply.status_code, len(bins)) == (200, 16)
    assert min(bins) >= 0
    assert sum(bins) == pytest.approx(1)
    assert [row["viewed"] for row in rows[1:6]] == [row["value"] for row in rows[1:6]]


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize(
    ("metric", "view", "words"),
    [
        (PLAIN, "monotone", "numbers that are told in buckets"),
        (SYSTEM, "monotone", "numbers that are told in buckets"),
        (CUT[0], "norm-sub", "norm-sub is for a choice"),
        (PLAIN, "shrunk", "shrunk is for a choice"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_view_that_a_metric_does_not_have_is_refused(metric: Metric, view: str, words: str, n: int) -> None:
    with pytest.raises(DomainError, match=words):
        answer(metric, Tally(n, np.zeros(2)), view=view)  # type: ignore[arg-type]
