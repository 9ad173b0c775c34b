"""This file proves that forks, kills and crowds of processes neither overspend, nor lose, nor dead-lock."""

import gzip
import json
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hubbub.batch import decode
from hubbub_client import Recorded
from tests.client.actors import MANY, device

ROOT = Path(__file__).parents[2]


def start(actor: str, directory: Path, *more: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.client.actors", actor, str(directory), *map(str, more)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def play(actor: str, directory: Path, *more: object) -> Any:
    process = start(actor, directory, *more)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return json.loads(out)


@pytest.mark.parametrize(
    ("processes", "tries"),
    [(8, 16), pytest.param(32, 25, marks=pytest.mark.torture)],
)
def test_processes_that_spend_one_budget_at_once_release_exactly_what_it_holds(
    tmp_path: Path, processes: int, tries: int
) -> None:
    seen = play("crowd", tmp_path / "device", processes, tries)

    assert seen["codes"] == ["budget"] * (processes * tries - 100) + ["recorded"] * 100
    assert (seen["entries"], seen["spent"], seen["left"]) == (100, "10.0", "0")


@pytest.mark.parametrize(
    ("processes", "tries"),
    [(8, 16), pytest.param(32, 25, marks=pytest.mark.torture)],
)
def test_processes_that_do_not_wait_are_told_busy_and_count_it_and_lose_and_overspend_nothing(
    tmp_path: Path, processes: int, tries: int
) -> None:
    seen = play("impatient_crowd", tmp_path / "device", processes, tries)

    codes = seen["codes"]
    assert len(codes) == processes * tries
    assert set(codes) <= {"recorded", "busy", "budget"}
    assert seen["busy"] == codes.count("busy") > 0
    assert seen["entries"] == codes.count("recorded") > 0
    assert Decimal(seen["left"]) == 10 - Decimal(seen["entries"]) / 10


def test_threads_that_share_a_client_release_exactly_what_its_budget_holds(tmp_path: Path) -> None:
    with device(tmp_path / "device") as client, ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda metric: client.record(metric.name, True), MANY.metrics[:120]))
        spent = [entry.cost for entry in client.journal()]

    assert sum(isinstance(outcome, Recorded) for outcome in outcomes) == len(spent) == 100
    assert sum(spent) == 10


def test_no_two_of_64_forked_children_draw_the_same_16_reports(tmp_path: Path) -> None:
    sequences = play("siblings", tmp_path)

    assert {len(sequence) for sequence in sequences} == {len(sequences[0])}
    assert len(set(sequences)) == 64  # two alike by chance: below 1e-30


def test_a_fork_in_the_middle_of_another_threads_record_dead_locks_nobody_and_shares_no_connection(
    tmp_path: Path,
) -> None:
    seen = play("fork_in_a_record", tmp_path / "device")

    assert seen == {"inherits": False, "child": True, "parent": True, "entries": 3}


def test_a_child_sends_its_own_and_leaves_its_parents_request_alone(tmp_path: Path) -> None:
    seen = play("fork_in_a_request", tmp_path / "device")

    assert seen["child_sent_of_its_parents"] == 0
    assert len(seen["bodies"]) == len(set(seen["bodies"])) == 2


def test_a_child_of_a_fork_in_the_middle_of_an_import_sends(tmp_path: Path) -> None:
    seen = play("fork_in_an_import", tmp_path / "device")

    assert seen == [[True, ""]]


@pytest.mark.parametrize("kills", [3, pytest.param(25, marks=pytest.mark.torture)])
def test_after_kills_at_random_moments_nothing_left_that_was_not_charged(tmp_path: Path, kills: int) -> None:
    moments = random.Random(7)  # noqa: S311 - moments to kill at are no secret
    directory = tmp_path / "device"

    for _ in range(kills):
        process = start("go_on", directory, moments.randrange(0, 800))
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(moments.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.communicate()

    released = {
        decode(gzip.decompress(bytes.fromhex(line))).id
        for line in (tmp_path / "sent").read_text().splitlines()
    }
    with device(directory) as survivor:
        charged = {entry.batch.id: entry.cost for entry in survivor.journal()}
        lost = survivor.stats().waiting + survivor.stats().sent - len(charged)
    assert released
    assert released <= set(charged)
    assert lost == 0
    assert sum(charged.values()) <= 10


def test_a_device_goes_on_after_a_kill(tmp_path: Path) -> None:
    process = start("go_on", tmp_path / "device", 0)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.1)
    process.kill()
    process.communicate()

    with device(tmp_path / "device") as survivor:
        before = len(list(survivor.journal()))
        survivor.record(MANY.metrics[-1].name, True)
        after = len(list(survivor.journal()))

    assert after == before + 1


NESTED = """
import signal, sys
from tests.client.actors import device
from hubbub_client import Delivery
from hubbub_client.threads import Flag
from pathlib import Path
client = device(Path(sys.argv[1]), delivery=Delivery(delay=0))
client.record("fact_0", True)
told = []
signal.signal(signal.SIGALRM, lambda *_: told.append(client.record("fact_1", True)))
honest = Flag.set
alarms = [signal.SIGALRM]
def interrupted(flag):
    while alarms:
        signal.raise_signal(alarms.pop())
    honest(flag)
Flag.set = interrupted
client.record("fact_2", True)
print(len(told), len(list(client.journal())))
"""


def test_a_record_in_a_signals_handler_that_interrupts_another_dead_locks_nobody(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NESTED, str(tmp_path / "device")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.stdout, done.stderr) == ("1 3\n", "")
