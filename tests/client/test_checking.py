"""This file proves what an app is told before it records: that it could not, and why, at no cost."""

import math
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hubbub.declaration import boolean
from hubbub.errors import DomainError, NotReachableError
from hubbub.manifest import Manifest
from hubbub_client import Client
from hubbub_client.sending.transport import Answer, Request
from hubbub_client.testing import RecordingTransport, WsgiTransport
from hubbub_server.app import create_app
from hubbub_server.config import Config
from hubbub_server.keys import add_key
from hubbub_server.publication import publish
from tests.client.conftest import DAY, MONDAY, Clock, Running

Make = Callable[..., Client]


def test_where_all_is_well_nothing_is_said_recorded_or_left(
    make: Make, running: Running, tmp_path: Path
) -> None:
    client = make(transport=running.transport, key=running.key)

    said = client.check()

    assert said == ()
    assert not (tmp_path / "device").exists()
    assert client.stats().skipped == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"key": None}, "no key was given"),
        ({"key": ""}, "no key was given"),
        ({"key": "hb_ingest_1"}, "unauthorized (is the key"),
        ({"key": "hb_ingest_..."}, "the key is still a placeholder"),
        ({"key": "secret"}, "begins with hb_ingest_"),
        ({"key": "hb_admin_1"}, "ship one that begins with hb_ingest_"),
        ({"url": "https://collector.invalid/api"}, "not_found (is the url right?)"),
        ({"transport": RecordingTransport([Answer(404, b"<html>")])}, "no collector answered 404"),
        ({"transport": RecordingTransport([Answer(200, b"<html>")])}, "something that is no collector"),
        ({"transport": RecordingTransport([Answer(200, b"[1]")])}, "something that is no collector"),
        ({"transport": RecordingTransport([Answer(200, b" " * 65_536)])}, "not compared"),
        ({"transport": RecordingTransport([NotReachableError("no answer (TLS)")])}, "no answer (TLS)"),
        ({"transport": RecordingTransport([ZeroDivisionError("SECRET")])}, "fault of its own"),
        ({"consent": "unknown"}, "before consent"),
        ({"environ": {"HUBBUB_OFF": "1"}}, "HUBBUB_OFF is set"),
    ],
    ids=lambda given: given if isinstance(given, str) else next(iter(given)),
)
def test_what_is_wrong_is_said_in_one_sentence(
    make: Make, running: Running, options: dict[str, Any], words: str
) -> None:
    given = {"transport": running.transport, "key": running.key, **options}

    said = make(**given).check()

    assert len(said) == 1
    assert words in said[0]
    assert "SECRET" not in said[0]


@pytest.mark.parametrize("timeout", [math.nan, -1.0, "soon"])
def test_a_check_never_raises_whatever_its_timeout_is(make: Make, running: Running, timeout: Any) -> None:
    client = make(transport=running.transport, key=running.key)

    said = client.check(timeout)

    assert len(said) <= 1  # "soon" is a mistake, and 0.1 seconds are the least


def test_a_check_keeps_its_timeout_while_a_name_is_looked_up_for_ever(make: Make) -> None:
    is_over = threading.Event()

    class Hanging(RecordingTransport):
        def send(self, request: Request) -> Answer:
            is_over.wait(60)
            return super().send(request)

    told = make(transport=Hanging(), key="hb_ingest_x").check(0.1)
    is_over.set()

    assert told == ("no answer from the collector within 0.1 seconds",)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"consent": "unknown"}, "before consent"), ({"environ": {"HUBBUB_OFF": "1"}}, "is set")],
)
def test_what_needs_no_collector_is_said_without_consent_too(
    make: Make, transport: RecordingTransport, options: dict[str, Any], words: str
) -> None:
    still_open = Manifest(app="notepad", serial=1, metrics=(boolean("open", epsilon="1", mechanism="best"),))

    obstacle, of_key, of_metric = make(key=None, manifest=still_open, **options).check()

    assert words in obstacle
    assert obstacle.endswith(" (so the collector was not tried)")
    assert "no key was given" in of_key
    assert "mechanism open" in of_metric
    assert transport.requests == []


