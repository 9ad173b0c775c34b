"""This file proves that trouble with a collector stays small: it spreads out, ends, and holds up nothing."""

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.errors import NotReachableError
from hubbub_client import Client, Delivery
from hubbub_client.sending.delivery import backoff
from hubbub_client.sending.transport import Answer, Request
from hubbub_client.testing import ACCEPTED, RecordingTransport
from tests.client.conftest import DAY, MONDAY, Clock
from tests.client.test_delivery import wait_for

Make = Callable[..., Client]
SOON = 15  # seconds: far above every limit here for a busy machine, far below what hangs
HANGS = 40


class Choosy:
    """Never takes the first batch it saw, and takes every other."""

    def __init__(self, answer: Answer | Exception) -> None:
        self.bodies: list[bytes] = []
        self._answer = answer

    def send(self, request: Request) -> Answer:
        self.bodies.append(request.body)
        if request.body != self.bodies[0]:
            return ACCEPTED
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.mark.parametrize(
    "answer",
    [Answer(500), Answer(408), NotReachableError("cut off"), ZeroDivisionError()],
    ids=lambda answer: str(getattr(answer, "status", type(answer).__name__)),
)
def test_a_batch_that_fails_at_every_try_holds_up_no_other(
    make: Make, clock: Clock, answer: Answer | Exception
) -> None:
    transport = Choosy(answer)
    client = make(transport=transport)
    for name, value in (("dark", True), ("seconds", 3), ("system", "mac")):
        client.record(name, value)

    first = client.flush()
    clock.now += 1
    second = client.flush()

    assert (first.sent, first.waiting) == (0, 3)
    assert (second.sent, second.waiting) == (2, 1)
    assert client._session.recorder.sender._failures == 1
    assert transport.bodies.count(transport.bodies[0]) == 2


def test_the_journal_says_why_a_batch_is_still_here(make: Make) -> None:
    transport = RecordingTransport([Answer(503, b'{"code": "overloaded"}'), NotReachableError("down")])
    client = make(transport=transport)
    client.record("dark", True)

    codes = []
    for _ in range(3):
        client.flush()
        codes += [(entry.status, entry.code) for entry in client.journal()]

    assert codes == [("waiting", "overloaded"), ("waiting", "no_answer"), ("sent", "")]


def test_a_batch_that_is_too_large_has_no_halves_and_is_refused_once(make: Make) -> None:
    transport = RecordingTransport([Answer(413, b'{"code": "too_large"}')])
    client = make(transport=transport)
    client.record("dark", True)

    client.flush()
    client.flush(now=True)

    assert client.stats().refused == {"too_large": 1}
    assert len(transport.requests) == 1


@pytest.mark.parametrize("jump", [3 * DAY, -3 * DAY, -20 * 365 * DAY], ids=["on", "back", "far back"])
def test_setting_the_clock_neither_ends_a_pause_nor_lengthens_it(
    make: Make, clock: Clock, jump: float
) -> None:
    client = make(transport=RecordingTransport([Answer(500)] * 5))
    client.record("dark", True)
    for _ in range(5):
        client.flush()
    sender = client._session.recorder.sender

    clock.now += jump

    idle = sender._idle()
    assert idle is not None
    assert 16 - SOON < idle <= 32  # the fifth pause, and the time the test took


def test_a_pause_that_was_asked_for_outlasts_a_clock_that_is_set_on(make: Make, clock: Clock) -> None:
    transport = RecordingTransport([Answer(503, b"", "3600")])
    client = make(transport=transport)
    client.record("dark", True)
    client.flush()

    clock.now += 2 * DAY
    client.flush(now=True)

    assert len(transport.requests) == 1


