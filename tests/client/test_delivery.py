"""This file proves delivery: the same bytes at every try, nothing lost or sent early, and no app held up."""

import gzip
import hashlib
import math
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hubbub.batch import BINARY, digest
from hubbub.declaration import boolean
from hubbub.errors import NotReachableError
from hubbub.manifest import Manifest
from hubbub.period import GRACE
from hubbub_client import Client, Delivery, Recorded, Skipped
from hubbub_client.sending.delivery import backoff, judge_batch
from hubbub_client.sending.envelope import pack
from hubbub_client.sending.transport import Answer, Request
from hubbub_client.testing import ACCEPTED, RecordingTransport
from hubbub_server.problems import PROBLEMS
from hubbub_server.publication import publish
from tests.client.conftest import DAY, Clock, Running

Make = Callable[..., Client]


def test_the_real_collector_takes_what_a_device_sends(make: Make, running: Running) -> None:
    client = make(transport=running.transport, key=running.key)
    for name, value in (("dark", True), ("seconds", 3), ("system", "mac")):
        client.record(name, value)

    flushed = client.flush()

    assert (flushed.sent, flushed.waiting, flushed.refused, flushed.error) == (3, 0, 0, "")
    assert [entry.status for entry in client.journal()] == ["sent"] * 3
    found = [
        running.collector.store.batches.find(hashlib.sha256(entry.batch.id).digest())
        for entry in client.journal()
    ]
    assert [record and record.digest for record in found] == [
        digest(entry.batch) for entry in client.journal()
    ]


def test_a_lost_answer_makes_no_second_report(make: Make, running: Running) -> None:
    lossy = Lossy(running)
    client = make(transport=lossy, key=running.key)
    client.record("dark", True)

    first, second = client.flush(), client.flush()

    assert (first.sent, second.sent) == (0, 1)
    assert lossy.bodies[0] == lossy.bodies[1]
    assert client.stats().sent == 1


class Lossy:
    """Lets the collector answer, and loses the first answer."""

    def __init__(self, running: Running) -> None:
        self.bodies: list[bytes] = []
        self._inner = running.transport

    def send(self, request: Request) -> Answer:
        self.bodies.append(request.body)
        answer = self._inner.send(request)
        if len(self.bodies) == 1:
            raise NotReachableError("the line went dead")
        return answer


UNAUTHORIZED = (
    "the collector answered unauthorized "
    "(is the key the hb_ingest_ key that the collector's operator gave you?)"
)


def test_a_batch_waits_for_the_right_key(make: Make, running: Running) -> None:
    client = make(transport=running.transport, key="hb_ingest_wrong")
    client.record("dark", True)

    wrong = client.flush()
    right = make(transport=running.transport, key=running.key).flush()

    assert (wrong.sent, wrong.waiting, wrong.error) == (0, 1, UNAUTHORIZED)
    assert (right.sent, right.waiting) == (1, 0)


UNPUBLISHED = "the collector answered unknown_metric (is the manifest that this app ships published there?)"


def test_a_metric_that_is_not_published_yet_waits_an_hour_and_holds_up_no_other(
    make: Make, running: Running, manifest: Manifest, clock: Clock
) -> None:
    early = Manifest(app="notepad", serial=2, metrics=(*manifest.metrics, boolean("young", epsilon="1")))
    client = make(manifest=early, transport=running.transport, key=running.key)
    client.record("young", True)
    client.record("dark", True)

    first = client.flush(now=True)
    publish(running.collector.store.manifests, early)
    at_once = client.flush()
    clock.now += 3600
    later = client.flush()

    assert (first.sent, first.waiting, first.error) == (1, 1, UNPUBLISHED)
    assert (at_once.sent, at_once.waiting, at_once.error) == (0, 1, UNPUBLISHED)
    assert (later.sent, later.waiting, later.error) == (1, 0, "")


def test_a_period_that_has_not_begun_for_the_collector_waits(make: Make, clock: Clock) -> None:
    client = make(transport=RecordingTransport([Answer(425, b'{"code": "period_not_started"}')]))
    client.record("dark", True)

    first = client.flush()
    clock.now += 3600
    second = client.flush()

    assert (first.sent, first.waiting) == (0, 1)
    assert second.sent == 1


