"""This file proves that two collectors behind nginx lose nothing, and that nobody leaves a trace there."""

import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
import requests

from hubbub.batch import BINARY, encode
from hubbub.period import period_at
from hubbub_server.problems import document
from tests.end_to_end.proxy import CONFIGURATION, Proxy, proxy
from tests.postgres import REQUIRED
from tests.server.process import Served, run, set_up
from tests.server.site import batch, dark
from tests.server.waiting import wait_until

pytestmark = pytest.mark.skipif(
    not (shutil.which("nginx") or os.environ.get(REQUIRED)), reason="nginx is not installed"
)
SOMEBODY = "127.0.0.77"
MARK = "s3ntinel"
OPERATIONS = (
    "/readyz",
    "/stats",
    "/operations/readyz",
    "/operations/stats",
    "/v1/keys",
    "/v1/../v1/keys",
    "/",
)
BEYOND_READING = {
    "nothing of HTTP": b"\x16\x03\x01\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "a long path": b"GET /" + bytes(40_000).replace(b"\0", b"a") + b" HTTP/1.1\r\nHost: h\r\n\r\n",
    "a long header": b"GET / HTTP/1.1\r\nX: " + bytes(40_000).replace(b"\0", b"a") + b"\r\nHost: h\r\n\r\n",
    "a path that goes up": b"GET /../../x HTTP/1.1\r\nHost: h\r\n\r\n",
    "a method that is none": b"TRACE / HTTP/1.1\r\nHost: h\r\n\r\n",
    "a version to come": b"GET / HTTP/3.0\r\nHost: h\r\n\r\n",
    "a coding that nobody uses": b"POST /v1/batches HTTP/1.1\r\nTransfer-Encoding: foo\r\nHost: h\r\n\r\n",
}
BEGUN = b"POST /v1/batches HTTP/1.1\r\nHost: h\r\nContent-Length: 99\r\n\r\nHB"
House = tuple[Proxy, Served, Served]


