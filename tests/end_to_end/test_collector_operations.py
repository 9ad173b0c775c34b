"""This file proves that operations keep to their port, and answer while the rest ends."""

import gzip
import http.client
import json
import os
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.batch import BINARY, encode
from hubbub.period import period_at
from tests.server.process import Served, serving
from tests.server.site import batch, dark
from tests.server.waiting import wait_until

OPERATIONS = [
    ("GET", "/operations/readyz"),
    ("GET", "/operations/stats"),
    ("GET", "/operations/v1/keys"),
    ("PUT", "/operations/v1/manifests/notepad"),
]
DEVICES = [
    ("POST", "/v1/batches"),
    ("GET", "/v1/metrics"),
    ("GET", "/v1/estimates"),
    ("GET", "/v1/openapi.json"),
]
APART = {"operations_port": "0", "log": "json"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path, **APART) as running:
        yield running


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for the tests that leave it as it was."""
    with serving(tmp_path_factory.mktemp("shared"), **APART) as running:
        yield running


def test_each_port_answers_its_own_routes_only(shared: Served) -> None:
    def statuses(routes: list[tuple[str, str]], port: int) -> list[int]:
        return [shared.request(method, path, key="admin", port=port)[0] for method, path in routes]

    assert statuses(OPERATIONS, shared.port) == [404] * 4
    assert statuses(DEVICES, shared.operations_port) == [404] * 4
    assert statuses(OPERATIONS, shared.operations_port) == [200, 200, 200, 415]
    assert statuses(DEVICES, shared.port) == [403, 200, 400, 200]
    assert statuses([("GET", "/healthz")], shared.port) == statuses(
        [("GET", "/healthz")], shared.operations_port
    )


def test_stats_tell_what_both_ports_did(served: Served) -> None:
    post(served)
    with socket.create_connection(("127.0.0.1", served.port)) as line:
        line.sendall(b"s3ntinel\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.0 400")

    text = stats(served)

    assert b'hubbub_batches_total{outcome="kept"} 1.0' in text
    assert (
        b'hubbub_requests_total{code="malformed_request",method="other",route="none",status="400"} 1.0'
        in text
    )


def test_a_collector_that_stops_answers_what_it_works_on_and_says_that_it_is_not_ready(
    served: Served,
) -> None:
    body = gzip.compress(encode(batch(dark([1] * 12_000_000, period=period_at(time.time(), 7)))))
    headers = {"Authorization": f"Bearer {served.keys['ingest']}", "Content-Type": BINARY}
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.request("POST", "/v1/batches", body=body, headers=headers | {"Content-Encoding": "gzip"})
    for _ in range(2):  # when later requests are answered, this one, read at once, has a thread
        served.request("GET", "/healthz")
    assert served.process is not None

    os.kill(served.process.pid, signal.SIGTERM)
    said = ready(served)
    with closing(connection):
        answer = connection.getresponse()
        accepted = json.loads(answer.read())["accepted"]
    served.process.communicate(timeout=60)

    assert said == (503, "not_ready", "the collector is stopping")
    assert (answer.status, accepted, served.process.returncode) == (200, 12_000_000, 0)
    with pytest.raises(ConnectionRefusedError):
        post(served)
    served.start()
    status, body = served.request("GET", "/v1/estimates?metric=dark", key="analyst")
    assert (status, json.loads(body)["groups"][0]["answer"]["n"]) == (200, 12_000_000)


@pytest.mark.torture
def test_a_batch_that_waits_for_the_disk_at_a_stop_is_still_answered(served: Served) -> None:
    post(served)
    stats(served)  # so that this key's day of use is noted, too
    other = sqlite3.connect(served.database)
    other.execute("BEGIN IMMEDIATE")
    statuses: list[int] = []
    device = threading.Thread(target=lambda: statuses.append(post(served)))
    device.start()
    wait_until(lambda: b"hubbub_waiting_changes 1.0" in stats(served))
    assert served.process is not None

    served.process.terminate()
    wait_until(lambda: '"stopping"' in (served.directory / served.log).read_text())
    said = ready(served)  # not before: its own write would wait for the disk, too
    time.sleep(5.5)  # longer than waitress waits for its threads, shorter than a commit for the lock
    other.rollback()
    other.close()
    device.join()
    served.process.communicate(timeout=30)

    assert said == (503, "not_ready", "the collector is stopping")
    assert (statuses, served.process.returncode) == ([200], 0)


def test_a_connection_that_sends_slowly_keeps_nothing_from_stopping(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as line:
        line.sendall(b"POST /v1/batches HTTP/1.1\r\nHost: slow\r\nContent-Length: 1000\r\n\r\nbegun")
        post(served)

        code = served.stop()

        assert code == 0
        assert line.recv(100) == b""


def test_two_collectors_on_one_database_share_a_limit(served: Served) -> None:
    served.stop()
    served.settings = served.settings | {"reports_per_day": "30"}
    other = Served(served.directory, served.keys, settings=served.settings)
    try:
        for one in (served, other):
            one.start()

        statuses = [post(one) for _ in range(25) for one in (served, other)]
    finally:
        other.end()

    assert (statuses.count(200), statuses.count(429)) == (30, 20)


def test_the_log_is_lines_of_json_about_the_collector_only(served: Served) -> None:
    post(served)
    served.request("GET", "/s3ntinel?s3ntinel=1")
    served.stop()

    lines = [json.loads(line) for line in (served.directory / "stderr.txt").read_text().splitlines()]

    assert [line["event"] for line in lines] == ["started", "stopping", "stopped"]
    assert lines[0] == {
        "level": "info",
        "event": "started",
        "version": lines[0]["version"],
        "url": f"http://127.0.0.1:{served.port}",
        "operations": f"http://127.0.0.1:{served.operations_port}/operations",
    }


@pytest.mark.parametrize("sent", [b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"s3ntinel\r\n\r\n"])
def test_no_answer_names_its_server_and_every_one_has_the_headers(shared: Served, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", shared.port)) as line:
        line.sendall(sent)
        head = line.recv(4096).partition(b"\r\n\r\n")[0].decode().lower()

    names = [field.partition(":")[0] for field in head.split("\r\n")[1:]]
    assert "server" not in names
    assert "via" not in names
    assert {"x-content-type-options", "content-security-policy", "referrer-policy", "cache-control"} <= set(
        names
    )


def ready(served: Served) -> tuple[int, str, str]:
    """Ask whether all is well, where it is not."""
    status, body = served.request("GET", "/operations/readyz", port=served.operations_port)
    document = json.loads(body)
    return status, document["code"], document["detail"]


def stats(served: Served) -> bytes:
    return served.request("GET", "/operations/stats", key="analyst", port=served.operations_port)[1]


def post(served: Served) -> int:
    data = encode(batch(dark([1], period=period_at(time.time(), 7))))
    return served.request("POST", "/v1/batches", body=data, form=BINARY)[0]
