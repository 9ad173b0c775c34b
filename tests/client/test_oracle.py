"""This file proves that a collector's answers move nothing on a device: no draw, charge or silence."""

import gzip
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from hubbub.declaration import boolean, choice, number
from hubbub.errors import NotReachableError
from hubbub.manifest import Manifest
from hubbub.period import GRACE
from hubbub_client import Client, Delivery, Recorded, Skipped
from hubbub_client.sending.transport import Answer, Request
from hubbub_client.testing import ACCEPTED, RecordingTransport
from tests.client.conftest import DAY, MONDAY, Clock

Make = Callable[..., Client]
ASKED = Manifest(
    app="notepad",
    serial=1,
    metrics=(
        boolean("dark", epsilon="1", absent=False),
        number("seconds", low=0, high=10, epsilon="0.5", period="1d"),
        choice("system", options=["linux", "mac", "other"], epsilon="2", once=True),
    ),
)
DAYS = 42
CODES = (
    *("impossible_report", "id_conflict", "withdrawn", "too_large", "unknown_metric", "period_not_started"),
    *(
        "unauthorized",
        "overloaded",
        "draw_again",
        "budget",
        "<script>",
        "\x1b[31m",
        "\ud800",
        "",
        "x" * 10_000,
    ),
)
STATUSES = (*range(200, 209), *range(300, 309), *range(400, 432), 451, *range(500, 512), 100, 0, 999)
WAITS = (None, "0", "1", "3600", "-1", "1e9", "9" * 400, "Wed, 21 Oct 2099 07:28:00 GMT", "٣")
BODIES = (
    b"",
    b"[" * 50_000,
    b"9" * 10_000,
    b'{"accepted": 1, "refused": []}',
    b'{"accepted": 0, "refused": [{}]}',
    b'{"accepted": 0, "refused": [0]}',
    b'{"accepted": 1e999, "refused": {"code": 1}}',
    b'{"withdrawn": true, "pause": 1, "seed": 7, "epsilon": 20}',
    b"\xff\xfe\x00",
    b'{"accepted": 1, "accepted": NaN}',
)


def seeded(seed: int) -> Random:
    """Return what makes up values and answers, the same at every run; no device ever draws from it."""
    return Random(seed)  # noqa: S311 - as above


class Adversary:
    """Answers whatever it likes, in all that a collector can say, or not at all."""

    def __init__(self, seed: int) -> None:
        self.random = seeded(seed)
        self.bodies: list[bytes] = []

    def send(self, request: Request) -> Answer:
        self.bodies.append(gzip.decompress(request.body))
        pick = self.random.choice
        if self.random.random() < 0.1:
            raise pick([NotReachableError("cut"), OSError("reset"), ValueError("no answer at all")])
        code = pick(CODES).encode("utf-8", "surrogatepass").replace(b"\x1b", b"\\u001b")
        body = pick([*BODIES, b'{"code": "' + code + b'"}'])
        return Answer(pick(STATUSES), body, pick(WAITS))


def live(client: Client, clock: Clock, values: Random) -> list[object]:
    """Record every day for six weeks, flush in between, and return what the app was told."""
    told: list[object] = []
    for day in range(DAYS):
        clock.now = MONDAY + day * DAY + 1000.0
        if day // 7 % 2:  # every other week the device is silent about this
            told.append(client.record("dark", values.random() < 0.5))
        told.append(client.record("seconds", values.uniform(0, 10)))
        told.append(client.record("system", values.choice(["linux", "mac", "other"])))
        client._session.recorder.sender._asked_until = 0.0  # a day later, no pause holds any more
        client.flush(now=day % 3 == 0)
    return [
        (one.spent, one.left) if isinstance(one, Recorded) else one.code
        for one in told
        if isinstance(one, Recorded | Skipped)
    ]


