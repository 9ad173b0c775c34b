"""This file proves what a device does over real TLS: whom it trusts, through whom it goes, what links it."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trustme

from hubbub.addresses import check_url
from hubbub.declaration import boolean
from hubbub.errors import DomainError, NotReachableError
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery
from hubbub_client.sending.http import BUNDLES, HttpTransport
from hubbub_client.sending.transport import Request
from tests.end_to_end.peers import Peer, Proxy, hesitating, proxying, serving, trickling

HOST = "collector.example"
KEY = "hb_ingest_SECRET"
MANIFEST = Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon=1), boolean("loud", epsilon=1)))
Make = Callable[..., Client]
BRIEF = Delivery(delay=0, background=False, request_timeout=0.5)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def peer(authority: trustme.CA) -> Iterator[Peer]:
    with serving(context_of(authority.issue_cert(HOST, "127.0.0.1"))) as peer:
        yield peer


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every name under .example be this machine, and no variable of the real one count."""
    real = socket.getaddrinfo

    def resolve(host: Any, *more: Any, **options: Any) -> Any:
        return real("127.0.0.1" if str(host).endswith(".example") else host, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for name in (*BUNDLES, "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let this user trust the authority, as a company's administrator would."""
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))
    return file


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Client] = []

    def make_one(port: int, *, host: str = HOST, **options: Any) -> Client:
        defaults: dict[str, Any] = {
            "data_dir": tmp_path / "device",
            "consent": "given",
            "environ": {},
            "key": KEY,
            "delivery": Delivery(delay=0, background=False),
        }
        made.append(Client(f"https://{host}:{port}", MANIFEST, **{**defaults, **options}))
        return made[-1]

    yield make_one
    for client in made:
        client.close()


def context_of(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def test_an_unknown_authority_is_refused_and_the_error_says_what_to_do(make: Make, peer: Peer) -> None:
    client = make(peer.port)
    client.record("dark", True)

    flushed = client.flush()

    assert (flushed.sent, flushed.waiting, peer.heard) == (0, 1, [])
    assert flushed.error.startswith("the collector's certificate is not trusted (")
    assert flushed.error.endswith("set REQUESTS_CA_BUNDLE to that authority's file")


@pytest.mark.parametrize("variable", BUNDLES)
@pytest.mark.parametrize("host", [HOST, "127.0.0.1"])
def test_an_authority_that_the_environment_names_is_trusted(
    make: Make, peer: Peer, *, trusted: Path, monkeypatch: pytest.MonkeyPatch, variable: str, host: str
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    monkeypatch.setenv(variable, str(trusted))
    client = make(peer.port, host=host)
    client.record("dark", True)

    flushed = client.flush()

    assert (flushed.sent, flushed.error) == (1, "")


def test_a_file_of_authorities_that_is_not_there_trusts_nobody(
    make: Make, peer: Peer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "missing.pem"))
    client = make(peer.port)
    client.record("dark", True)

    flushed = client.flush()

    assert (flushed.sent, flushed.waiting, peer.heard) == (0, 1, [])
    assert flushed.error == "no answer from the collector (OSError)"


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", None], ids=str)
def test_a_port_that_speaks_no_tls_is_said_to_speak_none(make: Make, answer: bytes | None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        client = make(listening.getsockname()[1], delivery=BRIEF)
        client.record("dark", True)
        waiting = pool.submit(client.flush)
        line, _ = listening.accept()
        with line:
            line.recv(4096)
            if answer is not None:  # else it waits for a request in plain words
                line.sendall(answer)
                line.shutdown(socket.SHUT_WR)
            flushed = waiting.result(30)

    assert (flushed.sent, flushed.waiting) == (0, 1)
    assert flushed.error.startswith("no TLS with the collector (")
    assert flushed.error.endswith("does the url's port speak https?")


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("fault", ["another name", "expired"])
def test_a_certificate_for_another_name_or_time_is_refused(
    make: Make, authority: trustme.CA, fault: str
) -> None:
    expired = authority.issue_cert(HOST, not_after=datetime(2020, 1, 1, tzinfo=UTC))
    wrong = {"another name": authority.issue_cert("other.example"), "expired": expired}[fault]

    with serving(context_of(wrong)) as peer:
        client = make(peer.port)
        client.record("dark", True)
        flushed = client.flush()

    assert (flushed.sent, flushed.waiting, peer.heard) == (0, 1, [])
    assert {"another name": "Hostname mismatch", "expired": "certificate has expired"}[fault] in flushed.error


@pytest.mark.usefixtures("trusted")
def test_a_server_without_tls_behind_an_https_address_hears_nothing(make: Make) -> None:
    with serving() as plain:
        client = make(plain.port)
        client.record("dark", True)
        flushed = client.flush()

    assert (flushed.sent, flushed.waiting, plain.heard) == (0, 1, [])


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=lambda v: v.name)
def test_two_reports_share_no_connection_and_no_tls_session(
    make: Make, authority: trustme.CA, trusted: Path, version: ssl.TLSVersion
) -> None:
    context = context_of(authority.issue_cert(HOST))
    context.maximum_version = version

    with serving(context) as peer:
        client = make(peer.port)
        client.record("dark", True)
        client.record("loud", True)
        flushed = client.flush()
        resume(peer.port, trusted)

    assert flushed.sent == 2
    assert len({heard.port for heard in peer.heard[:2]}) == 2
    assert [heard.is_resumed for heard in peer.heard] == [False, False, False, True]  # it would be noticed


def resume(port: int, trusted: Path) -> None:
    """Send two requests as a client does that takes up its earlier session."""
    context = ssl.create_default_context(cafile=str(trusted))
    session = None
    for _ in range(2):
        with (
            socket.create_connection(("127.0.0.1", port)) as plain,
            context.wrap_socket(plain, server_hostname=HOST, session=session) as line,
        ):
            line.sendall(b"POST / HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            while line.recv(1024):
                pass
            session = line.session


@pytest.mark.usefixtures("trusted")
def test_a_request_says_nothing_about_the_device_over_tls_either(make: Make, peer: Peer) -> None:
    peer.headers = {"Set-Cookie": "who=you; Path=/"}
    client = make(peer.port)
    for name in ("dark", "loud"):
        client.record(name, True)
        client.flush()

    fixed = [{**heard.headers, "Content-Length": ""} for heard in peer.heard]
    assert fixed == 2 * [
        {
            "Host": f"{HOST}:{peer.port}",
            "User-Agent": "hubbub",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/vnd.hubbub.batch",
            "Content-Encoding": "gzip",
            "Connection": "close",
            "Content-Length": "",
            "Authorization": f"Bearer {KEY}",
        }
    ]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(("key", "sent"), [(KEY, f"Bearer {KEY}"), (None, None)])
def test_a_netrc_neither_replaces_nor_supplies_a_key(
    make: Make,
    peer: Peer,
    *,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: str | None,
    sent: str | None,
) -> None:
    file = tmp_path / "netrc"
    file.write_text(f"machine {HOST} login somebody password PASSWORD\n")
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))
    client = make(peer.port, key=key)
    client.record("dark", True)

    client.flush()

    assert [heard.headers.get("Authorization") for heard in peer.heard] == [sent]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_leads_nowhere(make: Make, peer: Peer, status: int) -> None:
    with serving() as elsewhere:
        peer.status, peer.headers = status, {"Location": f"{elsewhere.url}/v1/batches"}
        client = make(peer.port)
        client.record("dark", True)
        flushed = client.flush()

    assert (flushed.sent, flushed.waiting, len(peer.heard), elsewhere.heard) == (0, 1, 1, [])


