"""This file proves that every problem is documented with its action, and that none tells what was sent."""

import ast
import json
import logging
import re
from pathlib import Path

import pytest

from hubbub.errors import BatchError, DomainError, RefusedError, StorageError
from hubbub_server.logs import trail
from hubbub_server.problems import PROBLEMS, REPORT_CODES, code_of_status, document
from tests.server.site import Site, batch, code

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text("utf-8")
SECRET = "s3ntinel"


def test_the_page_has_every_code_with_its_status_and_action_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d{3}) \| (.+) \|$", PAGE, re.MULTILINE)

    assert rows == [(name, str(problem.status), problem.action) for name, problem in PROBLEMS.items()]


def test_the_page_has_every_reason_for_refusing_a_report() -> None:
    section = PAGE.partition("## Sending a batch")[2].partition("## ")[0]

    assert re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE) == list(REPORT_CODES.items())


def test_every_code_that_is_raised_is_in_the_table() -> None:
    raised = {
        argument.value
        for path in (ROOT / "server").rglob("*.py")
        if path.parent.name != "commands" and path.name != "analyst.py"  # which asks from afar
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "RefusedError"
        for argument in call.args[:1]
        if isinstance(argument, ast.Constant)
    }

    assert {"unauthorized", "withdrawn", "too_large", "bad_query"} <= raised <= set(PROBLEMS)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_a_document(name: str) -> None:
    found = json.loads(document(name, "because", columns=[1]))

    assert found["type"] == f"urn:hubbub:problem:{name}"
    assert (found["code"], found["status"]) == (name, PROBLEMS[name].status)
    assert (found["detail"], found["columns"]) == ("because", [1])


def test_a_problem_can_be_written_whatever_it_names() -> None:
    assert json.loads(document("bad_manifest", "\ud800"))["detail"] == "\ud800"


@pytest.mark.parametrize("status", [*range(300, 452), *range(500, 512)])
def test_every_status_of_a_framework_has_a_code(status: int) -> None:
    assert 400 <= PROBLEMS[code_of_status(status)].status < 600


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError(SECRET), "internal_error"),
        (DomainError(SECRET), "internal_error"),
        (StorageError(SECRET), "storage_failed"),
        (KeyError(SECRET), "internal_error"),
        (MemoryError(), "internal_error"),
    ],
)
def test_an_unforeseen_error_tells_nothing_and_is_logged_without_its_words(
    home: Site,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    expected: str,
) -> None:
    def fail(change: object) -> None:
        raise error

    with monkeypatch.context() as patch, caplog.at_level(logging.DEBUG):
        patch.setattr(type(home.collector.intake), "receive", lambda *_: fail(None))
        answer = home.post(batch())

    assert (answer.status_code // 100, code(answer)) == (5, expected)
    assert SECRET not in answer.text
    assert len(caplog.records) == 1
    assert home.post(batch()).status_code == 200


def test_a_trail_names_places_and_not_words() -> None:
    try:
        raise ValueError(SECRET)
    except ValueError as error:
        found = trail(error)

    assert found.startswith("ValueError < ")
    assert "test_problems.py" in found
    assert SECRET not in found


@pytest.mark.parametrize(
    ("error", "expected"),
    [(BatchError("no"), "malformed_batch"), (RefusedError("withdrawn", "no"), "withdrawn")],
)
def test_our_own_refusals_keep_their_code(
    home: Site, monkeypatch: pytest.MonkeyPatch, error: Exception, expected: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(type(home.collector.intake), "receive", fail)

    assert code(home.post(batch())) == expected


def test_who_lacks_a_key_is_told_how_to_send_one(home: Site) -> None:
    answer = home.client.get("/operations/v1/keys")

    assert (answer.status_code, code(answer)) == (401, "unauthorized")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="hubbub"'
