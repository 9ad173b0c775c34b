"""This file proves that the log says what began, ended and failed, and nothing that came from outside."""

import json
import logging
import subprocess
import sys

import pytest

from hubbub.errors import StorageError
from hubbub.period import DAY
from hubbub_server.housekeeping import Housekeeping
from hubbub_server.keys import day_of
from hubbub_server.logs import NAME, set_up, tell, trail
from tests.server.site import Site, batch


def test_lines_of_json_hold_the_event_and_its_facts(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(form="json", level="info")

    tell("started", port=8750, url="http://127.0.0.1:8750")

    assert json.loads(capsys.readouterr().err) == {
        "level": "info",
        "event": "started",
        "port": 8750,
        "url": "http://127.0.0.1:8750",
    }


def test_lines_of_text_are_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(form="text", level="info")

    tell("started", port=8750)
    tell("stopped")

    assert capsys.readouterr().err == "started port=8750\nstopped\n"


def test_what_is_below_the_level_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(form="text", level="error")

    tell("stopped")
    tell("a request failed", level=logging.ERROR)

    assert capsys.readouterr().err == "a request failed\n"


def test_setting_up_twice_writes_a_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(form="text", level="info")
    set_up(form="text", level="info")

    tell("stopped")

    assert capsys.readouterr().err == "stopped\n"


def test_a_library_that_warns_is_named_and_not_repeated() -> None:
    code = f"""
import logging
from {set_up.__module__} import set_up
set_up(form="json", level="info")
logging.getLogger("psycopg.pool").warning("connection to %s failed", "s3ntinel")
logging.getLogger("psycopg.pool").info("s3ntinel")
"""

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr.splitlines() == [
        '{"level": "warning", "event": "a library warns", "library": "psycopg.pool"}'
    ]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_fault_is_told_by_its_type_and_place(
    home: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    set_up(form=form, level="info")

    def fail(*_: object) -> None:
        raise ValueError("s3ntinel")

    monkeypatch.setattr(type(home.collector.intake), "receive", fail)

    answer = home.post(batch())

    (line,) = capsys.readouterr().err.splitlines()
    assert answer.status_code == 500
    assert "a request failed" in line
    assert "ValueError < " in line
    assert "s3ntinel" not in line


def test_a_fault_beyond_all_handlers_is_not_told_in_words_of_the_request(
    home: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(form="text", level="info")

    def fail(*_: object) -> None:
        raise ValueError("s3ntinel")

    monkeypatch.setattr(type(home.collector.stats), "request", fail)

    answer = home.client.get("/v1/s3ntinel")

    assert answer.status_code == 500
    assert set(capsys.readouterr().err.splitlines()) == {"a library warns library=hubbub_server.app"}


def test_refusals_write_no_line(home: Site, capsys: pytest.CaptureFixture[str]) -> None:
    set_up(form="text", level="info")
    home.post_bytes(b"s3ntinel")
    home.client.get("/v1/s3ntinel?s3ntinel=1")
    home.client.get("/operations/v1/keys")

    assert capsys.readouterr().err == ""


def test_the_words_of_an_error_are_never_written(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(form="json", level="info")

    try:
        raise ValueError("s3ntinel")
    except ValueError as error:
        logging.getLogger(NAME).exception("a step failed", extra={"facts": {"fault": trail(error)}})

    assert "s3ntinel" not in capsys.readouterr().err


def test_what_housekeeping_deletes_and_meets_is_told(
    home: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(form="text", level="info")
    home.post(batch())
    clock, today = home.clock, int(home.clock.now // DAY) + 200
    clock.now = float(today * DAY)
    store, add_up = home.collector.store, home.collector.catalog.add_up
    steady = iter([0.0, DAY, DAY]).__next__
    keeper = Housekeeping(store.upkeep, add_up, keep_raw_days=100, clock=clock, steady=steady)

    steps = [keeper.step() for _ in range(3)]
    monkeypatch.setattr(type(store.upkeep), "fold", _fail)
    keeper.step()

    assert steps == [False, True, False]
    assert capsys.readouterr().err.splitlines() == [
        f"raw reports deleted of_periods_before={day_of((today - 100) * DAY)}",
        "database written anew",
        "housekeeping failed fault=the disk is gone",
    ]


def _fail(*_: object) -> bool:
    raise StorageError("the disk is gone")
