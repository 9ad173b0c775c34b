"""This file asks for words: a metric whose sums are too many to be written with every batch."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from hubbub import registry
from hubbub.batch import Column
from hubbub.manifest import Manifest
from hubbub_lab.seeded_coins import seeded_coins
from tests.server.site import PERIOD, Site

WORDS = Manifest.from_toml("""
format = 1
app = "words"
serial = 1

[metrics.word]
kind = "text"
length = 8
epsilon = "4"
mechanism = "hadamard_sketch"
parameters = {hashes = 66, width = 1024}
labels.version = ["1.0", "other"]

[metrics.few]
kind = "text"
length = 8
epsilon = "4"
mechanism = "hadamard_sketch"
parameters = {hashes = 32, width = 1024}
""")
WORD, FEW = WORDS["word"], WORDS["few"]
MECHANISM = registry.build(WORD)
CELLS = MECHANISM.tally(np.zeros(0, MECHANISM.layout)).cells.size  # numbers of a sum
HELD = ["linux", "linux", "mac", "?"]


def reports(seed: int, times: int = 50) -> "np.ndarray[Any, Any]":
    """Return the reports of so many times four devices."""
    held = np.array([WORD.domain.encode(text) for text in HELD] * times)
    return MECHANISM.perturb(held, seeded_coins(seed))


def column(sent: "np.ndarray[Any, Any]", *, label: int = 0, period: int = PERIOD) -> Column:
    """Return them as a column."""
    return Column(WORD.id, period, (label,), len(sent), sent.tobytes())


def asked(
    house: Site, candidates: Sequence[str] = ("linux", "mac", "bsd"), **query: Any
) -> list[dict[str, Any]]:
    """Return the groups of an estimate."""
    given = {name: value for name, value in query.items() if value}
    response = house.estimate("word", candidate=list(candidates), **given)  # type: ignore[arg-type]
    assert response.status_code == 200, response.text
    return list(json.loads(response.data)["groups"])
