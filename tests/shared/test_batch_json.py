"""This file proves that JSON carries the same batches as bytes do, and is read strictly."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given

from hubbub.batch import MOST_COLUMNS, Batch, Column, digest
from hubbub.batch_json import decode_json, encode_json, strict_json
from hubbub.errors import BatchError
from tests.shared.test_batch import GOOD, batches, binary_of

DOCUMENT: dict[str, Any] = GOOD[0]["json"]
GOOD_COLUMN = json.dumps(DOCUMENT["columns"][0]).encode()
MARK = "s3ntinel"


@given(batches)
def test_every_batch_comes_back_from_its_json(batch: Batch) -> None:
    data = encode_json(batch)

    assert decode_json(data) == batch
    assert digest(decode_json(data)) == digest(batch)


@pytest.mark.parametrize("vector", GOOD, ids=lambda vector: vector["name"])
def test_the_json_of_the_vectors_is_what_we_write(vector: Any) -> None:
    batch = decode_json(json.dumps(vector["json"]).encode())

    assert json.loads(encode_json(batch)) == vector["json"]
    assert digest(batch).hex() == vector["digest"]
    assert batch.id == binary_of(vector)[4:20]


def test_the_largest_number_of_columns_and_labels_is_taken() -> None:
    batch = Batch(bytes(16), (Column(bytes(32), 2969, (31, 31), 1, b"\1"),) * MOST_COLUMNS)

    assert decode_json(encode_json(batch)) == batch


def test_order_blanks_and_escapes_do_not_matter() -> None:
    shuffled = json.dumps(dict(reversed(DOCUMENT.items())), indent=3).replace("version", "\\u0076ersion")

    assert decode_json(shuffled.encode()) == decode_json(json.dumps(DOCUMENT).encode())


@pytest.mark.parametrize(
    "key", ["version", "id", "columns", "metric", "period", "count", "reports", "labels"]
)
def test_a_key_may_not_stand_twice_however_it_is_spelt(key: str) -> None:
    text = json.dumps(DOCUMENT)
    value = json.dumps((DOCUMENT | DOCUMENT["columns"][0])[key])
    pair, escaped = f'"{key}": {value}', f'"\\u{ord(key[0]):04x}{key[1:]}": {value}'

    assert _error(text.replace(pair, f"{pair}, {pair}")) == "a key stands twice in one JSON object"
    assert _error(text.replace(pair, f"{pair}, {escaped}")) == "a key stands twice in one JSON object"


@pytest.mark.parametrize("more", [{}, {"key of tomorrow": 1}])
def test_another_version_is_told_from_a_fault(more: dict[str, int]) -> None:
    with pytest.raises(BatchError) as caught:
        decode_json(json.dumps(DOCUMENT | {"version": 2} | more).encode())

    assert caught.value.code == "unknown_version"


@pytest.mark.parametrize("text", ["0" * 32 + "\n", "0" * 31 + "\n", "0" * 31, "A" * 32])
def test_an_id_is_exactly_its_hex_digits(text: str) -> None:
    assert "$.id" in _error(json.dumps(DOCUMENT | {"id": text}))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(DOCUMENT | {MARK: MARK}),
        json.dumps(DOCUMENT | {"id": MARK}),
        json.dumps(DOCUMENT | {"version": MARK}),
        json.dumps(DOCUMENT | {"columns": MARK}),
        json.dumps(DOCUMENT | {"columns": [{MARK: MARK}]}),
        json.dumps(DOCUMENT | {f"{MARK}` - at `$.{MARK}": 1}),
        f"{MARK}{json.dumps(DOCUMENT)}",
    ],
)
def test_an_error_repeats_nothing_that_was_sent(text: str) -> None:
    message = _error(text)

    assert message
    assert MARK not in message


@pytest.mark.parametrize(
    ("start", "part", "end"),
    [
        (b'{"version":1,"columns":[', b"[],", b"[]]}"),
        (b'{"version":1,"columns":[{"labels":[', b"0,", b"0]}]}"),
        (b'{"version":1,"columns":[', GOOD_COLUMN + b",", GOOD_COLUMN + b"]}"),
    ],
    ids=["empty lists", "labels", "columns"],
)
def test_reading_bad_json_takes_no_more_memory_than_it_is_long(start: bytes, part: bytes, end: bytes) -> None:
    data = start + part * (9_000_000 // len(part)) + end
    tracemalloc.start()

    with pytest.raises(BatchError):
        decode_json(data)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(data)


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", "[1.5]", "[1e3]", '{"a":1,"a":1}', "[" * 100_000, "1" * 5000, "[Infinity]", "\ufeff1"],
)
def test_strict_json_refuses_what_is_loose(text: str) -> None:
    with pytest.raises(BatchError):
        strict_json(text.encode())


def test_strict_json_refuses_other_encodings() -> None:
    with pytest.raises(BatchError, match="UTF-8"):
        strict_json("[1]".encode("utf-16"))


def test_strict_json_reads_what_is_strict() -> None:
    assert strict_json(b'{"a": [1, "x", null, true, -5]}') == {"a": [1, "x", None, True, -5]}


def _error(text: str) -> str:
    with pytest.raises(BatchError) as caught:
        decode_json(text.encode())
    return str(caught.value)
