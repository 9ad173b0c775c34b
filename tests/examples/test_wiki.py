"""This file serves the wiki with a real gunicorn: one client, made before the fork, for several workers."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.examples.conftest import EXAMPLES, Asked, Home

FOLDER = EXAMPLES / "wiki"
WORKERS = 3
METRICS = ("pages", "searched", "python")


@pytest.fixture
def asked(serve: Callable[[Path], Asked]) -> Asked:
    return serve(FOLDER / "metrics.toml")


@pytest.fixture
def settings(asked: Asked, home: Home) -> dict[str, str]:
    address = {"WIKI_COLLECTOR": asked.url, "WIKI_KEY": asked.key, "WIKI_SEND_AT_ONCE": "1"}
    return home.environment(**address)


def decide(decision: str, settings: dict[str, str]) -> str:
    command = [sys.executable, "-m", "flask", "--app", "wiki", "telemetry", decision]
    return subprocess.run(
        command, cwd=FOLDER, env=settings, capture_output=True, text=True, check=True
    ).stdout


@contextmanager
def serving(settings: dict[str, str], log: Path) -> Iterator[int]:
    """Serve the wiki until the block ends, and give its port."""
    command = [sys.executable, "-m", "gunicorn", "--preload", "--workers", str(WORKERS)]
    options = ["--bind", "127.0.0.1:0", "--access-logfile", "-", "--access-logformat", "worker %(p)s"]
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, *options, "wiki:create_app()"], cwd=FOLDER, env=settings, stdout=out, stderr=out
        )
    try:
        yield int(wait_for(lambda: re.findall(r"Listening at: http://127.0.0.1:(\d+)", log.read_text()))[0])
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0, log.read_text()


def use(port: int) -> None:
    """Write and search as many people at once."""
    with ThreadPoolExecutor(8) as people:
        wrote = list(people.map(lambda at: ask(port, "PUT", f"/pages/page{at}", "crowd"), range(40)))
        found = list(people.map(lambda _: ask(port, "GET", "/search/crowd"), range(40)))
    assert {status for status, _ in wrote} == {204}
    assert {status for status, _ in found} == {200}


def ask(port: int, method: str, path: str, body: str = "") -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def wait_for(condition: Callable[[], list[str]]) -> list[str]:
    deadline = time.monotonic() + 30
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found
    return found


def arrived(asked: Asked) -> list[str]:
    """Return the metrics of which a report is counted, once all are."""
    counted = [name for name in METRICS if asked.count(name)]
    return counted if len(counted) == len(METRICS) else []


def test_all_workers_of_an_installation_answer_each_question_once_and_its_operator_sees_it(
    asked: Asked, settings: dict[str, str], tmp_path: Path
) -> None:
    decide("on", settings)

    logs = [tmp_path / "first.log", tmp_path / "second.log"]
    for log in logs:  # the operator restarts it
        with serving(settings, log) as port:
            use(port)
            wait_for(lambda: arrived(asked))

    workers = [set(re.findall(r"^worker <(\d+)>", log.read_text(), re.MULTILINE)) for log in logs]
    assert min(map(len, workers)) > 1
    assert [asked.count(name) for name in METRICS] == [1, 1, 1]
    page = decide("show", settings)
    assert page.startswith("<!DOCTYPE html>")
    assert "decide whether search is worth our time" in page
    assert asked.url in page


def test_an_installation_whose_operator_was_not_asked_keeps_and_sends_nothing(
    asked: Asked, settings: dict[str, str], home: Home, tmp_path: Path
) -> None:
    log = tmp_path / "log"

    with serving(settings, log) as port:
        use(port)

    assert "May this wiki tell its makers" in log.read_text()
    assert [asked.count(name) for name in METRICS] == [0, 0, 0]
    assert {os.path.dirname(file) for file in home.files} == {".local/share/wiki/pages"}  # noqa: PTH120
