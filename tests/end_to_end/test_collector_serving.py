"""This file proves that a served collector starts, ends, shares its database, and writes down nobody."""

import gzip
import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from secrets import token_bytes

import pytest

from hubbub.batch import BINARY, encode
from hubbub.period import period_at
from tests.server.process import Served, run, set_up
from tests.server.site import MANIFEST, batch, dark
from tests.server.waiting import wait_until

AGENT = "s3ntinel-agent/1.0"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    running = set_up(tmp_path)
    yield running
    running.end()


@pytest.fixture
def other(served: Served) -> Iterator[Served]:
    """Another process on the same database."""
    running = Served(served.directory, served.keys, log="other.txt")
    yield running
    running.end()


def test_two_servers_and_the_command_share_one_database(served: Served, other: Served) -> None:
    threads = [threading.Thread(target=one.start) for one in (served, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    manifest = served.directory / "metrics.toml"
    manifest.write_text(MANIFEST.replace("serial = 1", "serial = 2") + _NEW_METRIC)

    statuses = [post(one)[0] for one in (served, other) * 10]
    printed = run("publish", "--config", str(served.directory / "hubbub.toml"), str(manifest))
    status, listed = served.request("GET", "/v1/metrics", key="analyst")

    assert statuses == [200] * 20
    assert "+ tabs\n" in printed
    assert (status, b'"tabs"' in listed) == (200, True)
    assert counted(served) == counted(other) == 20
    assert [served.stop(), other.stop()] == [0, 0]


def test_the_writer_works_though_nothing_comes(served: Served) -> None:
    served.start()

    log = served.directory / "hubbub.sqlite3-wal"
    wait_until(
        lambda: log.exists() and log.stat().st_size > 2**23
    )  # which it makes long before the first commit
    assert served.stop() == 0


def test_a_stop_ends_quietly_and_leaves_one_complete_file(served: Served) -> None:
    served.start()
    post(served)

    code = served.stop()

    assert code == 0
    assert lines(served)[1:] == ["stopping", "stopped"]
    assert {path.name for path in served.directory.glob("hubbub.sqlite3*")} == {"hubbub.sqlite3"}


def test_requests_in_work_at_a_stop_are_still_answered(served: Served) -> None:
    served.start()
    body = gzip.compress(encode(batch(dark([1] * 8_000_000, period=period_at(time.time(), 7)))))
    headers = {"Authorization": f"Bearer {served.keys['ingest']}", "Content-Type": BINARY}
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)

    connection.request("POST", "/v1/batches", body=body, headers=headers | {"Content-Encoding": "gzip"})
    for _ in range(2):  # when later requests are answered, this one, read at once, has a thread
        served.request("GET", "/healthz")
    code = served.stop()

    with closing(connection):
        assert (connection.getresponse().status, code) == (200, 0)


def test_a_port_in_use_is_said_in_one_line(served: Served, other: Served) -> None:
    served.start()
    other.port = served.port

    with pytest.raises(
        AssertionError, match=r"can't listen on 127\.0\.0\.1 port \d+: Address already in use\n$"
    ):
        other.start()

    assert other.process is not None
    other.process.communicate(timeout=30)
    assert other.process.returncode == 2


def test_nothing_of_a_connection_is_written_down(served: Served) -> None:
    served.start()
    sent = batch(dark([1], period=period_at(time.time(), 7)), id=token_bytes(16))
    connection = http.client.HTTPConnection(
        "127.0.0.1", served.port, timeout=60, source_address=("127.0.0.77", 0)
    )
    headers = {
        "User-Agent": AGENT,
        "Authorization": f"Bearer {served.keys['ingest']}",
        "Content-Type": BINARY,
    }
    for path, data in (("/v1/batches", encode(sent)), ("/v1/batches", b"s3ntinel"), ("/s3ntinel", b"")):
        connection.request("POST", path, body=data, headers=headers)
        connection.getresponse().read()
    connection.close()
    served.kill()  # so that the log of the database is still there to be searched

    kept = b"".join(path.read_bytes() for path in served.directory.iterdir())

    secrets = (b"s3ntinel", b"127.0.0.77", sent.id, sent.id.hex().encode(), served.keys["ingest"].encode())
    assert [secret for secret in secrets if secret in kept] == []
    assert len(kept) > 10_000


def post(served: Served) -> tuple[int, bytes]:
    data = encode(batch(dark([1], period=period_at(time.time(), 7))))
    return served.request("POST", "/v1/batches", body=data, form=BINARY)


def counted(served: Served) -> int:
    _, body = served.request("GET", "/v1/estimates?metric=dark", key="analyst")
    return int(json.loads(body)["groups"][0]["answer"]["n"])


_NEW_METRIC = '[metrics.tabs]\nkind = "boolean"\nepsilon = "1"\n'


def lines(served: Served) -> list[str]:
    """Return what was logged."""
    return (served.directory / "stderr.txt").read_text().splitlines()
