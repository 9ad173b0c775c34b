"""This file proves withdrawing: what waits never leaves, and what left is asked back, one batch a request."""

import gzip
import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from hubbub.errors import NotReachableError
from hubbub.period import GRACE
from hubbub_client import Client, Delivery, Recorded, Skipped
from hubbub_client.consent import Consents, Permission
from hubbub_client.outcome import Withdrawn
from hubbub_client.sending.transport import Answer, Request
from hubbub_client.showing.cli import command
from hubbub_client.switch import Switch
from hubbub_client.testing import ACCEPTED, WITHDRAWN, RecordingTransport
from tests.client.conftest import DAY, Clock, Running
from tests.client.test_delivery import wait_for

Make = Callable[..., Client]
LATER = Delivery(background=False)
AT_ONCE = Delivery(delay=0)


def states(client: Client) -> list[tuple[str, str]]:
    return [(entry.status, entry.code) for entry in client.journal()]


def asked(transport: RecordingTransport) -> list[str]:
    """Return the ids that a collector was asked to delete."""
    return [
        json.loads(gzip.decompress(request.body))["id"]
        for request in transport.requests
        if request.url.endswith("/v1/withdrawals")
    ]


def sent(make: Make, transport: RecordingTransport, **options: object) -> Client:
    """Return a client that has sent two reports."""
    client = make(transport=transport, **options)
    client.record("dark", True)
    client.record("seconds", 3)
    assert client.flush(now=True).sent == 2
    return client


def test_withdrawing_empties_the_outbox_and_keeps_the_bytes_and_the_charges(
    make: Make, transport: RecordingTransport
) -> None:
    client = make()
    client.record("dark", True)
    client.record("seconds", 3)
    before, left = [entry.body for entry in client.journal()], client.remaining()

    withdrawn = client.withdraw()
    client.consent("given")
    flushed = client.flush(now=True)

    assert withdrawn == Withdrawn(dropped=2, asked=0, error="")
    assert (flushed.sent, flushed.waiting, transport.requests) == (0, 0, [])
    assert states(client) == [("dropped", "withdrawn")] * 2
    assert ([entry.body for entry in client.journal()], client.remaining()) == (before, left)
    assert client.stats().dropped == {"withdrawn": 2}


def test_withdrawing_refuses_consent_to_everything(make: Make) -> None:
    client = make(consent="unknown")
    client.consent("given", ["dark"])

    client.withdraw()
    outcome = client.record("dark", True)

    assert isinstance(outcome, Skipped)
    assert outcome.code == "consent"
    assert set(client.consents().values()) == {"refused"}


def test_withdrawing_leaves_what_was_sent_alone_unless_told(
    make: Make, transport: RecordingTransport
) -> None:
    client = sent(make, transport)

    withdrawn = client.withdraw()

    assert withdrawn == Withdrawn(0, 0, "")
    assert states(client) == [("sent", "")] * 2


def test_withdrawing_what_never_was_makes_no_directory(make: Make, tmp_path: Path) -> None:
    assert make().withdraw(ask_collector=True) == Withdrawn(0, 0, "")
    assert not (tmp_path / "device").exists()


def test_withdrawing_says_that_it_can_do_nothing_while_switched_off(make: Make) -> None:
    make().record("dark", True)
    client = make(environ={"DO_NOT_TRACK": "1"})

    withdrawn = client.withdraw()

    assert withdrawn == Withdrawn(0, 0, "DO_NOT_TRACK is set")
    assert states(client) == [("waiting", "")]


