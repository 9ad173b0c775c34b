"""This file proves what a device does on a real wire: its headers, its secrets, and its patience."""

import contextlib
import gc
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hubbub.declaration import boolean
from hubbub.errors import NotReachableError
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery
from hubbub_client.sending.envelope import pack
from hubbub_client.sending.http import HttpTransport
from hubbub_client.sending.transport import LONGEST_ANSWER, Answer, Request

MANIFEST = Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon=1), boolean("loud", epsilon=1)))
Make = Callable[..., Client]


@dataclass(slots=True)
class Peer:
    """A server that keeps what it hears and says what it is told to."""

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    answer: bytes = b'{"accepted": 1, "refused": []}'
    heard: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def peer() -> Iterator[Peer]:
    peer = Peer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            peer.heard.append((self.command, self.path, dict(self.headers.items()), body))
            self.send_response(peer.status)
            for name, text in peer.headers.items():
                self.send_header(name, text)
            self.end_headers()
            with contextlib.suppress(OSError):  # a device may have heard enough
                self.wfile.write(peer.answer)

        do_GET = do_POST  # noqa: N815 - the name that http.server calls; a followed redirect would arrive here

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    peer.url = f"http://127.0.0.1:{server.server_port}"
    yield peer
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def hole() -> Iterator[str]:
    """Give the address of a host that lets connections in and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Client] = []

    def make_one(url: str, **options: Any) -> Client:
        defaults: dict[str, Any] = {
            "data_dir": tmp_path / "device",
            "consent": "given",
            "environ": {},
            "delivery": Delivery(delay=0, background=False),
        }
        made.append(Client(url, MANIFEST, **{**defaults, **options}))
        return made[-1]

    yield make_one
    for client in made:
        client.close()


@pytest.fixture
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this user have a .netrc with a password for every host."""
    file = tmp_path / "netrc"
    file.write_text(
        "machine 127.0.0.1 login somebody password SECRET\ndefault login somebody password SECRET\n"
    )
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))


def test_a_request_says_nothing_about_the_device(make: Make, peer: Peer) -> None:
    client = make(peer.url, key="hb_ingest_x")
    client.record("dark", True)

    flushed = client.flush()

    ((method, path, headers, body),) = peer.heard
    (entry,) = client.journal()
    assert flushed.sent == 1
    assert (method, path, body) == ("POST", "/v1/batches", pack(entry.body))
    assert {name: text for name, text in headers.items() if name not in {"Host", "Content-Length"}} == {
        "User-Agent": "hubbub",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/vnd.hubbub.batch",
        "Content-Encoding": "gzip",
        "Connection": "close",
        "Authorization": "Bearer hb_ingest_x",
    }


@pytest.mark.usefixtures("netrc")
@pytest.mark.parametrize(("key", "sent"), [("hb_ingest_x", "Bearer hb_ingest_x"), (None, None)])
def test_a_netrc_neither_replaces_nor_supplies_a_key(
    make: Make, peer: Peer, key: str | None, sent: str | None
) -> None:
    client = make(peer.url, key=key)
    client.record("dark", True)

    client.flush()

    assert [headers.get("Authorization") for _, _, headers, _ in peer.heard] == [sent]


def test_no_cookie_is_kept(make: Make, peer: Peer) -> None:
    peer.headers = {"Set-Cookie": "who=you; Path=/"}
    client = make(peer.url)
    for name in ("dark", "loud"):
        client.record(name, True)
        client.flush()

    assert len(peer.heard) == 2
    assert not any("Cookie" in headers for _, _, headers, _ in peer.heard)


def test_a_redirect_is_not_followed_and_the_batch_stays_in_line(make: Make, peer: Peer) -> None:
    peer.status, peer.headers = 307, {"Location": f"{peer.url}/elsewhere"}
    client = make(peer.url, key="hb_ingest_x")
    client.record("dark", True)

    flushed = client.flush()

    assert (flushed.sent, flushed.waiting) == (0, 1)
    assert [path for _, path, _, _ in peer.heard] == ["/v1/batches"]


