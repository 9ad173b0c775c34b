"""This file gives a collector that was stopped, with a batch of three, and gives it commands and batches."""

import time
from pathlib import Path

from click.testing import CliRunner, Result

from hubbub.batch import BINARY, Batch, encode
from hubbub.period import period_at
from hubbub_server.app import create_app
from hubbub_server.commands.cli import command
from hubbub_server.commands.opened import settings
from tests.server.process import Served, set_up
from tests.server.site import batch, dark


def stopped(directory: Path) -> Served:
    """Set up a collector that took a batch."""
    directory.mkdir()
    made = set_up(directory)
    send(made)
    return made


def three() -> Batch:
    return batch(dark([1, 0, 1], period=period_at(time.time(), 7)))


def send(to: Served, sent: Batch | None = None) -> None:
    app = create_app(settings(to.directory / "hubbub.toml"))
    key, data = {"Authorization": f"Bearer {to.keys['ingest']}"}, encode(sent or three())
    answer = app.test_client().post("/v1/batches", data=data, content_type=BINARY, headers=key)
    app.extensions["hubbub"].close()
    assert answer.status_code == 200, answer.data


def send_and_kill(to: Served) -> None:
    to.start()
    status, answer = to.request("POST", "/v1/batches", body=encode(three()), form=BINARY)
    assert status == 200, answer
    to.kill()


def run(served: Served, *words: str) -> Result:
    return CliRunner().invoke(command, [*words, "--config", str(served.directory / "hubbub.toml")])
