"""This file kills one of two collectors on one PostgreSQL, while devices send every batch to both of them."""

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import pytest

from hubbub.batch import Batch, encode
from hubbub.period import period_at
from tests.end_to_end.senders import (
    SOMEBODY,
    Senders,
    assert_all_counted_once,
    crash_often,
    post,
    sending,
)
from tests.postgres import Server, programs, running_server
from tests.server.process import Served, set_up
from tests.server.site import dark

MARK = "s3ntinel"
ABOUT = {"User-Agent": MARK, "Referer": MARK, "Cookie": f"id={MARK}", "X-Forwarded-For": SOMEBODY}


@pytest.fixture
def collectors(tmp_path: Path, postgres: Server) -> Iterator[list[Served]]:
    with _two(tmp_path, postgres.fresh()) as both:
        yield both


def test_a_few_kills_of_one_of_two_lose_nothing_and_count_nothing_twice(collectors: list[Served]) -> None:
    senders = crash_often(collectors, kills=2, least=200)

    assert_all_counted_once(senders)
    assert senders.troubles == []


@pytest.mark.torture
def test_fifty_kills_of_one_of_two_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    where = programs()
    assert where
    with running_server(where, fsync="on") as server, _two(tmp_path, server.fresh()) as collectors:
        senders = crash_often(collectors, kills=50, least=10_000)

        assert_all_counted_once(senders)
        assert senders.troubles == []


@pytest.mark.torture
def test_crashes_of_the_database_lose_nothing_and_need_no_restart_of_a_collector(tmp_path: Path) -> None:
    where = programs()
    assert where
    with running_server(where, fsync="on") as server, _two(tmp_path, server.fresh()) as collectors:
        senders = Senders(collectors)
        with sending(senders):
            for _ in range(10):
                time.sleep(1.0)
                server.stop()
                server.start()
            least = len(senders.batches) + 1000
            while len(senders.batches) < least:
                time.sleep(0.05)

        assert_all_counted_once(senders)
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
            assert post(served, encode(each), **ABOUT)[0] == 200
        body = json.dumps({"id": sent[0].id.hex()}).encode()
        collectors[1].request("POST", "/v1/withdrawals", body=body, form="application/json")
        post(collectors[0], MARK.encode(), **ABOUT)
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