def test_withdrawing_never_raises_and_says_what_stood_in_the_way(make: Make, tmp_path: Path) -> None:
    client = make(lock_wait=0.01)
    client.record("dark", True)
    other = sqlite3.connect(tmp_path / "device" / "device.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    withdrawn = client.withdraw()
    other.close()

    assert withdrawn.dropped == 0
    assert "another process holds" in withdrawn.error
    assert client.withdraw() == Withdrawn(1, 0, "")


def test_the_real_collector_deletes_what_is_asked_back(make: Make, running: Running) -> None:
    client = make(transport=running.transport, key=running.key)
    for name, value in (("dark", True), ("seconds", 3), ("system", "mac")):
        client.record(name, value)
    client.flush()

    withdrawn = client.withdraw(ask_collector=True)
    flushed = client.flush()

    hashes = [hashlib.sha256(entry.batch.id).digest() for entry in client.journal()]
    records = [running.collector.store.batches.find(one) for one in hashes]
    assert withdrawn == Withdrawn(dropped=0, asked=3, error="")
    assert [record and record.state for record in records] == ["withdrawn"] * 3
    assert states(client) == [("withdrawn", "")] * 3
    assert (client.stats().sent, client.stats().asked_back) == (3, {"withdrawn": 3})
    assert "consent was refused" in flushed.error


def test_requests_leave_at_random_times_within_a_week(make: Make, clock: Clock) -> None:
    transport = RecordingTransport()
    clients = [make(data_dir=None, delivery=LATER, transport=transport) for _ in range(40)]
    for client in clients:
        client.record("dark", True)
        client.flush(now=True)

    for client in clients:
        client.withdraw(ask_collector=True)
    for client in clients:
        client.flush()

    waits = [entry.due - clock.now for client in clients for entry in client.journal()]
    assert len([wait for wait in waits if wait > 60]) > 30  # each with chance 0.9999
    assert all(0 <= wait <= 7 * DAY for wait in waits)
    assert max(waits) - min(waits) > 3 * DAY  # chance of 40 within 3 of 7 days: below 1e-12
    assert len(asked(transport)) < 10


def test_a_request_names_one_batch_and_looks_like_a_batch(make: Make, transport: RecordingTransport) -> None:
    client = sent(make, transport, key="hb_ingest_key")
    client.withdraw(ask_collector=True)
    client.flush()

    batches, withdrawals = transport.requests[:2], transport.requests[2:]
    assert sorted(asked(transport)) == sorted(entry.batch.id.hex() for entry in client.journal())
    assert {request.url for request in withdrawals} == {"https://collector.invalid/v1/withdrawals"}
    assert {len(request.body) for request in withdrawals} == {len(request.body) for request in batches}
    assert all(
        request.headers == {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        for request in withdrawals
    )
    assert {request.key for request in withdrawals} == {"hb_ingest_key"}


def test_only_what_a_collector_may_still_know_is_asked_back(
    make: Make, transport: RecordingTransport, clock: Clock
) -> None:
    client = sent(make, transport, delivery=LATER)
    daily, weekly = sorted(entry.ends for entry in client.journal())

    clock.now = daily + GRACE
    withdrawn = client.withdraw(ask_collector=True)

    (entry,) = (entry for entry in client.journal() if entry.status == "withdrawing")
    assert withdrawn.asked == 1
    assert entry.ends == weekly
    assert clock.now <= entry.due <= weekly + GRACE


def test_a_request_leaves_before_the_batch_is_forgotten(
    make: Make, transport: RecordingTransport, clock: Clock
) -> None:
    client = sent(make, transport, delivery=LATER)

    clock.now = min(entry.ends for entry in client.journal()) + GRACE - 60
    client.withdraw(ask_collector=True)

    (daily,) = (entry for entry in client.journal() if entry.metric == "seconds")
    assert daily.due <= clock.now + 60


FINAL = [
    (WITHDRAWN, ("withdrawn", "")),
    (Answer(410, b'{"code": "already_folded"}'), ("kept", "already_folded")),
]


@pytest.mark.parametrize(("answer", "state"), FINAL, ids=str)
def test_what_became_of_a_request_is_kept_and_it_is_not_sent_again(
    make: Make, answer: Answer, state: tuple[str, str]
) -> None:
    transport = RecordingTransport([ACCEPTED, ACCEPTED, answer, answer, answer])
    client = sent(make, transport)

    client.withdraw(ask_collector=True)
    client.flush()
    again = client.withdraw(ask_collector=True)
    client.flush()

    assert states(client) == [state] * 2
    assert again == Withdrawn(0, 0, "")
    assert len(asked(transport)) == 2
    assert client.stats().asked_back == {state[1] or state[0]: 2}


NOT_FINAL = [
    NotReachableError("down"),
    *(Answer(status) for status in (301, 400, 401, 403, 404, 408, 410, 429, 500, 503)),
    Answer(404, b'{"code": "not_found"}'),
    Answer(415, b'{"code": "unsupported_media_type"}'),
    Answer(200, b"<html>Please log in</html>"),
    Answer(200, b'{"withdrawn": false}'),
    ACCEPTED,
]


@pytest.mark.parametrize("answer", NOT_FINAL, ids=str)
def test_a_request_without_a_final_answer_is_sent_again_with_the_same_bytes(
    make: Make, answer: Answer | Exception
) -> None:
    transport = RecordingTransport([ACCEPTED, answer])
    client = make(transport=transport)
    client.record("dark", True)
    client.flush()
    client.withdraw(ask_collector=True)

    first = client.flush()
    between = states(client)[0][0]
    client.flush()

    assert first.error
    assert between == "withdrawing"
    assert states(client) == [("withdrawn", "")]
    assert transport.requests[1].body == transport.requests[2].body


def test_a_request_is_given_up_once_a_collector_has_forgotten_the_batch(
    make: Make, transport: RecordingTransport, clock: Clock
) -> None:
    client = sent(make, transport, delivery=LATER)
    client.withdraw(ask_collector=True)

    clock.now = max(entry.ends for entry in client.journal()) + GRACE + DAY
    client.flush()

    assert states(client) == [("kept", "too_late")] * 2
    assert asked(transport) == []


@pytest.mark.parametrize(
    "go_on",
    [
        lambda client: client.consent("refused"),
        lambda client: client.flush(),
        lambda client: client.withdraw(ask_collector=True),
        lambda client: (client.consent("given"), client.record("system", "mac")),
    ],
    ids=["refused", "flush", "withdraw", "given"],
)
def test_a_later_process_goes_on_with_what_is_left(
    make: Make, clock: Clock, go_on: Callable[[Client], object]
) -> None:
    transport = RecordingTransport()
    sent(make, transport).withdraw(ask_collector=True)
    clock.now += 1

    later = make(transport=transport, delivery=AT_ONCE, consent="unknown")
    go_on(later)
    wait_for(lambda: later.stats().asked_back == {"withdrawn": 2})

    assert len(asked(transport)) == 2


def test_a_process_of_an_app_that_knows_of_the_refusal_goes_on_as_well(make: Make) -> None:
    transport = RecordingTransport()
    sent(make, transport).withdraw(ask_collector=True)

    later = make(transport=transport, delivery=AT_ONCE, consent="refused")
    later.record("dark", True)
    wait_for(lambda: later.stats().asked_back == {"withdrawn": 2})

    assert len(asked(transport)) == 2


def test_with_nothing_left_no_thread_starts_and_nothing_is_sent(
    make: Make, transport: RecordingTransport
) -> None:
    sent(make, transport).withdraw()

    later = make(transport=transport, delivery=AT_ONCE, consent="unknown")
    later.consent("refused")
    later.flush()

    assert not later._session.recorder.sender._stay.locked()
    assert len(transport.requests) == 2


def test_the_switch_stops_requests_too(make: Make, transport: RecordingTransport, tmp_path: Path) -> None:
    client = sent(make, transport)
    client.withdraw(ask_collector=True)
    (tmp_path / "device" / "_off").touch()

    off = client.flush(now=True)
    by_the_thread = make(transport=transport, delivery=AT_ONCE)
    by_the_thread._session.recorder.sender.resume()
    wait_for(lambda: by_the_thread._session.recorder.sender._failures == 1)

    assert "switched it off" in off.error
    assert asked(transport) == []


def test_a_batch_that_may_have_arrived_is_asked_back_though_no_answer_came(make: Make) -> None:
    transport = RecordingTransport([NotReachableError("the line went dead")])
    client = make(transport=transport)
    client.record("dark", True)
    client.record("seconds", 3)
    client.flush()

    withdrawn = client.withdraw(ask_collector=True)
    client.flush()

    tried = gzip.decompress(transport.requests[0].body)
    (entry,) = (entry for entry in client.journal() if entry.body == tried)
    assert withdrawn == Withdrawn(dropped=1, asked=1, error="")
    assert sorted(states(client)) == [("dropped", "withdrawn"), ("withdrawn", "")]
    assert (entry.status, asked(transport)) == ("withdrawn", [entry.batch.id.hex()])


def test_a_batch_that_may_have_arrived_can_be_asked_back_after_it_was_dropped(make: Make) -> None:
    transport = RecordingTransport([NotReachableError("the line went dead")])
    client = make(transport=transport)
    client.record("dark", True)
    client.flush()

    first = client.withdraw()
    second = client.withdraw(ask_collector=True)

    assert (first, second) == (Withdrawn(1, 0, ""), Withdrawn(0, 1, ""))


class Gate:
    """Takes a request, and answers when it is let."""

    def __init__(self) -> None:
        self.has_come, self.may_answer = threading.Event(), threading.Event()
        self.left = 0

    def send(self, request: Request) -> Answer:
        request.permit()
        self.left += 1
        self.has_come.set()
        self.may_answer.wait(30)
        return ACCEPTED


def test_a_batch_that_arrives_while_it_is_withdrawn_is_told_as_sent(make: Make) -> None:
    gate = Gate()
    client = make(transport=gate, delivery=AT_ONCE)
    client.record("dark", True)
    gate.has_come.wait(30)

    withdrawn = client.withdraw()
    gate.may_answer.set()
    wait_for(lambda: client.stats().sent == 1)

    assert withdrawn.dropped == 1
    assert states(client) == [("sent", "")]


@pytest.mark.parametrize("by", ["this client", "another", "the owner"])
def test_what_a_sender_has_leased_never_leaves_once_it_was_withdrawn_though_consent_is_given_again(
    make: Make, tmp_path: Path, by: str
) -> None:
    gate = Gate()
    client = make(transport=gate)
    for name, value in (("dark", True), ("seconds", 3), ("system", "mac")):
        client.record(name, value)
    sending = threading.Thread(target=client.flush, args=(30,))
    sending.start()
    gate.has_come.wait(30)

    if by == "the owner":
        CliRunner().invoke(command, ["--data-dir", str(tmp_path / "device"), "withdraw"])
        CliRunner().invoke(command, ["--data-dir", str(tmp_path / "device"), "on"])
    else:
        (client if by == "this client" else make()).withdraw()
    client.consent("given")
    gate.may_answer.set()
    sending.join(30)

    assert gate.left == 1
    assert states(client) == [("sent", ""), *[("dropped", "withdrawn")] * 2]


def test_a_batch_that_arrives_while_it_is_asked_back_is_still_asked_back(make: Make, clock: Clock) -> None:
    gate = Gate()
    client = make(transport=gate, delivery=LATER)
    client.record("dark", True)
    clock.now = next(iter(client.journal())).due
    sending = threading.Thread(target=client.flush, args=(30,))
    sending.start()
    gate.has_come.wait(30)

    withdrawn = client.withdraw(ask_collector=True)
    gate.may_answer.set()
    sending.join(30)

    assert withdrawn == Withdrawn(dropped=0, asked=1, error="")
    assert states(client) == [("withdrawing", "")]


def test_the_owner_withdraws_without_the_app(
    make: Make, transport: RecordingTransport, tmp_path: Path
) -> None:
    client = make()
    client.record("dark", True)

    done = CliRunner().invoke(command, ["--data-dir", str(tmp_path / "device"), "withdraw"])
    CliRunner().invoke(command, ["--data-dir", str(tmp_path / "device"), "on"])
    client.flush(now=True)

    assert done.exit_code == 0
    assert "1 report will not leave" in done.output
    assert "the app" in done.output
    assert states(client) == [("dropped", "withdrawn")]
    assert transport.requests == []


def test_withdrawing_in_one_process_stops_every_other_on_the_device(
    make: Make, transport: RecordingTransport, clock: Clock
) -> None:
    busy, idle, quitting = make(), make(), make()
    busy.record("dark", True)
    clock.now += 60

    quitting.withdraw()
    outcomes = [client.record("seconds", 3) for client in (busy, idle)]
    flushed = busy.flush(now=True), make(consent="refused").flush(now=True)

    assert [outcome.code for outcome in outcomes if isinstance(outcome, Skipped)] == ["consent", "consent"]
    assert [one.sent for one in flushed] == [0, 0]
    assert transport.requests == []
    assert busy.consents() == dict.fromkeys(busy.metrics, "refused")


def test_a_withdrawal_within_the_second_of_an_agreement_stops_who_agreed_before_it(
    make: Make, clock: Clock
) -> None:
    quitting = make()
    quitting.record("seconds", 3)
    clock.now += 0.2
    before = make()
    clock.now += 0.2
    quitting.withdraw()
    clock.now += 0.2
    after = make()

    outcomes = before.record("dark", True), after.record("dark", True)

    assert isinstance(outcomes[0], Skipped)
    assert outcomes[0].code == "consent"
    assert isinstance(outcomes[1], Recorded)


def test_a_withdrawal_stops_who_agreed_before_it_whatever_the_clock_showed(make: Make, clock: Clock) -> None:
    quitting = make()
    quitting.record("seconds", 3)
    before = make()
    quitting.withdraw()  # at the same time, by a clock of seconds

    outcome = before.record("dark", True)

    assert isinstance(outcome, Skipped)
    assert outcome.code == "consent"


def test_a_withdrawal_stops_who_agreed_before_it_though_the_clock_was_set_back_between() -> None:
    wall, steady = Clock(1000.0), Clock(5.0)
    permission = Permission(Switch({}, tuple), Consents("unknown"), wall, steady)
    permission.decide("given")

    wall.now, steady.now = 950.0, 15.0
    withdrawn_at = wall.now
    wall.now, steady.now = 960.0, 25.0
    permission.hear((7, int(1000 * withdrawn_at)))

    assert permission.consents == Consents("refused")


def test_who_agrees_after_a_withdrawal_of_its_own_is_heard_at_once(make: Make) -> None:
    client = make()
    client.record("seconds", 3)

    client.withdraw()
    client.consent("given")

    assert isinstance(client.record("dark", True), Recorded)


def test_who_agrees_after_a_withdrawal_is_heard(make: Make, clock: Clock) -> None:
    busy, quitting = make(), make()
    busy.record("dark", True)
    clock.now += 60
    quitting.withdraw()
    busy.record("seconds", 3)

    clock.now += 60
    busy.consent("given")
    later = make()

    assert isinstance(busy.record("seconds", 3), Recorded)
    assert isinstance(later.record("system", "mac"), Recorded)


@pytest.mark.parametrize("has_heard", [True, False])
def test_who_agrees_to_one_metric_after_a_withdrawal_agrees_to_no_other_again(
    make: Make, transport: RecordingTransport, clock: Clock, *, has_heard: bool
) -> None:
    busy, quitting = make(), make()
    (busy if has_heard else quitting).record("dark", True)
    clock.now += 60
    quitting.withdraw()
    clock.now += 60

    busy.consent("given", ["system"])
    outcomes = busy.record("seconds", 3), busy.record("system", "mac")
    busy.flush(now=True)

    assert isinstance(outcomes[0], Skipped)
    assert (outcomes[0].code, type(outcomes[1])) == ("consent", Recorded)
    assert busy.consents() == {**dict.fromkeys(busy.metrics, "refused"), "system": "given"}
    assert len(transport.requests) == 1


def test_who_refuses_a_metric_after_a_withdrawal_has_not_agreed_to_it(make: Make, clock: Clock) -> None:
    busy, quitting = make(), make()
    quitting.record("dark", True)
    clock.now += 60
    quitting.withdraw()
    clock.now += 60

    busy.consent("given", ["system", "seconds"])
    busy.consent("refused", ["system"])
    busy.record("seconds", 3)

    assert busy.consents() == {**dict.fromkeys(busy.metrics, "refused"), "seconds": "given"}


def test_a_withdrawal_that_could_not_be_kept_hides_none_of_another_process(
    make: Make, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = make()
    busy.record("dark", True)
    device = busy._session.recorder.device
    with monkeypatch.context() as full:
        full.setattr(device, "_mark", Mock(side_effect=OSError("no space left")))
        assert busy.withdraw().error
    busy.consent("given")
    clock.now += 60
    make().withdraw()

    outcome = busy.record("seconds", 3)

    assert isinstance(outcome, Skipped)
    assert outcome.code == "consent"


def test_what_another_process_withdraws_is_not_sent_by_a_thread_that_waits(make: Make, clock: Clock) -> None:
    transport = RecordingTransport()
    busy = make(transport=transport, delivery=Delivery(delay=3600))
    busy.record("dark", True)
    clock.now += 60
    make().withdraw()

    clock.now += 3600
    busy.flush()

    assert transport.requests == []
    assert busy.stats().dropped == {"withdrawn": 1}