def test_the_body_is_the_batch_in_an_envelope_and_names_nobody(
    make: Make, transport: RecordingTransport
) -> None:
    client = make(key="hb_ingest_key")
    client.record("dark", True)

    client.flush()

    (request,) = transport.requests
    (entry,) = client.journal()
    assert request.url == "https://collector.invalid/v1/batches"
    assert gzip.decompress(request.body) == entry.body
    assert request.headers == {"Content-Type": BINARY, "Content-Encoding": "gzip"}
    assert "hb_ingest_key" not in repr(request)


@pytest.mark.parametrize(
    ("size", "padded"), [(0, 512), (1, 512), (480, 512), (500, 1024), (9000, 16384), (90_000, 131_072)]
)
def test_bodies_come_in_few_sizes(size: int, padded: int) -> None:
    content = secrets.token_bytes(size)

    body = pack(content)

    assert len(body) == padded
    assert gzip.decompress(body) == content


RETRIED = [
    NotReachableError("down"),
    *(
        Answer(status)
        for status in (301, 302, *range(400, 413), *range(414, 425), 429, 431, 500, 502, 503, 504)
    ),
    *(
        Answer(400, b'{"code": "%s"}' % code)
        for code in (b"malformed_request", b"malformed_json", b"some_code")
    ),
    Answer(404, b'{"code": "not_found"}'),
    Answer(405, b'{"code": "method_not_allowed"}'),
    Answer(415, b'{"code": "unsupported_media_type"}'),
    *(Answer(status, b'{"code": "withdrawn"}') for status in (302, 401, 429, 503)),
    Answer(200, b"<html>Please log in</html>"),
    Answer(200, b"[]"),
    Answer(200, b""),
    Answer(204),
]


@pytest.mark.parametrize("answer", RETRIED, ids=str)
def test_what_is_no_final_answer_is_tried_again_with_the_same_bytes(
    make: Make, answer: Answer | Exception
) -> None:
    transport = RecordingTransport([answer])
    client = make(transport=transport)
    client.record("dark", True)

    first, second = client.flush(), client.flush()

    assert (first.sent, first.waiting, second.sent, second.waiting) == (0, 1, 1, 0)
    assert first.error
    assert transport.requests[0].body == transport.requests[1].body


JUDGED = {code: each.status for code, each in PROBLEMS.items() if each.action.startswith("Drop")}


def test_a_batch_is_ended_by_those_codes_with_which_the_protocol_lets_it_be_dropped_and_no_other() -> None:
    final = {
        code
        for code, problem in PROBLEMS.items()
        if judge_batch(Answer(problem.status, b'{"code": "%s"}' % code.encode())).status == "refused"
    }

    assert final == set(JUDGED)


@pytest.mark.parametrize(("code", "status"), JUDGED.items())
def test_a_final_refusal_is_counted_kept_and_not_tried_again(make: Make, code: str, status: int) -> None:
    transport = RecordingTransport([Answer(status, b'{"code": "%s"}' % code.encode()), ACCEPTED])
    client = make(transport=transport)
    client.record("dark", True)
    client.record("seconds", 3)

    flushed, again = client.flush(), client.flush()

    assert (flushed.sent, flushed.refused, flushed.waiting) == (1, 1, 0)
    assert (again.sent, again.refused, len(transport.requests)) == (0, 0, 2)
    assert flushed.error.startswith(f"the collector answered {code}")
    assert again.error == ""
    assert client.stats().refused == {code: 1}
    assert [entry.code for entry in client.journal()] == [code, ""]


@pytest.mark.parametrize("path", ["/api", "/v1", "/v1/batches"])
def test_a_wrong_path_burns_no_report(make: Make, running: Running, path: str) -> None:
    astray = make(transport=running.transport, key=running.key, url=f"https://collector.invalid{path}")
    astray.record("dark", True)

    wrong = astray.flush()
    right = make(transport=running.transport, key=running.key).flush()

    assert (wrong.sent, wrong.waiting, wrong.refused) == (0, 1, 0)
    assert "is the url right?" in wrong.error
    assert (right.sent, right.waiting, right.error) == (1, 0, "")