def test_a_proxy_of_the_environment_is_not_asked_for_this_very_machine(
    make: Make, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    client = make(peer.url)
    client.record("dark", True)

    assert client.flush().sent == 1


def test_a_proxy_of_the_environment_is_used_for_other_machines(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", peer.url)
    monkeypatch.setenv("no_proxy", "")

    answer = HttpTransport().send(Request("http://collector.invalid/v1/batches", b"body", {}, 10))

    assert answer.status == 200
    assert [path for _, path, _, _ in peer.heard] == ["http://collector.invalid/v1/batches"]


def test_retry_after_is_handed_on(peer: Peer) -> None:
    peer.status, peer.headers = 503, {"Retry-After": "120"}

    answer = HttpTransport().send(Request(peer.url, b"body", {}, 10))

    assert answer == Answer(503, b'{"accepted": 1, "refused": []}', "120")


def test_a_closed_port_is_an_error_without_the_key(make: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    client = make(url, key="hb_ingest_SECRET")
    client.record("dark", True)

    flushed = client.flush()

    assert (flushed.sent, flushed.waiting) == (0, 1)
    assert flushed.error == "no answer from the collector (ConnectionError)"


def test_a_host_that_never_answers_ends_in_our_error(hole: str) -> None:
    with pytest.raises(NotReachableError, match="Timeout"):
        HttpTransport().send(Request(hole, b"body", {}, 0.2, "hb_ingest_SECRET"))


def test_a_connection_that_came_too_late_is_closed(hole: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = socket.getaddrinfo
    monkeypatch.setattr("socket.getaddrinfo", lambda *asked: (time.sleep(0.4), resolve(*asked))[1])

    with pytest.raises(NotReachableError, match="no answer"):
        HttpTransport().send(Request(hole, b"body", {}, 0.2))

    gc.collect()  # an open one ends here, in a ResourceWarning


@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x"),
    ],
    ids=["continue", "headers", "body", "chunk"],
)
def test_an_answer_that_trickles_in_for_ever_is_cut_off_at_the_deadline(first: bytes, piece: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        trickle = threading.Thread(target=_trickle, args=(listening, first, piece))
        trickle.start()

        with pytest.raises(NotReachableError, match="Timeout"):
            HttpTransport().send(
                Request(
                    f"http://127.0.0.1:{listening.getsockname()[1]}", b"body", {}, 0.4, "hb_ingest_SECRET"
                )
            )

        trickle.join(10)
        assert not trickle.is_alive()


def _trickle(listening: socket.socket, first: bytes, piece: bytes) -> None:
    """Answer one connection a bit at a time until it is cut, or for 4 seconds."""
    connection, _ = listening.accept()
    with connection, contextlib.suppress(OSError):
        connection.sendall(first)
        for _ in range(80):
            connection.sendall(piece)
            time.sleep(0.05)


def test_where_no_thread_starts_a_flush_is_still_over_at_its_timeout(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = make(f"http://127.0.0.1:{listening.getsockname()[1]}")
        client.record("dark", True)
        whole = b"HTTP/1.1 200 OK\r\nContent-Length: 80\r\n\r\n"
        trickle = threading.Thread(target=_trickle, args=(listening, whole, b" "))
        trickle.start()
        monkeypatch.setattr(
            "hubbub_client.threads.start_new_thread", no_thread_starts
        )  # as at an exit from Python 3.12 on

        flushed = client.flush(timeout=0.4)

        trickle.join(10)
    assert (flushed.sent, flushed.waiting) == (0, 1)
    assert "Timeout" in flushed.error  # and not what the whole answer means


def no_thread_starts(*_: object) -> None:
    raise RuntimeError("can't create new thread at interpreter shutdown")


@pytest.mark.parametrize("status", [200, 302, 404])
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip, gzip"])
def test_an_answer_is_never_inflated(peer: Peer, status: int, encoding: str) -> None:
    peer.status = status
    peer.headers = {"Content-Encoding": encoding, "Location": f"{peer.url}/elsewhere"}

    answer = HttpTransport().send(Request(peer.url, b"body", {}, 10))

    assert answer.body == b'{"accepted": 1, "refused": []}'  # as it travelled
    assert len(peer.heard) == 1


def test_no_more_of_an_answer_is_read_than_it_may_have(peer: Peer) -> None:
    peer.answer = b" " * 1_000_000

    answer = HttpTransport().send(Request(peer.url, b"body", {}, 10))

    assert len(answer.body) == LONGEST_ANSWER


def test_a_flush_into_a_black_hole_comes_back(make: Make, hole: str) -> None:
    client = make(hole)
    client.record("dark", True)

    flushed = client.flush(timeout=0.3)

    assert (flushed.sent, flushed.waiting) == (0, 1)
    assert flushed.error


APP = """
import sys
from hubbub.manifest import Manifest
from hubbub.declaration import boolean
from hubbub_client import Client, Delivery
manifest = Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon=1), boolean("loud", epsilon=1)))
client = Client(sys.argv[1], manifest, data_dir=sys.argv[2], consent="given", delivery=Delivery(delay=0))
for name in ("dark", "loud", "dark"):
    client.record(name, True)
{ending}
"""
ENDINGS = {
    "return": "print('done')",
    "raise": "print('done'); raise SystemExit(7)",
    "flush at exit": "import atexit; atexit.register(client.flush, 0.5); print('done'); raise SystemExit(7)",
    "record at exit": "import atexit; atexit.register(client.record, 'loud', True); print('done')",
    "os._exit": "import os; print('done', flush=True); os._exit(7)",
}


QUICK = {
    ("down", "return"),
    ("hole", "flush at exit"),
    ("500", "os._exit"),
    ("up", "raise"),
    ("up", "record at exit"),
}
CASES = [
    pytest.param(
        (state, ending), id=f"{state}-{ending}", marks=[pytest.mark.torture] * ((state, ending) not in QUICK)
    )
    for state in ("down", "hole", "500", "up")
    for ending in ENDINGS
]


@pytest.mark.parametrize("case", CASES)
def test_an_apps_exit_code_and_output_are_its_own_and_nothing_is_lost(
    peer: Peer, hole: str, make: Make, tmp_path: Path, case: tuple[str, str]
) -> None:
    state, ending = case
    peer.status = 500 if state == "500" else 200
    url = {"down": "http://127.0.0.1:9", "hole": hole}.get(state, peer.url)
    script = APP.format(ending=ENDINGS[ending])

    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", script, url, str(tmp_path / "device")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    stats = make(url).stats()
    expected = 0 if ending in {"return", "record at exit"} else 7
    assert (done.returncode, done.stdout, done.stderr) == (expected, "done\n", "")
    assert stats.waiting + stats.sent == 2
