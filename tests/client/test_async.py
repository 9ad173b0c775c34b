"""This file proves that recording from asynchronous code blocks no loop, and neither loses nor doubles."""

import asyncio
import json
import logging
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hubbub.declaration import boolean
from hubbub.errors import SkippedError
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery, Policy, Recorded, Skipped, threads
from hubbub_client.session import Session
from hubbub_client.testing import RecordingTransport
from hubbub_client.worker import MOST, Worker
from tests.client.test_delivery import wait_for

Make = Callable[..., Client]
MANY = Manifest(
    app="crowd",
    serial=1,
    metrics=tuple(boolean(f"fact_{at}", epsilon="0.1", source="fact") for at in range(200)),
)
CAPS = Policy(source_window="20", window="20", metrics=1000)


@pytest.fixture
def client(make: Make) -> Client:
    return make(manifest=MANY, policy=CAPS, lock_wait=30.0)


class Gate:
    """Holds up every record until it is opened, as a disk would."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.opened, self.calls = threading.Event(), threading.Event(), 0
        through = Session.record

        def record(session: Session, *told: Any) -> Any:
            self.calls += 1
            self.entered.set()
            self.opened.wait(60)
            return through(session, *told)

        monkeypatch.setattr(Session, "record", record)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


def at_rest(client: Client) -> Client:
    assert client._session._assembly.settle(60)
    return client


def recorded(client: Client) -> list[str]:
    return [entry.metric for entry in at_rest(client).journal()]


async def entering(gate: Gate) -> None:
    while not gate.entered.is_set():
        await asyncio.sleep(0.001)


def test_the_outcome_is_that_of_record(make: Make, tmp_path: Path) -> None:
    one, other = make(data_dir=tmp_path / "one"), make(data_dir=tmp_path / "other")
    told: list[tuple[str, object]] = [("dark", True), ("dark", False), ("dark", "yes"), ("nowhere", 1)]

    async def run() -> list[Recorded | Skipped]:
        return [await one.record_async(name, value) for name, value in told]

    outcomes = asyncio.run(run())

    assert outcomes == [other.record(name, value) for name, value in told]
    assert isinstance(outcomes[0], Recorded)
    assert one.stats() == other.stats()


def test_labels_are_passed_on(make: Make) -> None:
    manifest = Manifest(
        app="notepad", serial=1, metrics=(boolean("dark", epsilon="1", labels={"way": ["cold", "warm"]}),)
    )
    client = make(manifest=manifest)

    outcome = asyncio.run(client.record_async("dark", True, {"way": "warm"}))

    (entry,) = client.journal()
    assert isinstance(outcome, Recorded)
    assert entry.batch.columns[0].labels == (1,)


def test_a_strict_client_raises_where_it_is_awaited(make: Make) -> None:
    client = make(strict=True)

    with pytest.raises(SkippedError) as caught:
        asyncio.run(client.record_async("nowhere", True))

    assert caught.value.code == "unknown_metric"


def test_the_loop_goes_on_while_a_record_waits_for_the_lock_of_another_process(
    client: Client, tmp_path: Path
) -> None:
    client.record("fact_0", True)
    client.close()
    ticks = 0

    async def run() -> tuple[int, Recorded | Skipped]:
        nonlocal ticks
        holder = sqlite3.connect(tmp_path / "device" / "device.sqlite3", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(client.record_async("fact_1", True))
        for _ in range(200):
            await asyncio.sleep(0.001)
            ticks += not waiting.done()
        holder.execute("ROLLBACK")
        holder.close()
        return ticks, await waiting

    ticked, outcome = asyncio.run(run())

    assert ticked == 200
    assert isinstance(outcome, Recorded)


def test_a_cancelled_await_loses_nothing_and_doubles_nothing(
    client: Client, gate: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        begun = asyncio.ensure_future(client.record_async("fact_0", True))
        await entering(gate)
        in_line = asyncio.ensure_future(client.record_async("fact_1", True))
        await asyncio.sleep(0)
        begun.cancel()
        in_line.cancel()
        done = await asyncio.gather(begun, in_line, return_exceptions=True)
        assert [type(one) for one in done] == [asyncio.CancelledError] * 2
        gate.opened.set()
        await client.record_async("fact_2", True)  # by now the loop has heard of the others, too
        await asyncio.sleep(0)

    asyncio.run(run())

    assert recorded(client) == ["fact_0", "fact_1", "fact_2"]
    assert gate.calls == 3
    assert caplog.records == []


def test_a_loop_that_closes_meanwhile_hears_nothing_and_loses_nothing(
    client: Client, gate: Gate, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async def leave() -> None:
        waiting = client.record_async("fact_0", True)
        waiting.send(None)  # handed over, and awaited by nobody

        waiting.close()
        await entering(gate)

    asyncio.run(leave())
    gate.opened.set()
    first = recorded(client)
    again = asyncio.run(client.record_async("fact_1", True))

    assert first == ["fact_0"]
    assert isinstance(again, Recorded)
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_so_many_wait_and_no_more(client: Client, gate: Gate) -> None:
    async def run() -> list[Recorded | Skipped]:
        first = asyncio.ensure_future(client.record_async("fact_0", True))
        await entering(gate)
        others = [asyncio.ensure_future(client.record_async(f"fact_{at}", True)) for at in range(1, MOST + 4)]
        await asyncio.sleep(0)
        gate.opened.set()
        return await asyncio.gather(first, *others)

    outcomes = asyncio.run(run())

    assert [isinstance(one, Recorded) for one in outcomes] == [True] * (MOST + 1) + [False] * 3
    assert {one.code for one in outcomes if isinstance(one, Skipped)} == {"busy"}
    assert client.stats().skipped == {"busy": 3}
    assert recorded(client) == [f"fact_{at}" for at in range(MOST + 1)]


def test_loops_in_many_threads_share_one_worker(client: Client) -> None:
    def run(at: int) -> None:
        async def several() -> None:
            await asyncio.gather(*(client.record_async(f"fact_{at * 8 + one}", True) for one in range(8)))

        asyncio.run(several())

    threads = [threading.Thread(target=run, args=(at,)) for at in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(recorded(client)) == sorted(f"fact_{at}" for at in range(48))


def test_the_worker_goes_when_nothing_is_left_to_do(client: Client) -> None:
    asyncio.run(client.record_async("fact_0", True))
    at_rest(client)

    wait_for(lambda: not client._session._assembly.worker._turn.locked())


def test_a_worker_that_can_start_no_thread_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    worker = Worker()
    monkeypatch.setattr(threads, "start_new_thread", refuse)

    refused = worker.submit(lambda: None)

    assert refused is not None
    assert refused.code == "busy"
    assert worker.settle(60) == 60


def test_flushing_holds_up_no_loop(make: Make, transport: RecordingTransport) -> None:
    class Slow(RecordingTransport):
        def __init__(self) -> None:
            super().__init__()
            self.entered, self.opened = threading.Event(), threading.Event()

        def send(self, request: Any) -> Any:
            self.entered.set()
            self.opened.wait(60)
            return super().send(request)

    slow = Slow()
    client = make(transport=slow)

    async def run() -> tuple[int, int]:
        await client.record_async("dark", True)
        flushing, ticks = asyncio.ensure_future(client.flush_async(60)), 0
        while not slow.entered.is_set() or ticks < 50:
            await asyncio.sleep(0.001)
            ticks += not flushing.done()
        slow.opened.set()
        return ticks, (await flushing).sent

    ticks, sent = asyncio.run(run())

    assert ticks >= 50
    assert sent == 1


def test_a_loop_ends_without_a_flush_that_nobody_waits_for_any_more(make: Make) -> None:
    is_over, has_come, has_ended = threading.Event(), threading.Event(), threading.Event()

    class Hanging(RecordingTransport):
        def send(self, request: Any) -> Any:
            has_come.set()
            is_over.wait(60)
            return super().send(request)

    client = make(transport=Hanging())
    client.record("dark", True)

    async def run() -> None:
        flushing = asyncio.ensure_future(client.flush_async(60))
        while not has_come.is_set():
            await asyncio.sleep(0.001)
        flushing.cancel()
        await asyncio.gather(flushing, return_exceptions=True)

    def loop() -> None:
        asyncio.run(run())
        has_ended.set()

    threading.Thread(target=loop, daemon=True).start()
    ended = has_ended.wait(30)
    is_over.set()

    assert ended


CHILD = """
import asyncio, json, os, sys, tempfile, threading, time
from pathlib import Path
from hubbub_client import Client, Delivery, Recorded
from hubbub_client.session import Session
from tests.client.actors import device
client = device(Path(sys.argv[1]))
through, entered, opened = Session.record, threading.Event(), threading.Event()

