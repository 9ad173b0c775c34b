"""This file proves that a client in another language, written from the protocol's page, is understood."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.atlas import VECTORS, publish_atlas
from tests.server.process import Served, set_up

CLIENT = Path(__file__).parents[1] / "vectors" / "client.mjs"
NODE = shutil.which("node") or ""
pytestmark = pytest.mark.skipif(not NODE, reason="Node.js is not installed, in whose language the client is")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    running = set_up(tmp_path)
    publish_atlas(running.database)
    running.start()
    try:
        yield running
    finally:
        running.end()


def test_it_computes_every_vector() -> None:
    printed = _run("check")

    assert printed.split(" ")[1] == "metrics,"


def test_its_batches_are_counted_once_in_any_form_and_not_once_withdrawn(served: Served) -> None:
    printed = _run("send", f"http://127.0.0.1:{served.port}", served.keys["ingest"])

    expected = {vector["name"]: len(vector["possible"]) for vector in VECTORS["metrics"]}
    assert printed == f"{len(expected)} columns\n"
    assert {name: _counted(served, name) for name in expected} == expected


def _run(*arguments: str) -> str:
    done = subprocess.run(
        [NODE, str(CLIENT), *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def _counted(served: Served, name: str) -> int:
    status, body = served.request("GET", f"/v1/estimates?metric=atlas/{name}", key="analyst")
    assert status == 200
    answer: dict[str, Any] = json.loads(body)["groups"][0]["answer"]
    return int(answer["n"])
