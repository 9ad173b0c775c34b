"""This file proves that a batch has one binary form, and that nothing else is taken for one."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hubbub.batch import MOST_COLUMNS, Batch, Column, decode, digest, encode
from hubbub.batch_json import decode_json
from hubbub.errors import BatchError

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "batches.json").read_text("utf-8"))
GOOD: list[Any] = VECTORS["batches"]
BAD: list[Any] = VECTORS["not batches"]
ONE = Column(bytes(32), 2969, (), 3, b"\1\0\1")


@some.composite
def columns(draw: some.DrawFn) -> Column:
    """Draw any column that may be built."""
    count, width = draw(some.integers(1, 5)), draw(some.integers(1, 9))
    return Column(
        draw(some.binary(min_size=32, max_size=32)),
        draw(some.integers(0, 2**31 - 1)),
        tuple(draw(some.lists(some.integers(0, 31), max_size=2))),
        count,
        draw(some.binary(min_size=count * width, max_size=count * width)),
    )


batches = some.builds(
    Batch,
    some.binary(min_size=16, max_size=16),
    some.lists(columns(), min_size=1, max_size=4).map(tuple),
)


def binary_of(vector: Any) -> bytes:
    return bytes.fromhex("".join(piece for piece, _ in vector["binary"]))


@pytest.mark.parametrize("vector", GOOD, ids=lambda vector: vector["name"])
def test_the_vectors_are_what_we_write_and_read(vector: Any) -> None:
    data = binary_of(vector)

    batch = decode(data)

    assert encode(batch) == data
    assert batch == decode_json(json.dumps(vector["json"]).encode())
    assert digest(batch).hex() == vector["digest"] == hashlib.sha256(data).hexdigest()
    assert hashlib.sha256(batch.id).hexdigest() == vector["id_hash"]


@pytest.mark.parametrize("vector", BAD, ids=lambda vector: vector["name"])
def test_the_vectors_that_are_no_batches_are_refused_with_their_code(vector: Any) -> None:
    with pytest.raises(BatchError) as caught:
        decode(bytes.fromhex(vector["binary"]))

    assert caught.value.code == vector["code"]


@pytest.mark.parametrize("form", [form for form in VECTORS["compressed"] if form != "batch"])
def test_the_compressed_vectors_are_the_batch_that_they_name(form: str) -> None:
    plain = gzip.decompress(bytes.fromhex(VECTORS["compressed"][form]))

    assert plain == binary_of(GOOD[0])
    assert VECTORS["compressed"]["batch"] == GOOD[0]["name"]


@given(batches)
def test_every_batch_comes_back_from_its_bytes(batch: Batch) -> None:
    data = encode(batch)

    assert decode(data) == batch


@given(batches, some.data())
def test_bytes_are_the_one_form_of_their_batch_or_are_refused(batch: Batch, data: some.DataObject) -> None:
    good = encode(batch)
    place = data.draw(some.integers(0, len(good) - 1))
    changed = good[:place] + data.draw(some.binary(max_size=3)) + good[place + 1 :]

    assert _taken_for(changed) in (changed, None)


@given(some.binary(max_size=300))
def test_no_bytes_raise_anything_but_our_error(data: bytes) -> None:
    assert _taken_for(b"HBB\x01" + data) in (b"HBB\x01" + data, None)


def _taken_for(data: bytes) -> bytes | None:
    try:
        return encode(decode(data))
    except BatchError:
        return None


@pytest.mark.parametrize(
    ("metric", "period", "labels", "count", "reports"),
    [
        (bytes(31), 0, (), 1, b"\0"),
        (bytes(33), 0, (), 1, b"\0"),
        (bytes(32), -1, (), 1, b"\0"),
        (bytes(32), 2**31, (), 1, b"\0"),
        (bytes(32), 0, (0, 0, 0), 1, b"\0"),
        (bytes(32), 0, (32,), 1, b"\0"),
        (bytes(32), 0, (-1,), 1, b"\0"),
        (bytes(32), 0, (), 0, b"\0"),
        (bytes(32), 0, (), -1, b"\0"),
        (bytes(32), 0, (), 2**32, b"\0"),
        (bytes(32), 0, (), 1, b""),
        (bytes(32), 0, (), 2, b"\0\0\0"),
    ],
)
def test_a_column_that_exists_is_valid(
    metric: bytes, period: int, labels: tuple[int, ...], count: int, reports: bytes
) -> None:
    with pytest.raises(BatchError):
        Column(metric, period, labels, count, reports)


@pytest.mark.parametrize(
    ("batch_id", "number"), [(bytes(15), 1), (bytes(17), 1), (bytes(16), 0), (bytes(16), MOST_COLUMNS + 1)]
)
def test_a_batch_that_exists_is_valid(batch_id: bytes, number: int) -> None:
    with pytest.raises(BatchError):
        Batch(batch_id, (ONE,) * number)


def test_a_reports_width_is_its_share_of_the_bytes() -> None:
    assert ONE.width == 1
    assert Column(bytes(32), 0, (), 2, bytes(10)).width == 5