@contextmanager
def housed(directory: Path, *, patience: int = 10) -> Iterator[House]:
    """Two collectors on one database, operations on ports of their own, and the proxy before them."""
    first = set_up(directory)
    with (directory / "hubbub.toml").open("a") as settings:
        settings.write('operations_port = 0\nlog = "json"\n')
    second = Served(directory, first.keys)
    (directory / "proxy").mkdir()
    try:
        first.start()
        second.start()
        with proxy(directory / "proxy", (first.port, second.port), patience=patience) as running:
            yield running, first, second
    finally:
        first.end()
        second.end()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One house for the tests that leave it as it was."""
    with housed(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """One that a test may bring down, and that waits for nobody longer than a second."""
    with housed(tmp_path, patience=1) as running:
        yield running


def ask(through: Proxy, method: str, path: str, *, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
    """Send one request as somebody who can be recognised in every way."""
    connection = HTTPConnection("127.0.0.1", through.port, timeout=60, source_address=(SOMEBODY, 0))
    about = {"User-Agent": MARK, "Referer": MARK, "Cookie": f"id={MARK}", "X-Forwarded-For": SOMEBODY}
    try:
        connection.request(method, path, body=body, headers=about | headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def post(through: Proxy, served: Served, data: bytes) -> tuple[int, bytes]:
    key = {"Authorization": f"Bearer {served.keys['ingest']}", "Content-Type": BINARY}
    return ask(through, "POST", "/v1/batches", body=data, **key)


def fresh(reports: list[int]) -> bytes:
    return encode(batch(dark(reports, period=period_at(time.time(), 7)), id=os.urandom(16)))


def counted(through: Proxy, served: Served) -> int:
    key = {"Authorization": f"Bearer {served.keys['analyst']}"}
    status, answer = ask(through, "GET", "/v1/estimates?metric=dark", **key)
    assert status == 200, answer
    return int(json.loads(answer)["groups"][0]["answer"]["n"])


def test_a_batch_that_is_sent_again_and_again_counts_once(shared: House) -> None:
    through, first, _ = shared
    before, data = counted(through, first), fresh([1, 0, 1])

    answers = {post(through, first, data) for _ in range(8)}

    assert [status for status, _ in answers] == [200]
    assert counted(through, first) == before + 3


def test_no_request_fails_when_one_of_two_collectors_is_killed(house: House) -> None:
    through, first, second = house
    before = [post(through, first, fresh([1, 1]))[0] for _ in range(10)]
    second.kill()

    after = [post(through, first, fresh([1, 1]))[0] for _ in range(30)]

    assert before + after == [200] * 40
    assert counted(through, first) == 80


def test_operations_are_not_reached_through_the_proxy(shared: House) -> None:
    through, first, _ = shared
    key = {"Authorization": f"Bearer {first.keys['admin']}"}

    answers = {path: ask(through, "GET", path, **key) for path in OPERATIONS}

    assert answers == dict.fromkeys(OPERATIONS, (404, document("not_found")))


def test_what_the_proxy_refuses_itself_is_a_problem_of_the_protocol(house: House) -> None:
    through, first, second = house
    large = post(through, first, bytes(17 * 2**20))
    first.kill()
    second.kill()

    lost = post(through, first, fresh([1]))

    assert [(status, answer) for status, answer in (large, lost)] == [
        (413, document("too_large")),
        (503, document("overloaded")),
    ]


@pytest.mark.parametrize("sent", BEYOND_READING.values(), ids=BEYOND_READING)
def test_what_the_proxy_can_t_read_is_a_problem_too(shared: House, sent: bytes) -> None:
    through, _, _ = shared
    with socket.create_connection(("127.0.0.1", through.port), timeout=30) as line:
        line.sendall(sent)
        with closing(HTTPResponse(line)) as answer:
            answer.begin()

            assert (answer.status, answer.read()) == (400, document("malformed_request"))
            assert answer.headers["Content-Type"] == "application/problem+json"


def test_the_guide_changes_what_has_to_be_changed_outside_of_a_container(tmp_path: Path) -> None:
    guide = (CONFIGURATION.parents[1] / "docs" / "guide-operators.md").read_text("utf-8")
    (line,) = re.findall(r"\$ (sed (?:.*\\\n)*.*deploy/nginx\.conf) > /etc/nginx/nginx\.conf", guide)

    text = subprocess.run(
        ["sh", "-c", line], cwd=CONFIGURATION.parents[1], check=True, capture_output=True, text=True
    ).stdout

    assert "pid /run/nginx.pid;" in text
    assert "listen 127.0.0.1:8760;" in text
    assert re.findall(r"^ +server (\S+:\d+)", text, re.MULTILINE) == ["127.0.0.1:8750", "127.0.0.1:8752"]
    assert "/tmp/" not in text  # noqa: S108 - where others may write
    for there in ("/run/", "/var/lib/nginx/"):
        text = text.replace(there, f"{tmp_path}/")
    (tmp_path / "nginx.conf").write_text(text)
    subprocess.run(["nginx", "-t", "-q", "-c", str(tmp_path / "nginx.conf")], check=True)


def test_who_holds_many_connections_is_told_to_come_back(shared: House) -> None:
    through, first, _ = shared
    with ExitStack() as stack:
        for _ in range(100):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", through.port), timeout=30))
            line.sendall(BEGUN)
        answers: list[requests.Response] = []

        def is_refused() -> bool:
            answers.append(requests.get(f"http://127.0.0.1:{through.port}/v1/openapi.json", timeout=30))
            return answers[-1].status_code != 200

        wait_until(is_refused)  # once all that was begun is counted
        elsewhere = post(through, first, fresh([1]))[0]

    assert (answers[-1].status_code, answers[-1].content) == (503, document("overloaded"))
    assert answers[-1].headers["Retry-After"] == "10"
    assert answers[-1].headers["Content-Type"] == "application/problem+json"
    assert elsewhere == 200  # from another address


def test_a_connection_that_dawdles_is_ended(house: House) -> None:
    through, _, _ = house

    ends = [dawdle(through, begun) for begun in (b"POST /v1/batches HTTP/1.1\r\nHo", BEGUN)]

    assert all(end == b"" or end.startswith(b"HTTP/1.1 408") for end in ends)


def test_nobody_leaves_a_trace(house: tuple[Proxy, Served, Served], tmp_path: Path) -> None:
    through, first, second = house
    kept, withdrawn = fresh([1, 0, 1]), fresh([1])
    ids = [data[4:20] for data in (kept, withdrawn)]
    for data in (kept, withdrawn, b"nonsense" + MARK.encode()):
        post(through, first, data)
    key = {"Authorization": f"Bearer {first.keys['ingest']}", "Content-Type": "application/json"}
    ask(through, "POST", "/v1/withdrawals", body=json.dumps({"id": ids[1].hex()}).encode(), **key)
    ask(through, "GET", f"/v1/{MARK}?{MARK}", **key)
    exported = run("export", "dark", "--config", str(tmp_path / "hubbub.toml"), "--format", "csv")
    told = {"export": exported.encode(), "stats": stats(first)}

    told |= contents(tmp_path)
    first.stop()
    second.stop()
    told |= {f"{name} after the end": data for name, data in contents(tmp_path).items()}

    traces = [SOMEBODY.encode(), MARK.encode(), *ids, *(each.hex().encode() for each in ids)]
    assert [(name, trace) for name, data in told.items() for trace in traces if trace in data] == []
    assert kept[-3:] in told["hubbub.sqlite3-wal"]
    assert b"hubbub_requests_total" in told["stats"]
    assert times(first.database) == []


def dawdle(through: Proxy, begun: bytes) -> bytes:
    """Begin a request, send nothing more, and return what comes before the connection ends."""
    with socket.create_connection(("127.0.0.1", through.port), timeout=30) as line:
        line.sendall(begun)
        try:
            return line.recv(100)
        except ConnectionResetError:
            return b""


def contents(directory: Path) -> dict[str, bytes]:
    """All that is written anywhere, but for the configuration."""
    paths = (path for path in directory.rglob("*") if path.is_file() and path.suffix != ".conf")
    return {path.name: path.read_bytes() for path in paths}


def stats(served: Served) -> bytes:
    """What Prometheus is told by the collectors, on their ports for operations."""
    lines = [json.loads(line) for line in (served.directory / "stderr.txt").read_text().splitlines()]
    urls = [line["operations"] for line in lines if line["event"] == "started"]
    assert len(urls) == 2
    key = {"Authorization": f"Bearer {served.keys['admin']}"}
    return b"".join(requests.get(f"{url}/stats", headers=key, timeout=30).content for url in urls)


def times(database: Path) -> list[tuple[str, Any]]:
    """Every number in a database that could be a time of these days, in seconds or parts of them."""
    found = []
    now = time.time()
    with sqlite3.connect(database) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for table in tables:
            for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - ours
                found += [
                    (table, cell) for cell in row if isinstance(cell, int | float) and is_time(cell, now)
                ]
    connection.close()
    return found


def is_time(cell: float, now: float) -> bool:
    return any(abs(cell / scale - now) < 30 * 86400 for scale in (1, 1e3, 1e6, 1e9))