def record(session, *told):
    entered.set()
    opened.wait(60)
    return through(session, *told)

Session.record = record
{act}
"""
FORK = """
async def parent():
    waiting = [asyncio.ensure_future(client.record_async(f"fact_{at}", True)) for at in range(5)]
    while not entered.is_set():
        await asyncio.sleep(0.001)
    threading.Timer(0.1, opened.set).start()
    if os.fork() == 0:
        Session.record, outcome = through, []
        def again():
            outcome.append(isinstance(asyncio.run(client.record_async("fact_9", True)), Recorded))
        thread = threading.Thread(target=again)
        thread.start()
        thread.join()
        os._exit(0 if outcome == [True] else 1)
    await asyncio.gather(*waiting)
    return os.wait()[1]

status = asyncio.run(parent())
print(json.dumps([status, sorted(entry.metric for entry in client.journal())]))
"""
EXIT = """
opened.set()
async def leave():
    for at in range(1, 6):
        coroutine = client.record_async(f"fact_{at}", True)
        coroutine.send(None)
        coroutine.close()

asyncio.run(leave())
print("[]")
sys.exit(5)
"""


LATER = """
opened.set()
asyncio.run(client.record_async("fact_0", True))
through_at_once = through

def through(*told):
    time.sleep(0.02)  # so that the main thread exits meanwhile
    return through_at_once(*told)