def test_what_is_too_large_for_something_on_the_way_waits_an_hour_and_holds_up_no_other(make: Make) -> None:
    client = make(transport=RecordingTransport([Answer(413)]))
    client.record("dark", True)
    client.record("seconds", 3)

    flushed = client.flush()

    assert (flushed.sent, flushed.waiting) == (1, 1)
    assert "413" in flushed.error


@pytest.mark.parametrize(
    ("answer", "refused", "words"),
    [
        (ACCEPTED, 0, ""),
        (Answer(422, b'{"code": "period_closed"}'), 1, "period_closed (is this device's clock right?)"),
        (Answer(422, b'{"code": "unknown_metric"}'), 0, "unknown_metric (is the manifest"),
        (Answer(404), 0, "is the url right?"),
        (NotReachableError("no answer from the collector (TLS)"), 0, "(TLS)"),
    ],
    ids=str,
)
def test_a_flush_tells_what_the_background_did_and_met_since_the_last(
    make: Make, answer: Answer | Exception, refused: int, words: str
) -> None:
    transport = RecordingTransport([answer] * 99)
    client = make(transport=transport, delivery=Delivery(delay=0))
    client.record("dark", True)
    wait_for(lambda: bool(transport.requests) and not client._session.recorder.sender._turn.locked())

    flushed, again = client.flush(), client.flush()

    assert (flushed.sent, flushed.refused) == (int(answer is ACCEPTED), refused)
    assert words in flushed.error
    assert bool(flushed.error) == bool(words)
    assert (again.sent, again.refused, bool(again.error)) == (0, 0, again.waiting > 0)


def test_a_flush_waits_for_what_the_background_is_sending_and_counts_it(make: Make) -> None:
    slow = Slow()
    client = make(transport=slow, delivery=Delivery(delay=0))
    client.record("dark", True)
    assert slow.entered.wait(30)

    threading.Timer(0.2, slow.may_answer.set).start()
    flushed = client.flush(timeout=30)

    assert (flushed.sent, flushed.waiting, flushed.error) == (1, 0, "")


def test_a_flush_says_what_another_process_met(make: Make) -> None:
    other = make(transport=RecordingTransport([Answer(422, b'{"code": "unknown_metric"}')]))
    other.record("dark", True)
    other.flush()

    flushed = make().flush()

    assert (flushed.sent, flushed.waiting, flushed.error) == (0, 1, UNPUBLISHED)


class Slow:
    """Takes a request, and answers when it may."""

    def __init__(self) -> None:
        self.entered, self.may_answer = threading.Event(), threading.Event()

    def send(self, _: Request) -> Answer:
        self.entered.set()
        self.may_answer.wait(30)
        return ACCEPTED


def test_a_report_that_the_collector_refuses_is_recorded_as_refused(make: Make) -> None:
    body = b'{"accepted": 0, "refused": [{"column": 0, "report": 0, "code": "impossible_report"}]}'
    client = make(transport=RecordingTransport([Answer(200, body)]))
    client.record("dark", True)

    client.flush()

    assert client.stats().refused == {"impossible_report": 1}


def test_one_failure_does_not_lose_what_waits_behind_it(make: Make) -> None:
    transport = RecordingTransport([ACCEPTED, Answer(500)])
    client = make(transport=transport)
    for name, value in (("dark", True), ("seconds", 3), ("system", "mac")):
        client.record(name, value)

    first, second = client.flush(), client.flush()

    assert (first.sent, first.waiting) == (1, 2)
    assert (second.sent, second.waiting) == (2, 0)


def test_a_fault_in_a_transport_is_no_exception_in_the_app(make: Make) -> None:
    client = make(transport=RecordingTransport([ZeroDivisionError("SECRET")]))
    client.record("dark", True)

    flushed = client.flush()

    assert (flushed.sent, flushed.waiting) == (0, 1)
    assert "SECRET" not in flushed.error


def test_by_default_a_batch_leaves_at_a_random_time_within_its_period(make: Make, clock: Clock) -> None:
    clients = [make(delivery=Delivery(background=False), data_dir=None) for _ in range(40)]

    for client in clients:
        client.record("dark", True)

    entries = [entry for client in clients for entry in client.journal()]
    assert all(clock.now <= entry.due < entry.ends for entry in entries)
    dues = [entry.due for entry in entries]
    assert max(dues) - min(dues) > 3 * DAY  # chance of 40 within 3 of 7 days: below 1e-12


