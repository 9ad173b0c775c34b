"""This file proves that a collector on loopback answers broken HTTP with a problem, and goes on."""

import json
import socket
import time
from collections.abc import Iterator

import pytest

from hubbub.batch import BINARY, encode
from hubbub.period import period_at
from tests.server.process import Served, set_up
from tests.server.site import batch, dark

MARK = b"s3ntinel"
START = b"POST /v1/batches HTTP/1.1\r\nHost: x\r\n"
BROKEN = {
    "words": MARK + b"\r\n\r\n",
    "another protocol": b"GET /healthz SPDY/3\r\n\r\n",
    "a method in two words": b"PO ST /v1/batches HTTP/1.1\r\n\r\n",
    "a method in small letters": b"post /v1/batches HTTP/1.1\r\n\r\n",
    "a header without colon": START + MARK + b"\r\n\r\n",
    "a blank before the colon": START + b"Content-Length : 3\r\n\r\nabc",
    "a folded header": START + b"X-A: 1\r\n\t2\r\nContent-Length: 0\r\n\r\n",
    "a NUL in a header": START + b"X-A: \0" + MARK + b"\r\nContent-Length: 0\r\n\r\n",
    "a bare carriage return": START + b"X-A: a\rb\r\n\r\n",
    "a header of 300 kB": START + b"X-A: " + b"a" * 300_000 + b"\r\n\r\n",
    "a path of 300 kB": b"GET /" + b"a" * 300_000 + b" HTTP/1.1\r\n\r\n",
    "a length that is negative": START + b"Content-Length: -1\r\n\r\n",
    "a length with a sign": START + b"Content-Length: +3\r\n\r\nabc",
    "a length in words": START + b"Content-Length: " + MARK + b"\r\n\r\n",
    "a length in hex": START + b"Content-Length: 0x3\r\n\r\nabc",
    "two lengths": START + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "a list of lengths": START + b"Content-Length: 3, 3\r\n\r\nabc",
    "a length over the limit": START + b"Content-Length: 999999999999\r\n\r\n",
    "an unknown transfer coding": START + b"Transfer-Encoding: " + MARK + b"\r\n\r\n",
    "two transfer codings": START + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a length and chunks": START + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": b"POST /v1/batches HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a length of 5000 digits": START + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "a target that is no address": b"GET http://[::1/healthz HTTP/1.1\r\n\r\n",
    "a chunk size in words": START + b"Transfer-Encoding: chunked\r\n\r\n" + MARK + b"\r\n",
    "a negative chunk": START + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    "a chunk longer than it says": START + b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = set_up(tmp_path_factory.mktemp("framing"))
    running.start()
    yield running
    assert running.stop() == 0
    assert (running.directory / "stderr.txt").read_text() == ""


@pytest.mark.parametrize("name", BROKEN)
def test_broken_http_gets_a_problem_and_changes_nothing(served: Served, name: str) -> None:
    before = estimates(served)

    status, head, body = exchange(served, BROKEN[name])

    assert 400 <= status < 500
    assert b"content-type: application/problem+json" in head.lower()
    assert json.loads(body)["status"] == status
    assert MARK not in head + body
    assert estimates(served) == before
    assert post(served)[0] == 200


def test_nothing_is_read_after_a_request_that_tells_its_end_in_two_ways(served: Served) -> None:
    sent = BROKEN["a length and chunks"] + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(sent)
        received = b"".join(iter(lambda: connection.recv(65536), b""))

    assert received.count(b"HTTP/1.1 ") == 1


def test_chunks_are_taken(served: Served) -> None:
    data = encode(batch(dark([1], period=period_at(time.time(), 7))))
    head = START + f"Authorization: Bearer {served.keys['ingest']}\r\nContent-Type: {BINARY}\r\n".encode()
    chunks = b"".join(b"1\r\n" + data[at : at + 1] + b"\r\n" for at in range(len(data))) + b"0\r\n\r\n"

    status, _, body = exchange(served, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)

    assert (status, json.loads(body)["accepted"]) == (200, 1)


def test_half_a_body_is_no_batch(served: Served) -> None:
    data = encode(batch(dark([1], period=period_at(time.time(), 7))))
    before = estimates(served)
    head = f"Authorization: Bearer {served.keys['ingest']}\r\nContent-Type: {BINARY}\r\n".encode()

    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(START + head + f"Content-Length: {len(data)}\r\n\r\n".encode() + data[:-1])

    assert estimates(served) == before


def exchange(served: Served, sent: bytes) -> tuple[int, bytes, bytes]:
    """Send bytes and return status, head and body of the one answer."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(sent)
        received = b""
        while b"\r\n\r\n" not in received or len(received.partition(b"\r\n\r\n")[2]) < _length(received):
            piece = connection.recv(65536)
            assert piece, received
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), head, body


def estimates(served: Served) -> bytes:
    return served.request("GET", "/v1/estimates?metric=dark", key="analyst")[1]


def post(served: Served) -> tuple[int, bytes]:
    data = encode(batch(dark([1, 0], period=period_at(time.time(), 7))))
    return served.request("POST", "/v1/batches", body=data, form=BINARY)


def _length(received: bytes) -> int:
    head = received.partition(b"\r\n\r\n")[0].lower()
    return next(int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
