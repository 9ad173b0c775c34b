"""This file kills one of two collectors on one PostgreSQL, while devices send every batch to both of them."""

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from pathlib import Path

import pytest

from hubbub.batch import BINARY, Batch, decode, encode
from hubbub.period import period_at
from tests.postgres import Server, programs, running_server
from tests.server.process import Served, run, set_up
from tests.server.rows import rows
from tests.server.site import dark

LOST = 0.2  # share of answers that a device never reads
SENDERS = 6
REPORTS = 3  # in a batch
SOMEBODY = "127.0.0.77"
MARK = "s3ntinel"
ABOUT = {"User-Agent": MARK, "Referer": MARK, "Cookie": f"id={MARK}", "X-Forwarded-For": SOMEBODY}


@dataclass(slots=True)
class Senders:
    """Devices that send each batch to both collectors, and again until each has acknowledged it."""

    collectors: list[Served]
    stopping: threading.Event = field(default_factory=threading.Event)
    batches: list[bytes] = field(default_factory=list)
    troubles: list[int] = field(default_factory=list)

    def run(self, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - the test's own dice
        period = period_at(time.time(), 7)
        while not self.stopping.is_set():
            reports = [chance.randrange(2) for _ in range(REPORTS)]
            data = encode(Batch(chance.randbytes(16), (dark(reports, period=period),)))
            waiting = chance.sample(self.collectors, 2)
            while waiting:
                served = chance.choice(waiting)
                if self._is_acknowledged(served, data, chance):
                    waiting.remove(served)
            self.batches.append(data)

    def _is_acknowledged(self, served: Served, data: bytes, chance: random.Random) -> bool:
        is_lost = chance.random() < LOST
        try:
            status, answer = _post(served, data, hang_up=is_lost)
        except (OSError, HTTPException):
            time.sleep(0.01)
            return False
        if is_lost:
            return False
        if status != 200:
            self.troubles.append(status)
            return False
        assert json.loads(answer)["accepted"] == REPORTS
        return True


@pytest.fixture
def collectors(tmp_path: Path, postgres: Server) -> Iterator[list[Served]]:
    with _two(tmp_path, postgres.fresh()) as both:
        yield both


def test_a_few_kills_of_one_of_two_lose_nothing_and_count_nothing_twice(collectors: list[Served]) -> None:
    senders = _crash_often(collectors, kills=2, least=200)

    _assert_all_counted_once(senders)
    assert senders.troubles == []


@pytest.mark.torture
def test_fifty_kills_of_one_of_two_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    where = programs()
    assert where
    with running_server(where, fsync="on") as server, _two(tmp_path, server.fresh()) as collectors:
        senders = _crash_often(collectors, kills=50, least=10_000)

        _assert_all_counted_once(senders)
        assert senders.troubles == []


@pytest.mark.torture
def test_crashes_of_the_database_lose_nothing_and_need_no_restart_of_a_collector(tmp_path: Path) -> None:
    where = programs()
    assert where
    with running_server(where, fsync="on") as server, _two(tmp_path, server.fresh()) as collectors:
        senders = Senders(collectors)
        with _sending(senders):
            for _ in range(10):
                time.sleep(1.0)
                server.stop()
                server.start()
            least = len(senders.batches) + 1000
            while len(senders.batches) < least:
                time.sleep(0.05)

        _assert_all_counted_once(senders)
        assert set(senders.troubles) <= {503}


def test_nobody_leaves_a_trace_in_the_database_its_log_or_the_collectors(tmp_path: Path) -> None:
    where = programs()
    if where is None:
        pytest.skip("PostgreSQL is not installed")
    chance = random.Random(7)  # noqa: S311 - the test's own dice
    period = period_at(time.time(), 7)
    sent = [Batch(chance.randbytes(16), (dark(_ones(chance), period=period),)) for _ in range(20)]
    with running_server(where) as server, _two(tmp_path, server.fresh()) as collectors:
        for served, each in zip(cycle(collectors), sent, strict=False):
            assert _post(served, encode(each), **ABOUT)[0] == 200
        body = json.dumps({"id": sent[0].id.hex()}).encode()
        collectors[1].request("POST", "/v1/withdrawals", body=body, form="application/json")
        _post(collectors[0], MARK.encode(), **ABOUT)
        for served in collectors:
            served.stop()
        server.run("pg_ctl", "-w", "-D", server.directory / "data", "-m", "fast", "stop")
        kept = {path: path.read_bytes() for path in server.directory.rglob("*") if path.is_file()}
        server.start()

    kept |= {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    ids = [trace for each in sent for trace in (each.id, each.id.hex().encode())]
    traces = [MARK.encode(), SOMEBODY.encode(), *ids]
    reports = sent[3].columns[0].reports
    assert [(path, trace) for path, data in kept.items() for trace in traces if trace in data] == []
    assert {"base", "pg_wal"} <= {path.parts[4] for path, data in kept.items() if reports in data}


def _ones(chance: random.Random) -> list[int]:
    return [chance.randrange(2) for _ in range(64)]


def _crash_often(collectors: list[Served], *, kills: int, least: int) -> Senders:
    """Kill one of the collectors again and again while six threads send; stop at enough acknowledgements."""
    chance = random.Random(kills)  # noqa: S311 - the test's own dice
    senders = Senders(collectors)
    with _sending(senders):
        for _ in range(kills):
            time.sleep(chance.uniform(0.02, 0.5))
            one = chance.choice(collectors)
            one.kill()
            one.start()
        while len(senders.batches) * len(collectors) < least:
            time.sleep(0.05)
    return senders


def _assert_all_counted_once(senders: Senders) -> None:
    """Compare what was acknowledged with both estimates, the tallies, and the raw reports added up anew."""
    reports = b"".join(decode(data).columns[0].reports for data in senders.batches)
    answers = [
        served.request("GET", "/v1/estimates?metric=dark", key="analyst")[1] for served in senders.collectors
    ]
    retries = {_post(served, data)[1] for served in senders.collectors for data in senders.batches[::50]}
    first = senders.collectors[0]
    kept = b"".join(
        bytes(row[0]) for row in rows(first.settings["database"], "SELECT bytes || rest FROM reports")
    )
    assert [json.loads(answer)["groups"][0]["answer"]["n"] for answer in answers] == [len(reports)] * 2
    assert (len(kept), kept.count(1)) == (len(reports), reports.count(1))
    assert [json.loads(answer)["accepted"] for answer in retries] == [REPORTS]
    assert [served.stop() for served in senders.collectors] == [0, 0]
    said = run("check", "--config", str(first.directory / "hubbub.toml"), **first.settings)
    assert "every tally is the sum of its reports" in said


@contextmanager
def _two(directory: Path, database: str) -> Iterator[list[Served]]:
    """Run two collectors on one database."""
    first = set_up(directory, database=database)
    collectors = [first, Served(directory, first.keys, settings=first.settings)]
    try:
        for served in collectors:
            served.start()
        yield collectors
    finally:
        for served in collectors:
            served.end()


@contextmanager
def _sending(senders: Senders) -> Iterator[None]:
    threads = [threading.Thread(target=senders.run, args=(seed,)) for seed in range(SENDERS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        senders.stopping.set()
        for thread in threads:
            thread.join()


def _post(served: Served, data: bytes, *, hang_up: bool = False, **about: str) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", served.port, timeout=60, source_address=(SOMEBODY, 0))
    headers = {"Authorization": f"Bearer {served.keys['ingest']}", "Content-Type": BINARY} | about
    try:
        connection.request("POST", "/v1/batches", body=data, headers=headers)
        if hang_up:
            return 0, b""
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
