"""This file proves that connections which send slowly cost an honest client no request."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from hubbub.batch import BINARY, encode
from hubbub.period import period_at
from tests.server.case import Case
from tests.server.process import Served, altered, serving
from tests.server.site import MANIFEST, batch, dark
from tests.server.wire import as_bytes, exchange

SLOW = 200
DEAF = 200  # connections that ask and never read
SECONDS = 30.0
HELD = 60  # connections with large bodies
MIB = 2**20

FAULTY = """
from hubbub_server.parsing import StrictParser

def parse_header(parser, head, true=StrictParser.parse_header):
    assert b"fault" not in head
    true(parser, head)

StrictParser.parse_header = parse_header"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as running:
        yield running


@pytest.mark.torture
def test_an_honest_client_fails_never_while_200_connections_send_slowly(served: Served) -> None:
    ending, statuses = time.monotonic() + SECONDS, list[int]()
    with ExitStack() as stack:
        slow = [stack.enter_context(_connect(served)) for _ in range(SLOW)]
        dripping = threading.Thread(target=_drip, args=(slow, served, ending))
        dripping.start()

        while time.monotonic() < ending:
            statuses.append(_post(served))

        dripping.join()
        still_open = [connection for connection in slow if _is_open(connection)]

    assert len(statuses) > 100
    assert set(statuses) == {200}
    assert len(still_open) == SLOW  # they were slow to the end