@pytest.mark.parametrize("options", [{"consent": "refused"}, {"environ": {"DO_NOT_TRACK": "1"}}], ids=str)
def test_without_consent_nobody_is_asked(
    make: Make, transport: RecordingTransport, options: dict[str, Any]
) -> None:
    make(key="hb_ingest_1", **options).check()

    assert transport.requests == []


def test_an_app_that_nobody_published_is_told_so(make: Make, tmp_path: Path, clock: Clock) -> None:
    app = create_app(Config(database=tmp_path / "empty.sqlite3"), clock=clock)
    collector = app.extensions["hubbub"]

    (said,) = make(transport=WsgiTransport(app), key=add_key(collector.store.keys, "ingest")).check()
    collector.close()

    assert said.endswith('or nothing was published for the app "notepad"')


def test_each_metric_that_is_not_published_as_the_app_asks_it_is_named(
    make: Make, running: Running, manifest: Manifest
) -> None:
    dearer, kept = boolean("dark", epsilon="2"), manifest.metrics[1:]
    more = boolean("young", epsilon="1"), boolean("open", epsilon="1", mechanism="best")
    own = Manifest(app="notepad", serial=2, metrics=(dearer, *kept, *more))
    client = make(manifest=own, transport=running.transport, key=running.key)

    early = client.check()
    publish(running.collector.store.manifests, replace(manifest, serial=3, metrics=kept))
    late = client.check()

    assert [words.split()[0] for words in early] == ['"dark"', '"young"', '"open"']
    assert early[0].endswith("is not published as this app asks it; publish the manifest of this app")
    assert "mechanism open" in early[2]
    assert "serial 3 is, this app has 2)" in late[0]


def test_an_app_sees_why_nothing_is_recorded(make: Make, tmp_path: Path) -> None:
    client, other = make(), make()
    before = client.obstacle()
    client.record("dark", True)

    codes = []
    client.consent("refused", ["seconds"])
    codes.append([getattr(client.obstacle(name), "code", "") for name in (None, "dark", "seconds")])
    (tmp_path / "device" / "_off").touch()
    codes.append([getattr(client.obstacle(), "code", "")])
    (tmp_path / "device" / "_off").unlink()
    other.withdraw()
    codes.append([getattr(client.obstacle(), "code", ""), client.consents()["dark"]])

    assert before is None
    assert codes == [["", "", "consent"], ["off"], ["consent", "refused"]]


def test_to_look_for_obstacles_is_no_interruption(make: Make, clock: Clock) -> None:
    metrics = (boolean("dark", epsilon="1", absent=False),)
    for week in range(2):
        clock.now = MONDAY + week * 7 * DAY + 60
        client = make(manifest=Manifest(app="notepad", serial=1, metrics=metrics), consent="unknown")
        client.obstacle()
        client.check()
        client.consent("given")
        client.check_in()

    assert len(list(client.journal())) == 1


def test_an_obstacle_to_an_unknown_metric_is_an_error_that_names_the_known_ones(make: Make) -> None:
    with pytest.raises(DomainError, match="of that name; it has dark, seconds, system, loud"):
        make().obstacle("drak")


def test_a_device_that_can_not_be_read_is_an_obstacle(make: Make, tmp_path: Path) -> None:
    client = make()
    client.record("dark", True)
    (tmp_path / "device" / "device.sqlite3").write_bytes(b"no database at all" * 999)

    obstacle = make().obstacle()

    assert obstacle is not None
    assert obstacle.code == "storage"


def test_a_flush_says_why_there_is_nothing_to_send_where_nothing_can_be_kept(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "device").touch()
    client = make()
    outcome = client.record("dark", True)

    flushed = client.flush()

    assert (flushed.sent, flushed.waiting) == (0, 0)
    assert flushed.error == getattr(outcome, "message", None)
