"""This file proves that nothing but its time and its address links one report of a device to the next."""

import gzip
import secrets
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from hubbub.declaration import boolean, choice
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery
from hubbub_client.sending.envelope import pack
from hubbub_client.testing import RecordingTransport
from tests.client.conftest import Clock
from tests.statistics import Z

Make = Callable[..., Client]
MANY = Manifest(
    app="a",
    serial=1,
    metrics=tuple(
        boolean(f"fact_{at}", epsilon="0.1", labels={"version": ["one", "eleven", "other"]})
        for at in range(30)
    ),
)
NAMED = Manifest(
    app="a", serial=1, metrics=(choice("answer", options=["no", "a very long word", "other"], epsilon="1"),)
)
UNHURRIED = Delivery(background=False)


def ids(client: Client) -> list[bytes]:
    return [entry.batch.id for entry in client.journal()]


def test_ids_are_128_random_bits_that_tell_neither_device_nor_order(make: Make) -> None:
    devices = [make(manifest=MANY, data_dir=None) for _ in range(8)]
    for device in devices:
        for metric in MANY.metrics:
            device.record(metric.name, True, {"version": "one"})

    drawn = [ids(device) for device in devices]

    flat = [one for each in drawn for one in each]
    bits = np.unpackbits(np.frombuffer(b"".join(flat), np.uint8)).reshape(8, 30, 128)
    changes = bits[:, 1:] ^ bits[:, :-1]  # from one id to the next of the same device
    shares = np.concatenate([bits.mean((0, 1)), changes.mean((0, 1))])
    assert len(set(flat)) == len(flat) == 240
    assert set(map(len, flat)) == {16}
    assert abs(shares - 0.5).max() < Z * 0.5 / 232**0.5  # of 256 fair coins, each thrown 232 times or more


def test_requests_about_one_metric_have_one_size_whatever_was_answered(make: Make) -> None:
    transport = RecordingTransport()
    for value in ("no", "a very long word", "other") * 10:
        client = make(manifest=NAMED, data_dir=None, transport=transport)
        client.record("answer", value)
        client.flush()

    bodies = [request.body for request in transport.requests]

    assert len(bodies) == 30
    assert set(map(len, bodies)) == {512}
    assert len({len(gzip.decompress(body)) for body in bodies}) == 1


WIDE = Manifest(
    app="a",
    serial=1,
    metrics=(
        choice(
            "answer",
            options=[str(at) for at in range(3380)],
            epsilon=1,
            mechanism="optimized_unary",
        ),
    ),
)


def test_requests_about_one_wide_metric_have_one_size_however_well_its_reports_would_pack(
    make: Make,
) -> None:
    transport = RecordingTransport()
    for _ in range(60):  # compressed, about half would fit into 512 bytes
        client = make(manifest=WIDE, data_dir=None, transport=transport)
        client.record("answer", "7")
        client.flush()

    sizes = {len(request.body) for request in transport.requests}

    assert len(transport.requests) == 60
    assert sizes == {1024}


@pytest.mark.parametrize("length", [0, 1, 482, 483, 484, 65_535, 65_536, 131_072, 200_000, 1_000_000])
def test_how_long_a_body_is_follows_from_its_batch_s_length_alone(length: int) -> None:
    empty, noisy = bytes(length), secrets.token_bytes(length)

    packed = [pack(empty), pack(noisy)]

    assert [gzip.decompress(body) for body in packed] == [empty, noisy]
    assert len(packed[0]) == len(packed[1])


def test_requests_of_all_devices_bear_the_same_headers(make: Make) -> None:
    transport = RecordingTransport()
    for device in range(10):
        client = make(manifest=MANY, data_dir=None, transport=transport)
        client.record(f"fact_{device}", True, {"version": "eleven"})
        client.flush()

    heads = {(request.url, request.method, tuple(request.headers.items())) for request in transport.requests}

    assert len(transport.requests) == 10
    assert len(heads) == 1


def test_one_request_holds_one_report(make: Make, transport: RecordingTransport) -> None:
    client = make(manifest=MANY)
    for metric in MANY.metrics[:5]:
        client.record(metric.name, True, {"version": "one"})

    client.flush()

    assert len(transport.requests) == 5
    assert [(len(e.batch.columns), e.batch.columns[0].count) for e in client.journal()] == [(1, 1)] * 5


def test_the_order_of_sending_is_that_of_times_drawn_at_random_and_not_that_of_recording(make: Make) -> None:
    firsts: Counter[str] = Counter()
    orders: list[tuple[list[bytes], list[bytes]]] = []

    for _ in range(40):
        transport = RecordingTransport()
        client = make(manifest=MANY, data_dir=None, delivery=UNHURRIED, transport=transport)
        for metric in MANY.metrics[:5]:
            client.record(metric.name, True, {"version": "one"})
        in_line = sorted(client.journal(), key=lambda entry: entry.due)
        client.flush(now=True)
        sent = [gzip.decompress(request.body) for request in transport.requests]
        orders.append((sent, [entry.body for entry in in_line]))
        firsts[in_line[0].metric] += 1

    assert all(sent == drawn for sent, drawn in orders)
    assert firsts["fact_0"] < 28  # of 40, each with chance 1 in 5: 28 or more below 1e-10


def test_a_device_that_records_all_at_once_sends_one_by_one(make: Make, clock: Clock) -> None:
    transport = RecordingTransport()
    client = make(manifest=MANY, delivery=UNHURRIED, transport=transport)
    for metric in MANY.metrics[:8]:
        client.record(metric.name, True, {"version": "one"})

    start, sent_by_hour = clock.now, []
    for hour in range(7 * 24 + 1):  # to the end of the period
        clock.now = start + hour * 3600
        sent_by_hour.append(client.flush().sent)

    assert sum(sent_by_hour) == 8
    assert max(sent_by_hour) <= 4  # five of eight within one of 168 hours: chance below 1e-7