@pytest.fixture
def proxy(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Run a proxy that the environment names, and that carries everything to the peer."""
    with proxying(peer.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:PASSWORD@127.0.0.1:{proxy.port}")
        yield proxy


@pytest.mark.usefixtures("trusted")
def test_a_proxy_of_the_environment_carries_a_tunnel_and_sees_neither_key_nor_report(
    make: Make, peer: Peer, proxy: Proxy
) -> None:
    client = make(443, host="far.invalid")
    peer_name = make(443)
    client.record("dark", True)

    refused, flushed = client.flush(), peer_name.flush()

    names = [head.split(b" HTTP/1.")[0] for head in proxy.asked]  # from Python 3.12 on 1.1, before 1.0
    assert names == [b"CONNECT far.invalid:443", b"CONNECT collector.example:443"]
    assert "Hostname mismatch" in refused.error
    assert flushed.sent == 1
    assert KEY.encode() not in bytes(proxy.carried) + b"".join(proxy.asked)
    assert peer.heard[0].body not in bytes(proxy.carried)


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    "status", [b"403 Forbidden", b"407 Proxy Authentication Required", b"502 Bad Gateway"]
)
def test_a_proxy_that_refuses_loses_nothing(make: Make, peer: Peer, proxy: Proxy, status: bytes) -> None:
    proxy.refusal = b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n"
    client = make(443)
    client.record("dark", True)

    refused = client.flush()
    proxy.refusal = b""
    taken = client.flush()

    assert (refused.sent, refused.waiting) == (0, 1)
    assert refused.error == "no answer from the collector (ProxyError)"
    assert (taken.sent, len(peer.heard)) == (1, 1)


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("exempt", [HOST, ".example", "*"])
def test_a_proxy_is_not_asked_where_the_environment_exempts_a_host(
    make: Make, peer: Peer, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, exempt: str
) -> None:
    monkeypatch.setenv("NO_PROXY", exempt)
    client = make(peer.port)
    client.record("dark", True)

    flushed = client.flush()

    assert (flushed.sent, proxy.asked) == (1, [])


@pytest.mark.parametrize("first", [b"", b"\x16\x03\x03\x40\x00"], ids=["nothing", "one long record"])
def test_a_handshake_that_trickles_in_for_ever_is_cut_off_at_the_deadline(first: bytes) -> None:
    with (
        trickling(first, b"\x02" if first else b"") as port,
        pytest.raises(NotReachableError, match="Timeout"),
    ):
        HttpTransport().send(Request(f"https://{HOST}:{port}", b"body", {}, 0.4, KEY))


def test_a_proxy_that_trickles_for_ever_is_cut_off_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    with trickling(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n") as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")

        with pytest.raises(NotReachableError, match="Timeout"):
            HttpTransport().send(Request(f"https://{HOST}", b"body", {}, 0.4, KEY))


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    "end",
    [
        pytest.param(lambda client, _: client.consent("refused"), id="refused"),
        pytest.param(lambda client, _: client.consent("refused", metrics=["dark"]), id="refused for one"),
        pytest.param(lambda client, _: client.withdraw(), id="withdrawn"),
        pytest.param(lambda _, other: other().withdraw(), id="withdrawn in another process"),
        pytest.param(lambda client, _: (client._session.directory / "_off").touch(), id="off"),
    ],
)
def test_consent_that_ends_within_a_slow_handshake_keeps_the_report_from_leaving(
    make: Make, authority: trustme.CA, end: Callable[[Client, Callable[[], Client]], object]
) -> None:
    with hesitating(context_of(authority.issue_cert(HOST))) as peer:
        client = make(peer.port)
        client.record("dark", True)
        sending = threading.Thread(target=client.flush)
        sending.start()
        peer.met.wait(20)

        end(client, lambda: make(peer.port))
        peer.told.set()
        sending.join()

    (entry,) = client.journal()
    assert peer.heard == b""
    assert entry.status in {"waiting", "dropped"}


@pytest.mark.usefixtures("trusted")
def test_without_an_end_of_consent_the_report_leaves_after_a_slow_handshake(
    make: Make, authority: trustme.CA
) -> None:
    with hesitating(context_of(authority.issue_cert(HOST))) as peer:
        client = make(peer.port)
        client.record("dark", True)
        sending = threading.Thread(target=client.flush)
        sending.start()
        peer.met.wait(20)

        peer.told.set()
        sending.join()

    assert peer.heard.startswith(b"POST /v1/batches ")


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("trouble", ["none", "500", "untrusted", "no proxy"])
def test_no_logger_of_any_library_hears_a_key_a_password_or_a_body_at_any_level(
    make: Make,
    peer: Peer,
    *,
    proxy: Proxy,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    trouble: str,
) -> None:
    for name in ("", "hubbub_client", "urllib3", "requests", "urllib3.connectionpool"):
        caplog.set_level(1, logger=name or None)
    monkeypatch.setattr("http.client.HTTPConnection.debuglevel", 1)
    peer.status = 500 if trouble == "500" else 200
    if trouble == "untrusted":
        monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    proxy.refusal = b"HTTP/1.1 403 Forbidden\r\n\r\n" if trouble == "no proxy" else b""
    client = make(443)
    client.record("dark", True)

    flushed = client.flush()

    (entry,) = client.journal()
    told = [caplog.text, *capfd.readouterr(), repr(flushed), repr(client.stats())]
    assert flushed.sent == (trouble == "none")
    assert "Starting new HTTPS connection" in caplog.text
    assert [text for text in told for secret in (KEY, "PASSWORD", entry.body.hex()) if secret in text] == []


@pytest.mark.parametrize(
    "url",
    [
        "http://collector.example",
        "http://localhost.example",
        "http://127.0.0.1.example",
        "http://example.localhost",
        "http://127.0.0.1@collector.example",
        "http://128.0.0.1",
        "http://0.0.0.0",
        "http://[::2]",
        "http://[::1",
        "https://collector.example:port",
        "https://:PASSWORD@collector.example",
        "//localhost",
    ],
)
def test_plain_http_goes_to_this_very_machine_only(url: str) -> None:
    with pytest.raises(DomainError):
        check_url(url)


@pytest.mark.parametrize(
    "url", ["http://localhost:80", "http://127.0.0.2", "http://[::1]:8000", "http://LOCALHOST"]
)
def test_plain_http_to_this_very_machine_is_allowed(url: str) -> None:
    assert check_url(url) == url