def test_a_report_about_silence_leaves_at_the_times_at_which_one_about_a_value_does(
    make: Make, clock: Clock
) -> None:
    metrics = (boolean("dark", epsilon="1", absent=False), boolean("other", epsilon="0.001", period="1d"))
    options = {
        "manifest": Manifest(app="a", serial=1, metrics=metrics),
        "delivery": Delivery(background=False),
    }
    spoken = [make(data_dir=None, **options) for _ in range(20)]
    silent = [make(data_dir=None, **options) for _ in range(20)]

    for client in spoken:
        client.record("dark", True)
    for client in silent:
        client.record("other", True)
    clock.now += 7 * DAY
    for client in silent:
        client.record("other", True)

    waits = [
        [entry.due - entry.ends for client in clients for entry in client.journal() if entry.metric == "dark"]
        for clients in (spoken, silent)
    ]
    assert [len(times) for times in waits] == [20, 20]
    assert all(0 <= min(times) < 5 * DAY for times in waits)  # 20 of 20 beyond 5 of 7 days: below 1e-10
    assert all(2 * DAY < max(times) <= 7 * DAY for times in waits)


def test_a_flush_sends_what_is_due_and_all_if_told(make: Make, clock: Clock) -> None:
    client = make(delivery=Delivery(background=False))
    client.record("dark", True)
    client.record("system", "mac")

    early, (first, second) = client.flush(), sorted(entry.due for entry in client.journal())
    clock.now = (first + second) / 2
    due = client.flush()
    everything = client.flush(now=True)

    assert (early.sent, early.waiting) == (0, 2)
    assert (due.sent, due.waiting) == (1, 1)
    assert (everything.sent, everything.waiting) == (1, 0)


def test_a_batch_that_no_collector_takes_any_more_is_dropped_and_counted(make: Make, clock: Clock) -> None:
    transport = RecordingTransport([Answer(500)])
    client = make(transport=transport)
    client.record("dark", True)
    client.flush()
    (entry,) = client.journal()

    clock.now = entry.ends + GRACE
    client.record("seconds", 3)
    flushed = client.flush()

    assert (flushed.sent, flushed.waiting, len(transport.requests)) == (1, 0, 2)
    assert client.stats().dropped == {"too_old": 1}


def test_a_clock_that_is_ahead_for_a_moment_drops_nothing(make: Make, clock: Clock) -> None:
    client = make()
    client.record("dark", True)

    clock.now += 365 * DAY
    ahead = client.flush()
    clock.now -= 365 * DAY
    flushed = client.flush()

    assert (ahead.sent, ahead.waiting) == (0, 1)
    assert flushed.sent == 1
    assert client.stats().dropped == {}


def test_what_is_too_old_keeps_nothing_from_being_recorded(make: Make, clock: Clock) -> None:
    client = make(delivery=Delivery(delay=0, background=False, most_batches=1))
    client.record("dark", True)
    full = client.record("seconds", 3)

    clock.now += 365 * DAY
    outcome = client.record("seconds", 3)

    assert isinstance(full, Skipped)
    assert isinstance(outcome, Recorded)


def test_the_last_second_of_grace_still_sends(make: Make, clock: Clock) -> None:
    client = make()
    client.record("dark", True)
    (entry,) = client.journal()

    clock.now = entry.ends + GRACE - 1

    assert client.flush().sent == 1


def test_a_batch_that_another_process_is_sending_is_left_to_it_for_a_minute(make: Make, clock: Clock) -> None:
    client, other = make(), make()
    client.record("dark", True)
    client._session.recorder.sender.courier.lease(everything=False)

    leased = other.flush()
    clock.now += 61
    after = other.flush()

    assert (leased.sent, leased.waiting) == (0, 1)
    assert (after.sent, after.waiting) == (1, 0)


def test_a_lease_from_a_clock_that_was_set_back_does_not_last(make: Make, clock: Clock) -> None:
    client, other = make(), make()
    client.record("dark", True)
    clock.now += 5 * DAY
    client._session.recorder.sender.courier.lease(everything=False)

    clock.now -= 5 * DAY

    assert other.flush().sent == 1


