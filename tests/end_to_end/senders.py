"""This file sends batches while collectors are killed, and sees each count once that was acknowledged."""

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException

from hubbub.batch import BINARY, Batch, decode, encode
from hubbub.period import period_at
from hubbub_server.store.opening import open_store
from tests.server.process import Served, run
from tests.server.site import DARK, dark

LOST = 0.2  # share of answers that a device never reads
THREADS = 6
REPORTS = 3  # in a batch
SOMEBODY = "127.0.0.77"  # the address that they send from


@dataclass(slots=True)
class Senders:
    """Devices that send each batch to all collectors, and again until each has acknowledged it.

    lost: sent for nothing. troubles: answers that acknowledge nothing.
    """

    collectors: list[Served]
    stopping: threading.Event = field(default_factory=threading.Event)
    batches: list[bytes] = field(default_factory=list)
    lost: list[bytes] = field(default_factory=list)
    troubles: list[int] = field(default_factory=list)

    @property
    def acknowledged(self) -> int:
        """How many acknowledgements there were."""
        return len(self.batches) * len(self.collectors)

    def run(self, seed: int) -> None:
        """Send until told to stop."""
        chance = random.Random(seed)  # noqa: S311 - the test's own dice
        period = period_at(time.time(), 7)
        while not self.stopping.is_set():
            reports = [chance.randrange(2) for _ in range(REPORTS)]
            data = encode(Batch(chance.randbytes(16), (dark(reports, period=period),)))
            waiting = list(self.collectors)
            while waiting:
                served = chance.choice(waiting)
                if self._is_acknowledged(served, data, chance):
                    waiting.remove(served)
            self.batches.append(data)

    def _is_acknowledged(self, served: Served, data: bytes, chance: random.Random) -> bool:
        is_lost = chance.random() < LOST
        try:
            status, answer = post(served, data, hang_up=is_lost)
        except (OSError, HTTPException):
            time.sleep(0.01)
            return False
        if is_lost:
            self.lost.append(data)
            return False
        if status != 200:
            self.troubles.append(status)
            return False
        assert json.loads(answer)["accepted"] == REPORTS
        return True


@contextmanager
def sending(senders: Senders) -> Iterator[None]:
    """Send from several threads at once."""
    threads = [threading.Thread(target=senders.run, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        senders.stopping.set()
        for thread in threads:
            thread.join()


def crash_often(collectors: list[Served], *, kills: int, least: int) -> Senders:
    """Kill one collector after the other while devices send; stop at enough acknowledgements."""
    chance = random.Random(kills)  # noqa: S311 - the test's own dice
    senders = Senders(collectors)
    with sending(senders):
        for _ in range(kills):
            time.sleep(chance.uniform(0.02, 0.5))
            one = chance.choice(collectors)
            one.kill()
            one.start()
        while senders.acknowledged < least:
            time.sleep(0.05)
    return senders


def assert_all_counted_once(senders: Senders) -> None:
    """Compare what was acknowledged with the estimates, the tallies, and the raw reports added up anew."""
    sent = b"".join(decode(data).columns[0].reports for data in senders.batches)
    answers = [
        served.request("GET", "/v1/estimates?metric=dark", key="analyst")[1] for served in senders.collectors
    ]
    retries = {post(served, data)[1] for served in senders.collectors for data in senders.batches[::50]}
    assert [served.stop() for served in senders.collectors] == [0] * len(senders.collectors)
    first = senders.collectors[0]
    with closing(open_store(first.settings.get("database", first.database))) as store:
        kept = b"".join(reports for *_, reports in store.batches.reports(DARK.id, range(2**31)))
    assert [json.loads(answer)["groups"][0]["answer"]["n"] for answer in answers] == [len(sent)] * len(
        answers
    )
    assert (len(kept), kept.count(1)) == (len(sent), sent.count(1))
    assert [json.loads(answer)["accepted"] for answer in retries] == [REPORTS]
    said = run("check", "--config", str(first.directory / "hubbub.toml"), **first.settings)
    assert "every tally is the sum of its reports" in said


def post(served: Served, data: bytes, *, hang_up: bool = False, **about: str) -> tuple[int, bytes]:
    """Send a batch on a connection of its own; return status and answer, unless it is to hang up before."""
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