@pytest.mark.torture
@pytest.mark.parametrize("size", [2 * MIB, MIB // 4])
def test_large_bodies_on_their_way_share_a_room_whoever_sends_them(served: Served, size: int) -> None:
    served.stop()
    served.settings = {"largest_body": str(size)}  # so that 16 of them have room
    served.start()
    stranger = as_bytes(Case("", bytes(size), BINARY, key=""), served.keys)

    with ExitStack() as stack:
        held = [stack.enter_context(_connect(served)) for _ in range(HELD)]
        with ThreadPoolExecutor(HELD) as threads:
            list(threads.map(lambda connection: connection.sendall(stranger[:-1]), held))
            honest = _post(served)
            answers = list(threads.map(lambda connection: _last_of(connection, stranger), held))
    whole = [exchange(served, stranger)[0].status for _ in range(20)]  # what was taken is given back

    refused = [answer for answer in answers if b" 503 " in answer]
    assert 0 < len(refused) < HELD
    assert {answer.split(b" ")[1] for answer in answers} == {b"401", b"503"}
    assert {b"Retry-After: 10" in answer for answer in refused} == {True}
    assert honest == 200
    assert set(whole) == {401}


def test_who_asks_and_never_reads_is_not_answered_without_end(served: Served) -> None:
    question = b"GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    once = len(exchange(served, question)[0].body)
    _post(served)
    before = served.resident

    with ExitStack() as stack:
        for _ in range(DEAF):
            deaf = stack.enter_context(_deaf(served))
            deaf.sendall(question * (8000 // len(question)))
        statuses = {_post(served) for _ in range(20)}
        grown = served.resident - before

    assert statuses == {200}
    assert once > 20_000  # so all of it would take far more
    assert grown < 64


def test_who_asks_for_much_at_once_and_reads_slowly_takes_no_thread(tmp_path: Path) -> None:
    options = ", ".join(f'"{number:0100}"' for number in range(3000))
    text = f'{MANIFEST}[metrics.large]\nkind = "choice"\noptions = [{options}]\nepsilon = "1"\n'
    with serving(tmp_path, text, threads="4") as served, ExitStack() as stack:
        question = as_bytes(Case("", b"", None, method="GET", path="/v1/manifests/notepad"), served.keys)
        once = len(exchange(served, question)[0].body)

        for _ in range(8):
            stack.enter_context(_deaf(served)).sendall(question * 16)
        statuses = {_post(served) for _ in range(20)}

        assert statuses == {200}
        assert once > 300_000


def test_an_export_is_made_as_far_as_it_is_read_and_little_further(served: Served) -> None:
    reports = encode(batch(dark([1] * 1_000_000, period=period_at(time.time(), 7))))
    served.request("POST", "/v1/batches", body=reports, form=BINARY)
    target = "/v1/reports?metric=dark&format=csv"
    question = as_bytes(Case("", b"", None, method="GET", path=target, key="analyst"), served.keys)
    whole = len(served.request("GET", target, key="analyst")[1])
    with _deaf(served) as deaf:
        deaf.sendall(question)

        pause = threading.Event()
        kept = {_kept_aside(served) for _ in range(40) if not pause.wait(0.05)}

    assert whole > 8 * MIB
    assert max(kept) < 3 * MIB


def test_requests_that_come_at_once_are_answered_in_turn(served: Served) -> None:
    paths = [f"/{'healthz' if number % 3 else 'nowhere'}" for number in range(150)]
    questions = [f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for path in paths]

    answers = exchange(served, b"".join(questions), answers=len(paths))
    in_pieces = exchange(served, *questions[:9], questions[9][:20], questions[9][20:], answers=10, pause=0.01)

    statuses = [200 if path == "/healthz" else 404 for path in paths]
    assert [answer.status for answer in answers] == statuses
    assert [answer.status for answer in in_pieces] == statuses[:10]


def test_a_fault_in_a_request_that_came_ahead_ends_its_connection_only(served: Served) -> None:
    served.stop()
    served.start(prefix=altered(FAULTY))
    questions = [f"GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for path in ("healthz", "fault")]

    answers = exchange(served, b"".join(questions), answers=2)

    assert [answer.status for answer in answers] == [200]
    assert _post(served) == 200


def test_it_may_open_as_many_files_as_all_connections_need(served: Served) -> None:
    served.stop()
    served.settings = {"connections": "500"}

    served.start(prefix=("prlimit", "--nofile=300:1300"))

    assert _most_files(served) == 1256
    assert "fewer files" not in _log(served)


def test_it_says_if_connections_need_more_files_than_it_may_open(served: Served) -> None:
    served.stop()
    served.settings = {"connections": "500"}

    served.start(prefix=("prlimit", "--nofile=300:900"))

    assert _most_files(served) == 900
    assert "fewer files may be open than connections could need" in _log(served)


def _kept_aside(served: Served) -> int:
    """Return the bytes of files that have no name."""
    assert served.process is not None
    files = list(Path(f"/proc/{served.process.pid}/fd").iterdir())
    return sum(file.stat().st_size for file in files if str(file.readlink()).endswith(" (deleted)"))


def _most_files(served: Served) -> int:
    assert served.process is not None
    limits = Path(f"/proc/{served.process.pid}/limits").read_text()
    return int(re.search(r"Max open files +(\d+)", limits)[1])  # type: ignore[index]


def _log(served: Served) -> str:
    return (served.directory / "stderr.txt").read_text()


def _last_of(connection: socket.socket, request: bytes) -> bytes:
    """Send the last byte, and return what is said to that."""
    connection.sendall(request[-1:])
    return connection.recv(65536)


def _connect(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), timeout=30)


def _deaf(served: Served) -> socket.socket:
    """Connect with as little room for answers as the system lets a socket have."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.connect(("127.0.0.1", served.port))
    return connection


def _drip(connections: list[socket.socket], served: Served, ending: float) -> None:
    """Send a byte a second on each: of headers on one half, of a body on the other."""
    request = as_bytes(Case("", bytes(100_000), BINARY), served.keys)
    head = request.index(b"\r\n\r\n") + 4
    for connection in connections[::2]:
        connection.sendall(request[:head])
    places = [head, 0] * (len(connections) // 2)
    while time.monotonic() < ending:
        for number, connection in enumerate(connections):
            connection.sendall(request[places[number] : places[number] + 1])
            places[number] += 1
        time.sleep(1)


def _post(served: Served) -> int:
    data = encode(batch(dark([1, 0, 1], period=period_at(time.time(), 7))))
    return served.request("POST", "/v1/batches", body=data, form=BINARY)[0]


def _is_open(connection: socket.socket) -> bool:
    """Tell whether the other side has neither answered nor closed."""
    connection.settimeout(0)
    try:
        connection.recv(1)
    except BlockingIOError:
        return True
    return False
