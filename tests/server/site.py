"""This file sets up a collector in process, and talks to it as devices, analysts and operators do."""

import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from hubbub.batch import BINARY, Batch, Column, encode
from hubbub.batch_json import encode_json
from hubbub.manifest import Manifest
from hubbub.period import DAY, EPOCH
from hubbub_server.app import create_app
from hubbub_server.collector import Collector
from hubbub_server.config import Config
from hubbub_server.keys import KINDS, add_key
from hubbub_server.publication import publish

PERIOD = 2974  # of 7 days
NOW = float(EPOCH + PERIOD * 7 * DAY + DAY)  # one day into the period
MANIFEST = """
format = 1
app = "notepad"
serial = 1

[metrics.dark]
kind = "boolean"
epsilon = "1"

[metrics.seconds]
kind = "number"
range = [0, 10]
epsilon = "1"
labels.version = ["1.0", "1.1", "other"]

[metrics.system]
kind = "choice"
options = ["linux", "mac", "other"]
epsilon = "2"
mechanism = "optimized_unary"
period = "1d"
"""
METRICS = Manifest.from_toml(MANIFEST)
DARK, SECONDS, SYSTEM = (METRICS[name] for name in ("dark", "seconds", "system"))
_COUNTER = iter(range(1, 2**60))


@dataclass(slots=True)
class Clock:
    """A clock that tests set."""

    now: float = NOW

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True)
class Site:
    """A collector in process, its keys and its clock."""

    collector: Collector
    client: FlaskClient
    keys: dict[str, str]
    clock: Clock

    @property
    def where(self) -> Path | str:
        """The path or URL of the database."""
        return self.collector.config.database

    @property
    def database(self) -> Path:
        """The SQLite file, where it is one."""
        assert isinstance(self.where, Path)
        return self.where

    def bearer(self, kind: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys[kind]}"}

    def post(self, batch: Batch, *, form: str = BINARY, **headers: str) -> TestResponse:
        data = encode(batch) if form == BINARY else encode_json(batch)
        return self.post_bytes(data, form=form, **headers)

    def post_bytes(self, data: bytes, *, form: str = BINARY, **headers: str) -> TestResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(
            "/v1/batches", data=data, headers={"Content-Type": form} | self.bearer("ingest") | named
        )

    def withdraw(self, batch_id: bytes) -> TestResponse:
        return self.client.post("/v1/withdrawals", json={"id": batch_id.hex()}, headers=self.bearer("ingest"))

    def estimate(self, metric: str, **query: str) -> TestResponse:
        return self.client.get(
            "/v1/estimates", query_string={"metric": metric, **query}, headers=self.bearer("analyst")
        )

    def counted(self, metric: str) -> int:
        """How many reports of a metric count."""
        return int(self.estimate(metric).json["groups"][0]["answer"]["n"])  # type: ignore[index]

    def estimates(self) -> bytes:
        """Everything that an analyst can be told, as bytes."""
        asked = [("dark", ""), ("seconds", "label"), ("system", "period")]
        return b"\n".join(self.estimate(metric, by=by).data for metric, by in asked)


@contextmanager
def site(directory: Path, **settings: Any) -> Iterator[Site]:
    """Run a collector in a directory, with the manifest in force, and if no database is named on SQLite."""
    clock = Clock()
    app = create_app(Config(**{"database": directory / "hubbub.sqlite3"} | settings), clock=clock)
    collector: Collector = app.extensions["hubbub"]
    publish(collector.store.manifests, METRICS)
    keys = {kind: add_key(collector.store.keys, kind) for kind in KINDS}
    try:
        yield Site(collector, app.test_client(), keys, clock)
    finally:
        collector.close()


def fresh_id() -> bytes:
    """Return an id that no other batch of this run has."""
    return next(_COUNTER).to_bytes(16, "big")


def batch(*columns: Column, id: bytes | None = None) -> Batch:  # noqa: A002 - the field's name
    """Return a batch, by default of three answers to one metric."""
    return Batch(id or fresh_id(), columns or (dark([1, 0, 1]),))


def dark(reports: Sequence[int], *, period: int = PERIOD) -> Column:
    """Return a column of the yes/no metric."""
    return Column(DARK.id, period, (), len(reports), bytes(reports))


def seconds(reports: Sequence[int], *, label: int = 0, period: int = PERIOD) -> Column:
    """Return a column of the number metric: grid positions."""
    data = np.array(reports, dtype="<i2").tobytes()
    return Column(SECONDS.id, period, (label,), len(reports), data)


def system(reports: Sequence[int], *, period: int = PERIOD * 7) -> Column:
    """Return a column of the choice metric: one byte of three bits a report."""
    return Column(SYSTEM.id, period, (), len(reports), bytes(reports))


def squeezed(data: bytes) -> bytes:
    """Return gzip that is the same each time."""
    return gzip.compress(data, mtime=0)


def code(response: TestResponse) -> str:
    """Return the problem code of a response, after checking that it is a problem document."""
    assert response.content_type == "application/problem+json", response.data
    document = json.loads(response.data)
    assert document["status"] == response.status_code
    assert document["type"] == f"urn:hubbub:problem:{document['code']}"
    return str(document["code"])