def fixed(client: Client) -> list[tuple[object, ...]]:
    """Return what is fixed about each report."""
    return [
        (one.number, one.at, one.source, one.metric, one.starts, one.ends, one.micro, one.atto, len(one.body))
        for one in client.journal()
    ]


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.torture) for seed in range(2, 20))]
)
def test_an_adversary_changes_neither_charges_nor_silences_whatever_the_values_are(
    make: Make, clock: Clock, seed: int
) -> None:
    adversary = Adversary(seed)
    options: dict[str, Any] = {
        "manifest": ASKED,
        "delivery": Delivery(background=False),
        "data_dir": None,
    }
    honest = make(transport=RecordingTransport(), **options)
    attacked = make(transport=adversary, **options)

    told = [live(honest, clock, seeded(2 * seed)), live(attacked, clock, seeded(2 * seed + 1))]

    assert told[0] == told[1]
    assert fixed(honest) == fixed(attacked)
    assert honest.remaining() == attacked.remaining()
    assert len(adversary.bodies) > DAYS // 2  # an answer that ends nothing ends that day's sending
    assert set(adversary.bodies) <= {one.body for one in attacked.journal()}


@pytest.mark.parametrize("transport", [RecordingTransport(), Adversary(1)], ids=["honest", "attacked"])
def test_the_times_at_which_reports_are_due_stay_in_the_range_that_was_stated(
    make: Make, clock: Clock, transport: RecordingTransport | Adversary
) -> None:
    client = make(manifest=ASKED, delivery=Delivery(background=False), transport=transport)
    waits = []

    for day in range(30):
        clock.now = MONDAY + day * DAY + 1000.0
        known = len(list(client.journal()))
        client.record("seconds", 1)
        client.record("dark", True)
        waits += [
            (one.due - one.ends) / (7 * DAY)
            if one.metric == "dark"
            else (one.due - one.at) / (one.ends - one.at)
            for one in list(client.journal())[known:]
        ]
        client.flush()

    assert len(waits) == 16 + 2 + 5  # 8 epsilon in 28 days, and what opens after them; five weeks
    assert all(0 <= wait <= 1 for wait in waits)


FAKED = {
    "conflict": [409],
    "error, then conflict": [500, 500, 409],
    "too large": [500, 413],
    "gone": [410],
    "no key, then gone": [401, 401, 403, 410],
    "too early for ever": [425] * 6,
    "busy for ever": [429, 408, 503] * 2,
    "all of them": [500, 401, 425, 408, 429, 503, 413],
}


@pytest.mark.parametrize("statuses", FAKED.values(), ids=FAKED)
def test_faked_errors_force_no_second_draw(make: Make, clock: Clock, statuses: list[int]) -> None:
    transport = RecordingTransport([Answer(status, b'{"code": "draw_again"}') for status in statuses])
    client = make(transport=transport)
    client.record("dark", True)
    (drawn,) = client.journal()

    codes = []
    for _ in range(len(statuses) + 2):
        client.flush(now=True)
        outcome = client.record("dark", False)
        codes.append(outcome.code if isinstance(outcome, Skipped) else "recorded")
        clock.now += 3600

    (kept,) = client.journal()
    assert {gzip.decompress(request.body) for request in transport.requests} == {drawn.body}
    assert (kept.body, kept.micro, kept.at) == (drawn.body, drawn.micro, drawn.at)
    assert set(codes) == {"already_answered"}
    assert client.remaining("dark") == 7


def test_a_report_that_was_refused_is_not_made_up_for(make: Make, clock: Clock) -> None:
    transport = RecordingTransport([Answer(413, b'{"code": "too_large"}'), ACCEPTED])
    client = make(transport=transport)
    client.record("dark", True)
    client.flush()

    clock.now = MONDAY + 7 * DAY + GRACE - 1
    client.flush(now=True)

    assert len(transport.requests) == 1
    assert [one.status for one in client.journal()] == ["refused"]


def test_a_collector_that_takes_nothing_can_only_silence_a_device_and_whatever_its_values_are(
    make: Make, clock: Clock
) -> None:
    tight = Delivery(delay=0, background=False, most_batches=3)
    devices = [
        make(manifest=ASKED, data_dir=None, delivery=tight, transport=RecordingTransport([Answer(500)] * 999))
        for _ in range(2)
    ]

    told = [live(device, clock, seeded(seed)) for seed, device in enumerate(devices)]

    assert told[0] == told[1]
    assert "paused" in told[0]
    assert fixed(devices[0]) == fixed(devices[1])