def test_switching_off_stops_sending_at_once(
    make: Make, transport: RecordingTransport, tmp_path: Path
) -> None:
    client = make()
    client.record("dark", True)
    (tmp_path / "device" / "_off").touch()

    off = client.flush()
    (tmp_path / "device" / "_off").unlink()
    on = client.flush()

    assert (off.sent, on.sent) == (0, 1)
    assert "switched it off" in off.error


class Hole:
    """Takes a request and never answers, until it is let go."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        self.entered = threading.Event()

    def send(self, _: Request) -> Answer:
        self.entered.set()
        self.is_over.wait(30)
        raise NotReachableError("nothing came back")


def test_a_flush_into_a_black_hole_keeps_its_timeout(make: Make) -> None:
    hole = Hole()
    client = make(transport=hole)
    client.record("dark", True)

    start = time.monotonic()
    flushed = client.flush(timeout=0.2)
    took = time.monotonic() - start
    hole.is_over.set()

    assert (flushed.sent, flushed.waiting) == (0, 1)
    assert "0.2 seconds" in flushed.error
    assert took < 15  # far above 0.2 for a busy machine, far below the hole's 30


@pytest.mark.parametrize("timeout", [math.inf, 1e10, math.nan, -1.0, "soon"])
def test_a_flush_never_raises_whatever_its_timeout_is(make: Make, timeout: Any) -> None:
    client = make()
    client.record("dark", True)

    flushed = client.flush(timeout)

    assert flushed.sent == (timeout in (math.inf, 1e10))


def test_a_record_is_not_held_up_while_a_request_hangs(make: Make) -> None:
    hole = Hole()
    client = make(transport=hole, delivery=Delivery(delay=0))
    client.record("dark", True)
    assert hole.entered.wait(30)

    outcome = client.record("seconds", 3)
    hole.is_over.set()

    assert isinstance(outcome, Recorded)


def test_the_background_thread_sends_what_is_due_and_then_ends(make: Make) -> None:
    transport = RecordingTransport()
    client = make(transport=transport, delivery=Delivery(delay=0))

    client.record("dark", True)
    wait_for(lambda: client.stats().sent == 1)
    wait_for(lambda: not client._session.recorder.sender._stay.locked())
    client.record("seconds", 3)
    wait_for(lambda: client.stats().sent == 2)

    assert len(transport.requests) == 2


def test_the_background_thread_sends_what_an_earlier_process_left(make: Make) -> None:
    make().record("dark", True)

    client = make(delivery=Delivery(delay=0))
    client.record("dark", False)
    wait_for(lambda: client.stats().sent == 1)

    assert client.stats().waiting == 0


def wait_for(fact: Callable[[], bool]) -> None:
    """Wait until a fact holds, for at most half a minute."""
    for _ in range(3000):
        if fact():
            return
        time.sleep(0.01)
    raise AssertionError("it never came true")


def test_pauses_double_are_jittered_and_bounded() -> None:
    longest = [backoff(failures, 1.0) for failures in range(1, 20)]
    shortest = [backoff(failures, 0.0) for failures in range(1, 20)]

    assert longest[:4] == [2, 4, 8, 16]
    assert max(longest) == 3600
    assert shortest == [time / 2 for time in longest]


@pytest.mark.parametrize(
    ("header", "pause"),
    [
        ("120", 120.0),
        ("0", 1.0),
        ("99999999999999999999", 86_400.0),
        ("-5", None),
        ("1e9", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_within_bounds(header: str | None, pause: float | None) -> None:
    assert judge_batch(Answer(503, b"", header)).pause == pause


def test_a_collector_that_asks_to_be_left_alone_is(make: Make) -> None:
    transport = RecordingTransport([Answer(429, b"", "3600")])
    client = make(transport=transport)
    client.record("dark", True)

    client.flush()
    flushed = client.flush(now=True)

    assert (flushed.sent, len(transport.requests)) == (0, 1)
    assert "left alone" in flushed.error


@pytest.mark.parametrize("answer", [Answer(503), ACCEPTED], ids=["refusing", "accepting"])
def test_a_digest_never_changes_between_tries(make: Make, answer: Answer) -> None:
    client = make(transport=RecordingTransport([answer]))
    client.record("dark", True)
    (before,) = client.journal()

    client.flush()
    (after,) = client.journal()

    assert digest(before.batch) == digest(after.batch)
