"""This file reads what really travels, and searches all that is kept for what must not be there."""

import base64
import gzip
import logging
import struct
import traceback
from pathlib import Path

import pytest

from hubbub.errors import HubbubError
from hubbub_client import Client, Delivery
from tests.end_to_end.conftest import WireTap
from tests.server.process import Served

PLANTED = 7.318264951
SECRET = "planted-secret-6f1d"


class Revealing:
    """A value that gives itself away wherever it is printed."""

    def __repr__(self) -> str:
        return SECRET

    __str__ = __repr__

    def __float__(self) -> float:
        raise ValueError(SECRET)


WRONG_VALUES = (SECRET, Revealing(), [SECRET], {"a": SECRET}, SECRET.encode(), float("nan"), 10**400, None)


def test_the_body_of_a_request_is_the_batch_and_padding(
    tmp_path: Path, manifest: Path, collector: Served, tap: WireTap
) -> None:
    client = device(tap.url, manifest, collector, tmp_path)

    client.record("dark", True, labels={"side": "yes"})
    client.record("seconds", 3.5)
    flushed = client.flush(timeout=30)

    sent = sorted(gzip.decompress(body) for body in tap.bodies)
    assert flushed.sent == 2
    assert sent == sorted(entry.body for entry in client.journal())
    assert {len(body) for body in tap.bodies} == {512}


def test_nothing_true_is_found_anywhere_on_success_and_on_every_error(
    tmp_path: Path, manifest: Path, collector: Served, tap: WireTap, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = []
    client = device(tap.url, manifest, collector, tmp_path)
    strict = device("http://127.0.0.1:9", manifest, collector, tmp_path / "strict", strict=True)

    said.append(repr(client.record("seconds", PLANTED)))
    said.append(repr(client.record("seconds", PLANTED)))
    said += [repr(client.record(name, value)) for name in ("seconds", "theme") for value in WRONG_VALUES]
    said += [failure(strict, name, value) for name in ("dark", "theme", SECRET[:0]) for value in WRONG_VALUES]
    strict.record("seconds", PLANTED)
    said.append(repr(strict.flush(timeout=5)))
    said.append(repr(client.flush(timeout=30)))
    said += [repr(entry) for each in (client, strict) for entry in each.journal()]
    said += [repr(client), repr(client.stats()), client.explain("seconds")]

    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    heard = gunzipped(tap)
    everything = {
        "files": kept,
        "traffic": bytes(tap.heard) + heard,
        "logs": caplog.text.encode(),
        "words": "".join(said).encode(),
    }
    found = [(place, needle) for place, text in everything.items() for needle in needles() if needle in text]
    assert client.stats().sent == 1
    assert caplog.text
    assert found == []


def device(url: str, manifest: Path, collector: Served, folder: Path, *, strict: bool = False) -> Client:
    return Client(
        url,
        manifest,
        key=collector.keys["ingest"],
        data_dir=folder / "device",
        consent="given",
        delivery=Delivery(delay=0, background=False),
        strict=strict,
    )


def failure(client: Client, name: str, value: object) -> str:
    with pytest.raises(HubbubError) as caught:
        client.record(name, value)
    return "".join(traceback.format_exception(caught.value))


def gunzipped(tap: WireTap) -> bytes:
    return b"".join(gzip.decompress(body) for body in tap.bodies)


def needles() -> list[bytes]:
    """Write the planted values as a program might: text, floats, fixed point, base64, hex."""
    numbers = [struct.pack(form, PLANTED) for form in ("<d", ">d", "<f", ">f")]
    texts = [
        SECRET.encode(),
        b"7.31826",
        b"7318264",
        SECRET.encode("utf-16-le"),
        "7.31826".encode("utf-16-le"),
    ]
    plain = numbers + texts
    return (
        plain
        + [base64.b64encode(text).rstrip(b"=") for text in plain if len(text) > 5]
        + [text.hex().encode() for text in plain]
    )
