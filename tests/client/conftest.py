"""This file sets the table for tests of the device: a manifest, a clock to turn, and the real collector."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hubbub.declaration import boolean, choice, number
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery
from hubbub_client.testing import RecordingTransport, WsgiTransport
from hubbub_server.app import create_app
from hubbub_server.collector import Collector
from hubbub_server.config import Config
from hubbub_server.keys import add_key
from hubbub_server.publication import publish

MONDAY = 1_767_571_200  # 2026-01-05 00:00 UTC: periods of 1 and 7 days begin, one of 28 is half over
DAY = 86_400


@dataclass(slots=True)
class Clock:
    """A clock that stands until it is turned."""

    now: float = MONDAY + 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a user's home of its own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "hubbub"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def manifest() -> Manifest:
    return Manifest(
        app="notepad",
        serial=1,
        metrics=(
            boolean("dark", epsilon="1"),
            number("seconds", low=0, high=10, epsilon="0.5", period="1d"),
            choice("system", options=["linux", "mac", "other"], epsilon="2", once=True),
            boolean("loud", epsilon="5"),
        ),
    )


@pytest.fixture
def transport() -> RecordingTransport:
    return RecordingTransport()


@pytest.fixture
def make(
    tmp_path: Path, manifest: Manifest, clock: Clock, transport: RecordingTransport
) -> Iterator[Callable[..., Client]]:
    """Make clients on one directory, closed at the end; options as for Client."""
    made: list[Client] = []

    def make_one(**options: Any) -> Client:
        defaults: dict[str, Any] = {
            "manifest": manifest,
            "clock": clock,
            "transport": transport,
            "data_dir": tmp_path / "device",
            "delivery": Delivery(delay=0, background=False),
        }
        made.append(Client.for_testing(**{**defaults, **options}))
        return made[-1]

    yield make_one
    for client in made:
        client.close()


@dataclass(frozen=True, slots=True)
class Running:
    """The real collector in this process, a way to it, and a key to it."""

    collector: Collector
    transport: WsgiTransport
    key: str


@pytest.fixture
def running(tmp_path: Path, manifest: Manifest, clock: Clock) -> Iterator[Running]:
    app = create_app(Config(database=tmp_path / "collector.sqlite3"), clock=clock)
    collector: Collector = app.extensions["hubbub"]
    publish(collector.store.manifests, manifest)
    yield Running(collector, WsgiTransport(app), add_key(collector.store.keys, "ingest"))
    collector.close()
