"""This file proves that a flush and a close wait for what was handed over before, and for nothing else."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hubbub_client import Client, Flushed
from hubbub_client.worker import Worker

Make = Callable[..., Client]


@pytest.fixture
def client(make: Make) -> Client:
    return make()


@pytest.fixture
def stuck(client: Client) -> Iterator[threading.Event]:
    """Let the worker hang until the event is set, as it would at a lock."""
    entered, opened = threading.Event(), threading.Event()

    def hang() -> None:
        entered.set()
        opened.wait(60)

    client._session.hand_over(hang)
    entered.wait(60)
    yield opened
    opened.set()


async def leave(client: Client) -> None:
    """Hand over one record that was timed, and one for which nobody waits."""
    async with client.timed("seconds"):
        pass
    waiting = client.record_async("dark", True)
    waiting.send(None)
    waiting.close()


async def left_and_flushed(client: Client) -> Flushed:
    await leave(client)
    return await client.flush_async(60)


def test_a_flush_sends_what_coroutines_recorded_before_it(client: Client) -> None:
    flushed = asyncio.run(left_and_flushed(client))

    assert flushed == Flushed(2, 0, 0, "")


def test_a_flush_after_the_loop_sends_what_was_recorded_in_it(client: Client) -> None:
    asyncio.run(leave(client))

    flushed = client.flush(60)

    assert flushed == Flushed(2, 0, 0, "")


def test_closing_keeps_what_was_handed_over(client: Client) -> None:
    asyncio.run(leave(client))

    client.close()

    assert client._session.recorder.device._opened is None
    assert client.stats().waiting == 2


def test_a_flush_waits_for_what_is_in_line_and_not_for_what_comes_later(
    client: Client, stuck: threading.Event
) -> None:
    made, is_over = list[int](), threading.Event()
    client._session.hand_over(lambda: made.append(1))

    def go_on() -> None:
        while len(client._session._assembly.worker._calls) < 2:  # until the flush waits, too
            threading.Event().wait(0.001)
        client._session.hand_over(lambda: is_over.wait(60))
        stuck.set()

    threading.Thread(target=go_on).start()
    flushed = client.flush(30)
    is_over.set()

    assert made == [1]
    assert flushed.error == ""


@pytest.mark.parametrize("timeout", [0.05, 0, -1.0, float("nan")])
def test_a_worker_that_hangs_keeps_no_flush_beyond_its_time_and_it_says_so(
    client: Client, stuck: threading.Event, timeout: float
) -> None:
    client.record("dark", True)

    flushed = client.flush(timeout)
    later = len(client._session._assembly.worker._calls)

    assert not stuck.is_set()
    assert flushed.error == "what was recorded asynchronously is not all in line yet; flush again"
    assert later == 0


def test_a_worker_that_hangs_keeps_no_close_for_long(client: Client, stuck: threading.Event) -> None:
    client.close()

    assert not stuck.is_set()


def test_a_worker_does_not_wait_for_itself(client: Client) -> None:
    flushed: list[Flushed] = []
    client._session.hand_over(lambda: flushed.append(client.flush(60)))
    client._session.hand_over(client.close)

    client.flush(60)

    assert [one.error for one in flushed] == [""]


def test_many_who_wait_are_all_told(client: Client, stuck: threading.Event) -> None:
    flushed: list[Flushed] = []
    threads = [threading.Thread(target=lambda: flushed.append(client.flush(60))) for _ in range(8)]
    for thread in threads:
        thread.start()

    stuck.set()
    for thread in threads:
        thread.join()

    assert [one.error for one in flushed] == [""] * 8


def test_what_ends_a_call_ends_no_wait() -> None:
    worker = Worker()

    def end() -> None:
        raise KeyboardInterrupt

    worker.submit(end)

    assert worker.settle(60)


FORKED = """
import asyncio, os, sys, threading
from pathlib import Path
from tests.client.actors import device
client, opened, entered = device(Path(sys.argv[1])), threading.Event(), threading.Event()

async def leave():
    waiting = client.record_async("fact_0", True)
    waiting.send(None)
    waiting.close()

def hang():
    entered.set()
    opened.wait(60)

def child():
    if os.fork() == 0:
        idle = client.flush(60)
        asyncio.run(leave())
        print(repr(idle.error), client.flush(60), flush=True)
        os._exit(0)
    os.wait()
"""
BESIDE = """
client._session.hand_over(hang)
entered.wait(60)
child()
opened.set()
"""
WITHIN = """
client._session.hand_over(child)
client.flush(60)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("act", [BESIDE, WITHIN], ids=["beside the worker", "by the worker"])
def test_a_forked_child_waits_for_its_own_worker_and_for_no_parent_s(tmp_path: Path, act: str) -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED + act, str(tmp_path)]

    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert (done.stdout, done.stderr) == ("'' Flushed(sent=1, waiting=0, refused=0, error='')\n", "")