"""


def run_child(act: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CHILD.format(act=act), str(directory)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={
            **os.environ,
            "PYTHONWARNINGS": "ignore::DeprecationWarning",
        },  # 3.12 warns of forks beside threads
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_records_wait_neither_hangs_nor_doubles(tmp_path: Path) -> None:
    done = run_child(FORK, tmp_path / "device")

    status, metrics = json.loads(done.stdout)
    assert (status, done.stderr) == (0, "")
    assert metrics == ["fact_0", "fact_1", "fact_2", "fact_3", "fact_4", "fact_9"]


def test_an_exit_waits_for_what_is_in_line_and_changes_no_exit_code(tmp_path: Path) -> None:
    done = run_child(EXIT, tmp_path / "device")

    assert (done.returncode, done.stdout, done.stderr) == (5, "[]\n", "")
    made = Client.for_testing(MANY, data_dir=tmp_path / "device", delivery=Delivery(background=False))
    assert len(list(made.journal())) == 5


def test_an_exit_closes_no_file_before_what_is_in_line_is_made(tmp_path: Path) -> None:
    done = run_child(LATER + EXIT, tmp_path / "device")

    made = Client.for_testing(MANY, data_dir=tmp_path / "device", delivery=Delivery(background=False))
    assert (done.returncode, done.stdout, done.stderr) == (5, "[]\n", "")
    assert len(list(made.journal())) == 6


def test_an_exit_in_the_middle_of_records_leaves_no_files_of_a_client_for_tests(tmp_path: Path) -> None:
    act = f"tempfile.tempdir = {str(tmp_path)!r}\nclient = device(None)\n" + LATER + EXIT

    done = run_child(act, tmp_path / "device")

    assert (done.returncode, done.stdout, done.stderr) == (5, "[]\n", "")
    assert list(tmp_path.iterdir()) == []


def test_an_exit_does_not_wait_for_a_record_that_never_ends(tmp_path: Path) -> None:
    done = run_child(EXIT.replace("opened.set()", ""), tmp_path / "device")

    assert (done.returncode, done.stdout, done.stderr) == (5, "[]\n", "")
