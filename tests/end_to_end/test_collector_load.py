"""This file proves that a collector under load, with an export and a check running, wrongs nobody."""

import json
import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import pytest

from hubbub.batch import BINARY, Batch, encode
from hubbub.period import period_at
from tests.server.process import SERVER, Served, set_up
from tests.server.site import dark, system

CLIENTS = 64
FILLED = 2_000_000  # reports before it begins, so that an export takes long
SECONDS = 60.0


@dataclass(slots=True)
class Load:
    """Clients that send until told to stop. answers: statuses. acknowledged: reports of one metric."""

    served: Served
    stopping: threading.Event = field(default_factory=threading.Event)
    answers: "Counter[int]" = field(default_factory=Counter)
    acknowledged: "Counter[str]" = field(default_factory=Counter)
    wrong: list[bytes] = field(default_factory=list)

    def send(self, seed: int) -> None:
        """Send batches on one connection, each again until it is taken."""
        chance = random.Random(seed)  # noqa: S311 - the test's own dice
        line = HTTPConnection("127.0.0.1", self.served.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.served.keys['ingest']}", "Content-Type": BINARY}
        now = time.time()
        while not self.stopping.is_set():
            count = chance.choice([1, 1, 1, 5, 50])
            columns = (
                dark([1] * count, period=period_at(now, 7)),
                system([3] * count, period=period_at(now, 1)),
            )
            body = encode(Batch(chance.randbytes(16), columns))
            status = 503
            while status == 503:
                line.request("POST", "/v1/batches", body=body, headers=headers)
                answer = line.getresponse()
                status, text = answer.status, answer.read()
                self.answers[status] += 1
                if status == 503 and not answer.headers["Retry-After"]:
                    self.wrong.append(text)
                time.sleep(0.05 if status == 503 else 0)
            if status != 200:
                self.wrong.append(text)
                return
            self.acknowledged["dark"] += count
        line.close()


@pytest.mark.torture
def test_sixty_four_clients_an_export_and_a_check_at_once(tmp_path: Path) -> None:
    served = set_up(tmp_path)
    served.start()
    load = Load(served)
    fill(load)
    exported, checked = list[int](), list[tuple[int, str]]()
    tasks: list[Callable[[], None]] = [partial(load.send, seed) for seed in range(CLIENTS)]
    tasks += [lambda: again(load, lambda: exported.append(export(served)))]
    tasks += [lambda: again(load, lambda: checked.append(check(served)))]
    threads = [threading.Thread(target=task) for task in tasks]

    for thread in threads:
        thread.start()
    time.sleep(SECONDS)
    load.stopping.set()
    for thread in threads:
        thread.join()

    status, counted = served.request("GET", "/v1/estimates?metric=dark", key="analyst")
    assert served.stop() == 0
    assert (load.wrong, set(load.answers) <= {200, 503}) == ([], True)
    assert load.answers[200] > 1000
    assert (status, json.loads(counted)["groups"][0]["answer"]["n"]) == (200, load.acknowledged["dark"])
    assert min(exported) > FILLED
    assert {code for code, _ in checked} == {0}, checked
    assert check(served)[0] == 0
    assert (served.directory / "stderr.txt").read_text().count("Traceback") == 0


def again(load: Load, task: Callable[[], None]) -> None:
    """Do a task over and over while the load lasts."""
    while not load.stopping.is_set():
        task()


def fill(load: Load) -> None:
    period = period_at(time.time(), 7)
    for number in range(FILLED // 100_000):
        body = encode(Batch(number.to_bytes(16, "big"), (dark([1, 0] * 50_000, period=period),)))
        assert load.served.request("POST", "/v1/batches", body=body, form=BINARY)[0] == 200
        load.acknowledged["dark"] += 100_000


def export(served: Served) -> int:
    """Read all reports of the metric as lines, and count them."""
    status, lines = served.request("GET", "/v1/reports?metric=dark&format=ndjson", key="analyst")
    assert status == 200
    return lines.count(b"\n")


def check(served: Served) -> tuple[int, str]:
    arguments = [*SERVER, "check", "--config", str(served.directory / "hubbub.toml")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr
