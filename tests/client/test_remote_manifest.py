"""This file proves that an app's maker can pause and lower from afar, that nobody else can, and no more."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hubbub.batch import decode
from hubbub.declaration import boolean
from hubbub.epsilon import Epsilon
from hubbub.errors import DomainError, MissingExtraError, NotReachableError
from hubbub.manifest import Manifest
from hubbub.period import period_at, start_of
from hubbub.signed_manifest import LONGEST, PREFIX, SignedManifest, public_key_text, sign
from hubbub_client import Client, Delivery, Recorded, Skipped, kept_manifests
from hubbub_client.kept_manifests import FILE, Document, Kept
from hubbub_client.sending.delivery import HOUR
from hubbub_client.sending.transport import Answer, Request
from hubbub_client.showing.cli import command
from hubbub_server.publication import publish, publish_signed
from tests.client.conftest import DAY, MONDAY, Clock, Running

Make = Callable[..., Client]
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
STRANGER = Ed25519PrivateKey.from_private_bytes(bytes(32))
PUBLIC = public_key_text(KEY.public_key().public_bytes_raw())
OWN = Manifest(
    app="notepad",
    serial=1,
    metrics=(
        boolean("dark", epsilon="1", period="1d"),
        boolean("mail", epsilon="1", period="1d"),
        boolean("quiet", epsilon="1", absent=False),
    ),
)


def but(serial: int, *, without: tuple[str, ...] = (), app: str = "notepad", **prices: str) -> Manifest:
    """Return the app's manifest without some metrics, and with other prices for others."""
    kept = (metric for metric in OWN.metrics if metric.name not in without)
    metrics = (
        replace(metric, epsilon=Epsilon.parse(prices.get(metric.name, metric.epsilon))) for metric in kept
    )
    return Manifest(app=app, serial=serial, metrics=tuple(metrics))


def signed(manifest: Manifest, key: Ed25519PrivateKey = KEY) -> bytes:
    return sign(manifest, key).encode()


@dataclass(slots=True)
class Carrier:
    """A collector that takes every batch, and answers a question for news as it is told."""

    news: bytes | Answer | Exception = b""
    asked: int = 0
    requests: tuple[Request, ...] = ()

    def send(self, request: Request) -> Answer:
        self.requests = (*self.requests, request)
        if request.method == "POST":
            return Answer(200, b'{"accepted": 1, "refused": []}')
        self.asked += 1
        if isinstance(self.news, Exception):
            raise self.news
        return self.news if isinstance(self.news, Answer) else Answer(200, self.news)


@pytest.fixture
def carrier() -> Carrier:
    return Carrier()


@pytest.fixture
def device(make: Make, carrier: Carrier) -> Client:
    """Return a device that has sent a report, and so asked for news, which was none."""
    carrier.news = Answer(404)
    client = make(manifest=OWN, maker_key=PUBLIC, transport=carrier)
    client.record("mail", True)
    client.flush()
    return client


def learn(device: Client, carrier: Carrier, clock: Clock, news: bytes | Answer | Exception) -> None:
    """Let a device ask for news two days later."""
    carrier.news = news
    clock.now += 2 * DAY
    device.flush()


def code(outcome: Recorded | Skipped) -> str:
    return outcome.code if isinstance(outcome, Skipped) else f"recorded for {outcome.spent}"


def status(device: Client) -> str:
    return CliRunner().invoke(command, ["--data-dir", str(device._session.directory), "status"]).output


def test_a_manifest_signed_and_published_reaches_a_device_through_the_real_collector(
    make: Make, running: Running, clock: Clock
) -> None:
    publish(running.collector.store.manifests, replace(OWN, serial=2))
    publish_signed(running.collector.store.manifests, signed(but(3, without=("mail",), dark="0.5")))
    client = make(manifest=OWN, maker_key=PUBLIC, transport=running.transport, key=running.key)
    client.record("dark", True)
    first = client.flush()
    clock.now += DAY

    lowered, paused = client.record("dark", True), client.record("mail", True)

    assert first.sent == 1
    assert (code(lowered), code(paused)) == ("recorded for 0.5", "paused")
    assert "paused by the app's maker" in paused.message  # type: ignore[union-attr]
    assert client.flush().sent == 1
    assert client.stats().refused == {}
    assert "pauses mail" in status(client)


def test_a_device_asks_with_no_key_no_body_and_nothing_that_tells_it_apart(
    device: Client, carrier: Carrier
) -> None:
    (question,) = [request for request in carrier.requests if request.method == "GET"]

    assert question.url == "https://collector.invalid/v1/manifests/notepad/signed"
    assert (question.body, question.headers, question.key) == (b"", {}, None)


@pytest.mark.parametrize(
    ("news", "trouble"),
    [
        (signed(but(9, without=("dark",)), STRANGER), "not signed by its maker's key"),
        (signed(but(9, without=("dark",), app="calendar")), "for another app"),
        (signed(but(9, without=("dark",)))[:-30], "not JSON"),
        (b"<html>Welcome to our network</html>", "not JSON"),
        (b"", "not JSON"),
        (b"[" * 60_000, "nested too deeply"),
        (b'{"manifest": "' + b"A" * 10_000_000, "at most 65536 bytes"),
        (
            json.dumps(but(9, without=("dark",)).document()).encode(),
            "a JSON object of manifest and signature",
        ),
        (
            SignedManifest(b"{}", KEY.sign(b"{}")).encode(),
            "not signed by its maker's key",
        ),
        (SignedManifest(b'{"app":1}', KEY.sign(PREFIX + b'{"app":1}')).encode(), "format is missing"),
        (Answer(302, signed(but(9, without=("dark",)))), "answered 302"),
        (Answer(404), "answered 404"),
        (Answer(500, b"oops"), "answered 500"),
        (NotReachableError("no answer from the collector (Timeout)"), "no answer"),
    ],
    ids=lambda value: "" if not isinstance(value, str) else value,
)
def test_what_the_maker_did_not_sign_changes_nothing_and_is_noted(
    device: Client, carrier: Carrier, clock: Clock, news: Any, trouble: str
) -> None:
    learn(device, carrier, clock, news)

    assert carrier.asked == 2
    assert code(device.record("dark", True)) == "recorded for 1"
    assert device.flush().error == ""
    assert trouble in status(device)


def test_a_looser_or_new_metric_changes_nothing_and_a_tighter_one_beside_it_does(
    device: Client, carrier: Carrier, clock: Clock
) -> None:
    more = (*but(2, mail="0.25", dark="3").metrics, boolean("secret", epsilon=1))

    learn(device, carrier, clock, signed(Manifest(app="notepad", serial=2, metrics=more)))

    assert code(device.record("dark", True)) == "recorded for 1"
    assert code(device.record("mail", True)) == "recorded for 0.25"
    assert code(device.record("secret", True)) == "unknown_metric"


def test_a_lower_price_gives_no_second_answer_in_a_period(
    device: Client, carrier: Carrier, clock: Clock
) -> None:
    clock.now += 2 * DAY
    first = device.record("dark", True)
    learn_now(device, carrier, signed(but(2, dark="0.5")))

    again = device.record("dark", True)

    assert (code(first), code(again)) == ("recorded for 1", "already_answered")


def learn_now(device: Client, carrier: Carrier, news: bytes) -> None:
    """Let a device ask for news at this moment."""
    carrier.news = news
    maker = device._session.recorder.questions._maker
    assert maker is not None
    maker.ask("https://collector.invalid", carrier, timeout=1, permit=object)


def test_an_earlier_manifest_that_comes_back_is_refused_and_noted(
    device: Client, carrier: Carrier, clock: Clock
) -> None:
    older, newer = signed(but(2, dark="0.5")), signed(but(3, without=("dark",)))
    learn(device, carrier, clock, older)
    learn(device, carrier, clock, newer)

    learn(device, carrier, clock, older)

    assert code(device.record("dark", True)) == "paused"
    assert "serial 2 came back, after 3 was taken" in status(device)


def test_a_serial_that_is_signed_twice_keeps_the_first_content_and_is_noted(
    device: Client, carrier: Carrier, clock: Clock
) -> None:
    learn(device, carrier, clock, signed(but(2, dark="0.5")))

    learn(device, carrier, clock, signed(but(2, without=("dark",))))

    assert code(device.record("dark", True)) == "recorded for 0.5"
    assert "two manifests have serial 2" in status(device)


def test_a_newer_manifest_takes_a_pause_back_and_never_asks_more_than_the_app(
    device: Client, carrier: Carrier, clock: Clock
) -> None:
    learn(device, carrier, clock, signed(but(2, without=("dark",))))

    learn(device, carrier, clock, signed(but(3, dark="2")))

    assert code(device.record("dark", True)) == "recorded for 1"


def test_a_newer_app_is_not_held_by_an_older_manifest(
    device: Client, make: Make, carrier: Carrier, clock: Clock
) -> None:
    learn(device, carrier, clock, signed(but(2, without=("dark",))))
    device.close()

    upgraded = make(manifest=replace(OWN, serial=3), maker_key=PUBLIC, transport=carrier)

    assert code(upgraded.record("dark", True)) == "recorded for 1"


def test_what_was_taken_holds_in_the_next_process_without_a_network(
    device: Client, make: Make, carrier: Carrier, clock: Clock
) -> None:
    learn(device, carrier, clock, signed(but(2, without=("dark",))))
    device.close()

    later = make(manifest=OWN, maker_key=PUBLIC, transport=Carrier(NotReachableError("down")))

    assert code(later.record("dark", True)) == "paused"


def test_what_one_process_takes_holds_in_another_that_is_running(
    device: Client, make: Make, carrier: Carrier, clock: Clock
) -> None:
    other = make(manifest=OWN, maker_key=PUBLIC, transport=carrier)
    before = code(other.record("dark", True))
    clock.now += DAY

    learn(device, carrier, clock, signed(but(2, without=("dark",))))

    assert (before, code(other.record("dark", True))) == ("recorded for 1", "paused")


def test_what_was_checked_once_is_not_checked_again_when_the_file_is_written_anew(
    device: Client, carrier: Carrier, clock: Clock, tmp_path: Path
) -> None:
    learn(device, carrier, clock, signed(but(2, without=("dark",))))
    maker = device._session.recorder.questions._maker
    assert maker is not None
    (before,) = maker._read().documents

    os.utime(tmp_path / "device" / FILE, ns=(1, 1))

    assert maker._read().version[1] == 1  # type: ignore[index]
    assert maker._read().documents[0] is before


@pytest.mark.parametrize(
    "damage", [b"", b"{}", b"\xff", b"[" * 100_000, b'{"documents": [{"since": 0}]}', None]
)
def test_without_the_kept_file_the_app_s_own_manifest_holds(
    device: Client, carrier: Carrier, clock: Clock, tmp_path: Path, damage: bytes | None
) -> None:
    learn(device, carrier, clock, signed(but(2, without=("dark",))))
    kept = tmp_path / "device" / FILE
    kept.unlink()
    if damage is not None:
        kept.write_bytes(damage)

    outcome = device.record("dark", True)

    assert code(outcome) == "recorded for 1"
    assert device.flush().error == ""


def test_a_manifest_put_into_the_kept_file_by_hand_is_checked_like_one_from_the_network(
    device: Client, carrier: Carrier, clock: Clock, tmp_path: Path
) -> None:
    learn(device, carrier, clock, signed(but(2, dark="0.5")))
    kept = tmp_path / "device" / FILE

    kept.write_bytes(kept.read_bytes().replace(b"0.5", b"0.1"))

    assert code(device.record("dark", True)) == "recorded for 1"


@pytest.mark.parametrize(
    "absurd",
    [
        {"seen_at": 10**18},
        {"seen_at": -(10**18)},
        {"seen_at": 10**400},
        {"seen_at": 1.5e300},
        {"ask_at": 10**400},
        {"serial": 10**400},
        {"documents": [{"since": 10**400, "text": ""}]},
        {"documents": [{"since": 0, "text": "{}"}] * 1000},
    ],
    ids=lambda absurd: next(iter(absurd)),
)
def test_a_kept_file_with_absurd_numbers_is_as_good_as_none(
    make: Make, tmp_path: Path, absurd: dict[str, object]
) -> None:
    client = make(maker_key=PUBLIC)
    client.record("dark", True)
    kept = {"documents": [{"since": 0, "text": "{}"}], "digest": "d", **absurd}
    (tmp_path / "device" / FILE).write_text(json.dumps(kept), encoding="utf-8")

    page, flushed, outcome = client.page(), client.flush(now=True), client.record("seconds", 3)

    assert "signed manifest" not in page
    assert flushed.error == ""
    assert isinstance(outcome, Recorded)


def test_the_kept_file_is_its_owner_s_alone(device: Client, tmp_path: Path) -> None:
    assert (tmp_path / "device" / FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "device").iterdir() if path.name.startswith(f"{FILE}.")] == []


def test_threads_that_keep_something_at_once_leave_a_whole_file(tmp_path: Path) -> None:
    documents = (Document(1, "x" * 60_000), Document(2, "y" * 60_000))
    several = [Kept(documents=documents), Kept(documents=documents[:1])]

    def keep(kept: Kept) -> list[Kept]:
        found = []
        for _ in range(50):
            kept_manifests.save(tmp_path, kept)
            found.append(kept_manifests.load(tmp_path))
        return found

    with ThreadPoolExecutor() as pool:
        found = [one for each in pool.map(keep, several) for one in each]

    assert all(one in several for one in found)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_device_asks_at_most_once_a_day_whatever_the_answer(
    device: Client, carrier: Carrier, clock: Clock
) -> None:
    carrier.news, before = NotReachableError("down"), carrier.asked

    for _ in range(10 * 24):
        clock.now += DAY / 24
        device.flush()

    assert 10 / 2 - 1 <= carrier.asked - before <= 10


def test_a_device_asks_for_the_first_time_at_a_random_time_of_a_day(
    make: Make, clock: Clock, tmp_path: Path
) -> None:
    first = []
    for at in range(40):
        client = make(
            manifest=OWN,
            maker_key=PUBLIC,
            transport=Carrier(),
            delivery=Delivery(background=False),
            data_dir=tmp_path / str(at),
        )
        client.record("dark", True)
        client.flush()
        first.append(json.loads((tmp_path / str(at) / FILE).read_bytes())["ask_at"] - clock.now)

    assert all(-1 <= wait <= DAY for wait in first)
    assert max(first) - min(first) > DAY / 4  # wrong once in 4**38


def test_a_clock_that_was_ahead_silences_no_question_for_ever(
    make: Make, carrier: Carrier, clock: Clock
) -> None:
    client = make(manifest=OWN, maker_key=PUBLIC, transport=carrier)
    client.record("dark", True)
    clock.now += 1000 * DAY
    client.flush()
    before = carrier.asked

    clock.now -= 990 * DAY
    client.flush()

    assert carrier.asked > before


def test_nothing_is_fetched_before_the_first_record_nor_without_consent(make: Make, carrier: Carrier) -> None:
    client = make(manifest=OWN, maker_key=PUBLIC, transport=carrier)
    client.flush()
    client.record("dark", True)
    client.consent("refused")

    client.flush(now=True)

    assert carrier.requests == ()


def test_a_device_of_which_everything_is_paused_still_learns_that_it_no_longer_is(
    make: Make, carrier: Carrier, clock: Clock
) -> None:
    carrier.news = signed(Manifest(app="notepad", serial=2, metrics=()))
    client = make(manifest=OWN, maker_key=PUBLIC, transport=carrier)
    client.record("mail", True)
    client.flush()
    paused = code(client.record("dark", True))

    learn(client, carrier, clock, signed(but(3)))

    assert (paused, code(client.record("dark", True))) == ("paused", "recorded for 1")


def test_the_background_thread_asks_by_itself(make: Make, carrier: Carrier) -> None:
    carrier.news = signed(but(2, without=("dark",)))
    client = make(manifest=OWN, maker_key=PUBLIC, transport=carrier, delivery=Delivery(delay=0))

    client.record("mail", True)
    for _ in range(3000):
        if client._session.recorder.questions.asked(OWN["dark"]) is None:
            break
        time.sleep(0.01)

    assert code(client.record("dark", True)) == "paused"
    assert carrier.asked == 1


@pytest.mark.parametrize(
    "hinder", [lambda directory: (directory / "_off").touch(), shutil.rmtree], ids=["off", "gone"]
)
def test_the_background_thread_rests_while_nobody_may_be_asked(
    device: Client, clock: Clock, tmp_path: Path, hinder: Callable[[Path], object]
) -> None:
    clock.now += 3 * DAY  # the next question is due

    hinder(tmp_path / "device")

    assert device._session.recorder.sender._idle() == HOUR


def test_a_record_never_waits_for_news(make: Make, clock: Clock) -> None:
    class Stuck(Carrier):
        def send(self, request: Request) -> Answer:
            if request.method == "GET":
                raise AssertionError("a record asked for news")
            return Answer(200, b'{"accepted": 1, "refused": []}')

    client = make(manifest=OWN, maker_key=PUBLIC, transport=Stuck())

    outcomes = [code(client.record(name, True)) for name in ("dark", "mail", "quiet")]

    assert outcomes == ["recorded for 1"] * 3


def test_a_pause_that_was_taken_while_the_clock_stood_far_ahead_is_in_force_once_it_is_right(
    device: Client, carrier: Carrier, clock: Clock
) -> None:
    clock.now += 400 * DAY
    learn(device, carrier, clock, signed(but(2, without=("quiet",))))
    clock.now -= 400 * DAY

    device.flush()
    clock.now += 28 * DAY

    assert code(device.record("quiet", True)) == "paused"


def test_a_clock_that_is_set_back_behind_the_begin_of_a_pause_lets_nothing_be_charged(
    device: Client, carrier: Carrier, clock: Clock
) -> None:
    learn(device, carrier, clock, signed(but(2, without=("quiet",))))
    clock.now = MONDAY + 7 * DAY + 1800
    device.record("mail", True)
    clock.now -= 3600

    outcome = code(device.record("quiet", True))

    assert outcome == "paused"
    assert "quiet" not in [entry.metric for entry in device.journal() if entry.starts >= MONDAY + 7 * DAY]


def test_silence_keeps_its_meaning_in_the_period_in_which_the_maker_changes_its_metric(
    make: Make, clock: Clock, tmp_path: Path
) -> None:
    """Two devices, one of which recorded before the change: both send one report, of the same metric."""
    devices = []
    for at, recorded in enumerate((True, False)):
        carrier = Carrier(Answer(404))
        client = make(manifest=OWN, maker_key=PUBLIC, transport=carrier, data_dir=tmp_path / str(at))
        client.record("quiet" if recorded else "mail", True)
        client.flush(now=True)
        devices.append((client, carrier))
    for client, carrier in devices:
        learn(client, carrier, clock, signed(but(2, quiet="0.5")))
        learn_now(client, carrier, signed(but(3, without=("quiet",))))
    still = [code(client.record("quiet", True)) for client, _ in devices[:1]]

    for _ in range(3):
        clock.now += 7 * DAY
        for client, _ in devices:
            client.flush(now=True)

    costs = [
        [(str(entry.cost), entry.starts) for entry in client.journal() if entry.metric == "quiet"]
        for client, _ in devices
    ]
    assert still == ["already_answered"]
    assert costs == [[("1", MONDAY)]] * 2
    assert [code(client.record("quiet", True)) for client, _ in devices] == ["paused"] * 2
    assert [ids(carrier) for _, carrier in devices] == [{OWN["quiet"].id}, {OWN["quiet"].id, OWN["mail"].id}]


@pytest.mark.parametrize("each_day", [1, 3])
def test_no_number_of_later_manifests_ends_a_pause_before_its_period_is_over(
    make: Make, clock: Clock, each_day: int
) -> None:
    slow = boolean("slow", epsilon="1", period="28d", absent=False)
    own, carrier = replace(OWN, metrics=(*OWN.metrics, slow)), Carrier(Answer(404))
    begins, ends = (start_of(period_at(MONDAY, 28) + at, 28) for at in (1, 2))
    clock.now = begins - 2 * DAY
    device = make(manifest=own, maker_key=PUBLIC, transport=carrier)
    device.record("mail", True)
    learn_now(device, carrier, signed(but(2)))  # without it

    outcomes, serial = [], 2
    for day in range(27):
        clock.now = begins + day * DAY + 1000
        for _ in range(each_day):
            serial += 1
            news = signed(replace(own, serial=serial))
            learn_now(device, carrier, news + b"\n" * (LONGEST - len(news)))
        outcomes.append(code(device.record("slow", True)))
    clock.now = ends

    assert outcomes == 27 * ["paused"]
    assert code(device.record("slow", True)) == "recorded for 1"


def test_a_device_keeps_one_manifest_a_day_at_most_for_as_long_as_periods_are_reported_on() -> None:
    kept = Kept()

    for hour in range(100 * 24):
        kept = kept.plus(Document(MONDAY + hour * DAY // 24, str(hour)))

    since = [(one.since - MONDAY) / DAY for one in kept.documents]
    assert since[-1] == 100 - 1 / 24
    assert since[-2::-1] == list(range(99, 57, -1))  # the last before each midnight of 42 days


def ids(carrier: Carrier) -> set[bytes]:
    """Return the metrics of which a carrier got reports."""
    bodies = [gzip.decompress(request.body) for request in carrier.requests if request.method == "POST"]
    return {column.metric for body in bodies for column in decode(body).columns}


def test_after_the_period_a_lower_price_holds_for_records_and_for_silence(
    make: Make, carrier: Carrier, clock: Clock
) -> None:
    client = make(manifest=OWN, maker_key=PUBLIC, transport=carrier)
    carrier.news = signed(but(2, quiet="0.5"))
    client.record("quiet", True)
    client.flush(now=True)
    clock.now += 7 * DAY
    client.flush(now=True)  # seen at work in the second period
    clock.now += 7 * DAY

    client.flush(now=True)
    third = client.record("quiet", True)

    spent = [(str(entry.cost), (entry.starts - MONDAY) // DAY) for entry in client.journal()]
    assert spent == [("1", 0), ("0.5", 7), ("0.5", 14)]
    assert code(third) == "recorded for 0.5"


def test_an_end_from_afar_within_a_period_tells_nothing_of_who_recorded_in_it(
    make: Make, clock: Clock, tmp_path: Path
) -> None:
    ending = replace(but(2), metrics=tuple(replace(one, expires=date(2026, 1, 9)) for one in OWN.metrics))
    devices = []
    for at, name in enumerate(("quiet", "mail")):
        carrier = Carrier(Answer(404))
        client = make(manifest=OWN, maker_key=PUBLIC, transport=carrier, data_dir=tmp_path / str(at))
        client.record(name, True)
        client.flush(now=True)
        learn_now(client, carrier, signed(ending))
        devices.append(client)

    for _ in range(3):
        clock.now += 7 * DAY
        for client in devices:
            client.flush(now=True)

    told = [[entry.starts for entry in client.journal() if entry.metric == "quiet"] for client in devices]
    assert told == [[MONDAY], [MONDAY]]


def test_an_earlier_end_holds(device: Client, carrier: Carrier, clock: Clock) -> None:
    ending = replace(but(2), metrics=tuple(replace(one, expires=date(2026, 1, 6)) for one in OWN.metrics))

    learn(device, carrier, clock, signed(ending))

    assert code(device.record("dark", True)) == "expired"


def test_what_a_device_explains_is_what_it_does_now(device: Client, carrier: Carrier, clock: Clock) -> None:
    learn(device, carrier, clock, signed(but(2, without=("mail",), dark="0.5")))

    lowered, paused = device.explain("dark"), device.explain("mail")

    assert "for epsilon 0.5" in lowered
    assert paused == '"mail": nothing leaves, since the app\'s maker has paused it'


def test_the_owner_is_shown_digest_serial_and_what_changes(
    device: Client, carrier: Carrier, clock: Clock
) -> None:
    news = but(5, without=("mail",), dark="0.5")

    learn(device, carrier, clock, signed(news))

    assert status(device).splitlines()[1:] == [
        f"  signed manifest 5, digest {sign(news, KEY).digest}, seen 2026-01-07:",
        "    lowers dark to 0.5; pauses mail",
    ]


def test_a_directory_that_takes_no_file_holds_news_in_memory(
    device: Client, carrier: Carrier, clock: Clock, tmp_path: Path
) -> None:
    (tmp_path / "device" / f"{FILE}.{os.getpid()}").mkdir()

    learn(device, carrier, clock, signed(but(2, without=("dark",))))

    assert code(device.record("dark", True)) == "paused"


def test_a_wrong_key_is_refused_where_the_client_is_made(make: Make) -> None:
    with pytest.raises(DomainError, match="hubbub keypair"):
        make(maker_key="hb_public_short")


def test_a_maker_s_key_without_the_extra_says_what_to_install(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hubbub.signed_manifest.find_spec", lambda _: None)

    with pytest.raises(MissingExtraError, match=r"pip install '\.\[signed\]' in a clone"):
        make(maker_key=PUBLIC)


def test_making_a_client_with_a_maker_s_key_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "metrics.toml").write_text('format = 1\napp = "a"\nserial = 1\n')
    script = (
        "import sys; from hubbub_client import Client\n"
        f"Client('https://collector.invalid', 'metrics.toml', maker_key={PUBLIC!r})\n"
        "print({'cryptography', 'numpy', 'requests', 'sqlite3', 'msgspec'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_without_consent_nothing_is_asked_or_kept_on_a_device_that_exists(make: Make, tmp_path: Path) -> None:
    with make(manifest=OWN) as client:
        client.record("dark", True)
    carrier = Carrier(Answer(404))

    device = make(manifest=OWN, maker_key=PUBLIC, transport=carrier, consent="refused")
    device.flush(now=True)

    assert not (tmp_path / "device" / "manifest.signed").exists()
    assert carrier.asked == 0


def test_a_withdrawal_in_another_process_ends_the_asking_for_news(
    make: Make, clock: Clock, tmp_path: Path
) -> None:
    carrier = Carrier(Answer(404))
    device = make(manifest=OWN, maker_key=PUBLIC, transport=carrier)
    device.record("dark", True)
    device.flush(now=True)
    before = carrier.asked
    clock.now += 3 * DAY

    make(manifest=OWN).withdraw()
    device.flush(now=True)

    assert before == 1
    assert carrier.asked == before


def test_a_pipe_in_the_place_of_the_kept_file_holds_up_nobody(make: Make, tmp_path: Path) -> None:
    (tmp_path / "device").mkdir()
    os.mkfifo(tmp_path / "device" / "manifest.signed")

    outcome = make(manifest=OWN, maker_key=PUBLIC, transport=Carrier(Answer(404))).record("dark", True)

    assert isinstance(outcome, Recorded)