def test_after_an_outage_the_devices_do_not_come_all_at_once(make: Make) -> None:
    pauses = []
    for _ in range(40):
        client = make(data_dir=None, transport=RecordingTransport([Answer(503)] * 20))
        sender = client._session.recorder.sender
        client.record("dark", True)
        sender._failures = 19  # as after hours without a collector
        client.flush()
        pauses.append(sender._not_before - time.monotonic())

    busiest = max(Counter(int(pause // 300) for pause in pauses).values())
    assert min(pauses) > 1800 - SOON
    assert max(pauses) <= 3600
    assert busiest < 28  # of 40 in one of six spans of 5 minutes: chance below 1e-10


def test_most_retries_of_many_devices_fall_into_no_short_span() -> None:
    chances = [at / 10_000 for at in range(10_000)]

    busiest = [
        max(Counter(int(backoff(failures, chance) // (2**failures / 64)) for chance in chances).values())
        for failures in range(1, 12)
    ]

    assert max(busiest) <= 10_000 / 31  # evenly over half of the longest pause, in steps of a 64th of it


class Hanging:
    """A clock that stops answering, in every thread but the one that made it, until it is let go."""

    def __init__(self) -> None:
        self.hangs, self.is_over = False, threading.Event()

    def __call__(self) -> float:
        if self.hangs and threading.current_thread() is not threading.main_thread():
            self.is_over.wait(HANGS)
        return MONDAY + 1000.0


def test_flush_and_close_keep_to_their_time_while_a_clock_hangs(make: Make) -> None:
    clock = Hanging()
    client = make(clock=clock)
    client.record("dark", True)

    clock.hangs, start = True, time.monotonic()
    flushed = client.flush(timeout=0.1)
    client.close()
    took = time.monotonic() - start
    clock.is_over.set()

    assert flushed.sent == 0
    assert "0.1 seconds" in flushed.error
    assert took < SOON


def test_flush_and_close_keep_to_their_time_while_a_lock_is_held_for_ever(make: Make) -> None:
    client = make(lock_wait=float(HANGS))
    client.record("dark", True)
    is_held, is_over = threading.Event(), threading.Event()

    def hold(_: object) -> None:
        is_held.set()
        is_over.wait(HANGS)

    thread = threading.Thread(target=client._session.recorder.device.transact, args=(hold,))
    thread.start()
    is_held.wait(HANGS)
    start = time.monotonic()
    flushed = client.flush(timeout=0.1)
    client.close()
    took = time.monotonic() - start
    is_over.set()
    thread.join(HANGS)

    assert (flushed.sent, flushed.waiting) == (0, None)
    assert took < SOON


class Trickle:
    """A name server that never answers, until it is let go."""

    def __init__(self) -> None:
        self.has_come, self.is_over = threading.Event(), threading.Event()

    def send(self, _: Request) -> Answer:
        self.has_come.set()
        self.is_over.wait(HANGS)
        return ACCEPTED


def test_close_keeps_to_its_time_while_a_request_hangs_and_nothing_is_lost(make: Make, clock: Clock) -> None:
    transport = Trickle()
    client = make(transport=transport, delivery=Delivery(delay=0))
    client.record("dark", True)
    assert transport.has_come.wait(HANGS)

    start = time.monotonic()
    client.close()
    took = time.monotonic() - start
    transport.is_over.set()
    clock.now += 61
    wait_for(lambda: make().stats().sent == 1 or make().flush().sent == 1)

    assert took < SOON


ANSWERED = """
import sys, threading, time
from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery
from hubbub_client.testing import RecordingTransport

class Slow(RecordingTransport):
    def send(self, request):
        has_come.set()
        time.sleep(0.1)
        return super().send(request)

has_come, manifest = threading.Event(), Manifest(app="a", serial=1, metrics=(boolean("dark", epsilon="1"),))
client = Client.for_testing(manifest, transport=Slow(), delivery=Delivery(delay=0), data_dir=sys.argv[1])
client.record("dark", True)
has_come.wait(60)
"""


def test_what_is_answered_while_the_process_exits_is_told_as_sent(make: Make, tmp_path: Path) -> None:
    device = tmp_path / "device"

    done = subprocess.run(
        [sys.executable, "-c", ANSWERED, device], capture_output=True, text=True, check=True
    )

    assert (done.stdout, done.stderr) == ("", "")
    assert make(clock=time.time).stats().sent == 1


def test_a_record_on_a_client_that_was_closed_keeps_no_exit_waiting(make: Make) -> None:
    client = make(delivery=Delivery(delay=3600))
    client.record("dark", True)
    client.close()

    client.record("seconds", 3)

    assert client._session.recorder.sender._is_at_rest.is_set()
    assert client.stats().waiting == 2


MANY_CLIENTS = """
import sys, time
from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery

class Dawdling:
    def send(self, request):
        is_sending.append(1)
        time.sleep(600)

class Slow:
    def __call__(self):
        is_recording.append(1)
        time.sleep(600)

is_sending, is_recording, count = [], [], int(sys.argv[1])
manifest = Manifest(app="a", serial=1, metrics=(boolean("dark", epsilon="1"),))
clients = [
    Client.for_testing(manifest, transport=Dawdling(), delivery=Delivery(delay=0)) for _ in range(count)
]
for client in clients:
    client.record("dark", True)
    client._session.hand_over(Slow())
while len(is_sending) + len(is_recording) < 2 * count:
    time.sleep(0.01)
print(time.time(), flush=True)
"""


def test_an_exit_waits_for_all_clients_together_no_longer_than_for_one() -> None:
    begun = subprocess.run(
        [sys.executable, "-c", MANY_CLIENTS, "10"], capture_output=True, text=True, check=False
    )

    took = time.time() - float(begun.stdout)
    assert begun.stderr == ""
    assert took < SOON  # for each of 10 clients, and twice, it would be 20 seconds


def test_a_full_outbox_skips_records_by_count_and_bytes_and_counts_them(make: Make) -> None:
    by_count = make(data_dir=None, delivery=Delivery(delay=0, background=False, most_batches=1))
    by_bytes = make(data_dir=None, delivery=Delivery(delay=0, background=False, most_bytes=1))

    for client in (by_count, by_bytes):
        client.record("dark", True)
        client.record("seconds", 3)

    assert [client.stats().skipped for client in (by_count, by_bytes)] == [{"paused": 1}] * 2
    assert [client.remaining() for client in (by_count, by_bytes)] == [15, 15]
