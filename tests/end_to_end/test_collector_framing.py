"""This file proves that a collector on loopback answers broken HTTP with a problem, and goes on."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.batch import BINARY, encode
from hubbub.period import period_at
from hubbub_server.config import Config
from tests.server.case import MARK
from tests.server.malformed_framing import BROKEN
from tests.server.process import Served, set_up
from tests.server.site import batch, dark
from tests.server.wire import exchange

MOST = Config(database=Path("no.sqlite3")).largest_body
START = b"POST /v1/batches HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = set_up(tmp_path_factory.mktemp("framing"))
    running.start()
    yield running
    assert running.stop() == 0
    logged = (running.directory / "stderr.txt").read_text().splitlines()
    assert [line.split(" ")[0] for line in logged] == ["started", "stopping", "stopped"]


@pytest.mark.parametrize("name", BROKEN)
def test_broken_http_gets_a_problem_and_changes_nothing(served: Served, name: str) -> None:
    before = estimates(served)

    (answer,) = exchange(served, BROKEN[name])

    assert 400 <= answer.status < 500
    assert answer.is_problem
    assert json.loads(answer.body)["status"] == answer.status
    assert MARK.encode() not in answer.head + answer.body
    assert estimates(served) == before
    assert post(served)[0] == 200


def test_nothing_is_read_after_a_request_that_tells_its_end_in_two_ways(served: Served) -> None:
    sent = BROKEN["a length and chunks"] + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

    found = exchange(served, sent, answers=2)

    assert [answer.status for answer in found] == [400]


def test_chunks_are_taken(served: Served) -> None:
    data = encode(batch(dark([1], period=period_at(time.time(), 7))))
    head = START + f"Authorization: Bearer {served.keys['ingest']}\r\nContent-Type: {BINARY}\r\n".encode()
    chunks = b"".join(b"1\r\n" + data[at : at + 1] + b"\r\n" for at in range(len(data))) + b"0\r\n\r\n"

    (answer,) = exchange(served, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)

    assert (answer.status, json.loads(answer.body)["accepted"]) == (200, 1)


@pytest.mark.parametrize("size", [MOST, MOST + 1, 3 * MOST])
def test_who_sends_a_large_body_whole_before_listening_is_told_what_it_needs(
    served: Served, size: int
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)

    connection.request("POST", "/v1/batches", body=bytes(size))
    answer = connection.getresponse()

    told = json.loads(answer.read())["code"]
    connection.close()
    assert told == ("unauthorized" if size == MOST else "too_large")


def test_half_a_body_is_no_batch(served: Served) -> None:
    data = encode(batch(dark([1], period=period_at(time.time(), 7))))
    before = estimates(served)
    head = f"Authorization: Bearer {served.keys['ingest']}\r\nContent-Type: {BINARY}\r\n".encode()

    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(START + head + f"Content-Length: {len(data)}\r\n\r\n".encode() + data[:-1])

    assert estimates(served) == before


def estimates(served: Served) -> bytes:
    return served.request("GET", "/v1/estimates?metric=dark", key="analyst")[1]


def post(served: Served) -> tuple[int, bytes]:
    data = encode(batch(dark([1, 0], period=period_at(time.time(), 7))))
    return served.request("POST", "/v1/batches", body=data, form=BINARY)
