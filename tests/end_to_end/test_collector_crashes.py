"""This file kills real collectors at random moments while devices send, lose answers and try again."""

import json
import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

from hubbub.batch import BINARY, Batch, decode, encode
from hubbub.period import period_at
from hubbub_server.catalog import Catalog
from hubbub_server.store.opening import open_sqlite
from tests.server.process import Served, set_up
from tests.server.site import DARK, dark

LOST = 0.2  # share of answers that a device never reads
SENDERS = 6
REPORTS = 3  # in a batch


@dataclass(slots=True)
class Senders:
    """Devices that send until told to stop. batches: acknowledged. lost: sent for nothing."""

    served: Served
    stopping: threading.Event = field(default_factory=threading.Event)
    batches: list[bytes] = field(default_factory=list)
    lost: list[bytes] = field(default_factory=list)

    @property
    def acknowledged(self) -> tuple[int, int]:
        """How many reports were acknowledged, and how many of them are ones."""
        reports = b"".join(decode(data).columns[0].reports for data in self.batches)
        return len(reports), reports.count(1)

    def run(self, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - the test's own dice
        period = period_at(time.time(), 7)
        while not self.stopping.is_set():
            reports = [chance.randrange(2) for _ in range(REPORTS)]
            data = encode(Batch(chance.randbytes(16), (dark(reports, period=period),)))
            while not self._is_acknowledged(data, chance):
                pass
            self.batches.append(data)

    def _is_acknowledged(self, data: bytes, chance: random.Random) -> bool:
        is_lost = chance.random() < LOST
        try:
            status, answer = _post(self.served, data, hang_up=is_lost)
        except (OSError, HTTPException):
            time.sleep(0.01)
            return False
        if is_lost:
            self.lost.append(data)
            return False
        assert (status, json.loads(answer)["accepted"]) == (200, REPORTS)
        return True


def test_a_few_kills_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    senders = crash_often(set_up(tmp_path), kills=3, least=300)

    assert_all_counted_once(senders)


@pytest.mark.torture
def test_fifty_kills_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    senders = crash_often(set_up(tmp_path), kills=50, least=10_000)

    assert_all_counted_once(senders)
    assert len(senders.lost) > 500


def crash_often(served: Served, *, kills: int, least: int) -> Senders:
    """Kill the collector again and again while six threads send; stop when enough is acknowledged."""
    chance = random.Random(kills)  # noqa: S311 - the test's own dice
    served.start()
    senders = Senders(served)
    with _sending(senders):
        for _ in range(kills):
            time.sleep(chance.uniform(0.02, 0.5))
            served.kill()
            served.start()
        while len(senders.batches) * REPORTS < least:
            time.sleep(0.05)
    return senders


def assert_all_counted_once(senders: Senders) -> None:
    """Compare what was acknowledged with the estimate, the tally, and the raw reports added up anew."""
    served = senders.served
    _, counted = served.request("GET", "/v1/estimates?metric=dark", key="analyst")
    retries = {_post(served, data)[1] for data in senders.batches[::50]}
    assert served.stop() == 0
    n, ones = _raw(served.database)
    assert json.loads(counted)["groups"][0]["answer"]["n"] == n
    assert senders.acknowledged == (n, ones) == _tallied(served.database)
    assert [json.loads(answer)["accepted"] for answer in retries] == [REPORTS]
    logged = (served.directory / "stderr.txt").read_text().splitlines()
    assert {line.partition(" ")[0] for line in logged} == {"started", "stopping", "stopped"}


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


def _post(served: Served, data: bytes, *, hang_up: bool = False) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
    headers = {"Authorization": f"Bearer {served.keys['ingest']}", "Content-Type": BINARY}
    try:
        connection.request("POST", "/v1/batches", body=data, headers=headers)
        if hang_up:
            return 0, b""
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _raw(database: Path) -> tuple[int, int]:
    connection = sqlite3.connect(database)
    reports_of = "SELECT bytes FROM reports JOIN cell ON number = key >> 36 WHERE metric = ?"
    rows = connection.execute(reports_of, (DARK.id,)).fetchall()
    connection.close()
    reports = b"".join(row[0] for row in rows)
    return len(reports), reports.count(1)


def _tallied(database: Path) -> tuple[int, int]:
    store = open_sqlite(database)
    ((_, _, tally),) = store.batches.tallies(DARK.id, range(2**31))
    reports = bytes([1]) * 5
    ones = Catalog(store.manifests).add_up(DARK.id, reports).cells.tolist().index(5)
    store.close()
    return tally.n, int(tally.cells[ones])
