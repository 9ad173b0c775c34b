"""This file lists requests that no honest client sends, as data: what differs from a request that is taken.

Wherever a sender can put words, they hold MARK, so that a test can see whether anything is repeated.
"""

import base64
import gzip
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hubbub.batch import BINARY, Column, encode
from hubbub.batch_json import JSON
from tests.server.site import DARK, METRICS, PERIOD, SECONDS, batch, dark, fresh_id

MARK = "s3ntinel"


@dataclass(frozen=True, slots=True)
class Case:
    """A bad request. headers: None takes one away. key: whose, "" for none at all."""

    name: str
    data: bytes = b""
    form: str | None = BINARY
    path: str = "/v1/batches"
    method: str = "POST"
    key: str = "ingest"
    headers: dict[str, str] = field(default_factory=dict)


def cases() -> list[Case]:
    """Return all of them."""
    makers: tuple[Callable[[], Iterator[Case]], ...] = (
        *(_not_json, _doubled_and_missing, _json_numbers, _json_texts, _json_lists, _binary, _columns),
        *(_encodings, _types, _keys, _paths, _queries, _withdrawals, _surrogates, _sizes),
    )
    return [case for make in makers for case in make()]


def _document(**changes: Any) -> dict[str, Any]:
    """Return a good batch as JSON data; keys of a column go into its one column."""
    column = {"metric": DARK.id.hex(), "period": PERIOD, "count": 3, "reports": "AQAB", "labels": []}
    document = {"version": 1, "id": fresh_id().hex()}
    for name, value in changes.items():
        (column if name in column else document)[name] = value
    return {"columns": [column]} | document


def _json(name: str, **changes: Any) -> Case:
    return Case(name, json.dumps(_document(**changes)).encode(), JSON)


def _not_json() -> Iterator[Case]:
    good = json.dumps(_document())
    texts = {
        "nothing": "",
        "an open brace": "{",
        "null": "null",
        "a number": "1",
        "a text": f'"{MARK}"',
        "a list": "[]",
        "NaN": "NaN",
        "the first half": good[: len(good) // 2],
        "a comma too many": good[:-1] + ",}",
        "two documents": good + good,
        "words after it": good + MARK,
        "single quotes": good.replace('"', "'"),
        "a comment": good + f"// {MARK}",
        "a NUL": good + "\0",
        "a byte order mark": "\ufeff" + good,
        "lists in lists": "[" * 100_000,
        "objects in objects": '{"columns":' * 100_000,
        "columns in columns": '{"columns":[' * 50_000,
    }
    for name, text in texts.items():
        yield Case(f"JSON that is {name}", text.encode(), JSON)
    for codec in ("utf-16", "utf-32"):
        yield Case(f"JSON in {codec}", good.encode(codec), JSON)
    yield Case("JSON with a byte that is not UTF-8", good.encode().replace(b"version", b"versi\xff"), JSON)
    yield Case("JSON with half a surrogate", good.replace("version", "\\ud800").encode(), JSON)


def _doubled_and_missing() -> Iterator[Case]:
    document = _document()
    for name, value in (document | document["columns"][0]).items():
        text = json.dumps(document)
        pair = f"{json.dumps(name)}: {json.dumps(value)}"
        escaped = f'"\\u{ord(name[0]):04x}{name[1:]}": {json.dumps(value)}'
        yield Case(f"{name} twice", text.replace(pair, f"{pair}, {pair}").encode(), JSON)
        yield Case(f"{name} twice, once escaped", text.replace(pair, f"{escaped}, {pair}").encode(), JSON)
        lacking = _document()
        lacking.pop(name, None)
        lacking.get("columns", [{}])[0].pop(name, None)
        yield Case(f"no {name}", json.dumps(lacking).encode(), JSON)
    yield _json("an unknown key", **{MARK: MARK})
    document["columns"][0][MARK] = MARK
    yield Case("an unknown key in a column", json.dumps(document).encode(), JSON)


def _json_numbers() -> Iterator[Case]:
    numbers: dict[str, tuple[Any, ...]] = {
        "version": (0, 2, -1, 1.0, True, None, "1", [1], 10**400),
        "period": (-1, 2**31, 2**63, 10**400, float(PERIOD), 1.5, True, None, str(PERIOD), {}),
        "count": (0, -1, 2, 4, 2**32, 2**64, 10**400, 3.0, False, None, "3"),
    }
    for name, values in numbers.items():
        for value in values:
            yield _json(f"{name} {str(value)[:20]!r} of type {type(value).__name__}", **{name: value})
    for text in ("NaN", "Infinity", "-Infinity", "1e2", "0x10", "010", "+3", "3.", "1_000"):
        raw = json.dumps(_document(count=12345)).replace("12345", text)
        yield Case(f"count written {text}", raw.encode(), JSON)


def _json_texts() -> Iterator[Case]:
    texts: dict[str, tuple[Any, ...]] = {
        "id": ("", "0" * 31, "1" * 33, "0x" + "0" * 30, "G" * 32, "A" * 32, "٠" * 32, 0, None, MARK * 4),
        "metric": ("", "0" * 63, "1" * 65, DARK.id.hex().upper(), "z" * 64, 5, None, "ab" * 32, MARK * 8),
        "reports": (
            *("", "AQA", "AQAB=", "AQ AB", "AQAB\n", "@@@@", "AQ-_", "AQB=", "AQAAAA", "A" * 9),
            *(None, 1, [], ["AQAB"], [1, 0, 1], {"0": 1}, MARK, "AQABAQAB", "٠" * 4),
        ),
    }
    for name, values in texts.items():
        for value in values:
            yield _json(f"{name} {str(value)[:20]!r} of type {type(value).__name__}", **{name: value})


def _json_lists() -> Iterator[Case]:
    for value in (None, {}, 0, "", [0], [32], [-1], [0, 0, 0], ["0"], [0.0], [None], [[]], [True], [MARK]):
        yield _json(f"labels {value!r}", labels=value)
    for value in ([], {}, None, 1, MARK, [None], [[]], [MARK], _document()["columns"] * 1025):
        yield _json(f"columns {str(value)[:20]}", columns=value)


def _binary() -> Iterator[Case]:
    good = encode(batch())
    for length in (0, 1, 3, 4, 19, 20, 21, 22, 53, 57, 58, 61, 65, len(good) - 1):
        yield Case(f"the first {length} bytes", good[:length])
    changed = {
        "a byte more": good + b"\0",
        "the batch twice": good + good,
        "another magic": b"XBB\x01" + good[4:],
        "version 0": b"HBB\x00" + good[4:],
        "version 2": b"HBB\x02" + good[4:],
        "words": MARK.encode() * 20,
        "zeros": bytes(1000),
        "ones": b"\xff" * 1000,
        "no columns": good[:20] + struct.pack("<H", 0) + good[22:],
        "a column that is missing": good[:20] + struct.pack("<H", 2) + good[22:],
        "65535 columns": good[:20] + struct.pack("<H", 65535) + good[22:],
        "1025 columns": good[:20] + struct.pack("<H", 1025) + good[22:] * 1025,
        "period -1": good[:54] + struct.pack("<i", -1) + good[58:],
        "3 labels": good[:58] + b"\3\0\0\0" + good[59:],
        "255 labels": good[:58] + b"\xff" + good[59:],
        "label 32": good[:58] + b"\1\x20" + good[59:],
        "no reports": good[:59] + struct.pack("<II", 0, 0),
        "no reports of 3 bytes": good[:59] + struct.pack("<I", 0) + good[63:],
        "3 reports of 0 bytes": good[:59] + struct.pack("<II", 3, 0),
        "2 reports in 3 bytes": good[:59] + struct.pack("<I", 2) + good[63:],
        "2**32 - 1 reports": good[:59] + struct.pack("<I", 2**32 - 1) + good[63:],
        "2**32 - 1 bytes": good[:63] + struct.pack("<I", 2**32 - 1) + good[67:],
    }
    for name, data in changed.items():
        yield Case(f"a binary batch with {name}", data)


def _columns() -> Iterator[Case]:
    wrong = {
        "a metric that nobody published": Column(b"\7" * 32, PERIOD, (), 1, b"\1"),
        "one wrong column of two": Column(DARK.id, PERIOD, (1,), 1, b"\1"),
        "a label too few": Column(SECONDS.id, PERIOD, (), 1, b"\0\0"),
        "a label too many": Column(SECONDS.id, PERIOD, (0, 0), 1, b"\0\0"),
        "a label that is not listed": Column(SECONDS.id, PERIOD, (3,), 1, b"\0\0"),
        "half a report": Column(SECONDS.id, PERIOD, (0,), 1, b"\0"),
        "a report and a half": Column(SECONDS.id, PERIOD, (0,), 1, b"\0\0\0"),
        "a vector for a choice": Column(DARK.id, PERIOD, (), 1, bytes(8)),
        "a period of the past": dark([1], period=0),
        "the next period": dark([1], period=PERIOD + 1),
        "the last period there is": dark([1], period=2**31 - 1),
    }
    for name, column in wrong.items():
        yield Case(f"a batch with {name}", encode(batch(dark([1]), column)))


def _encodings() -> Iterator[Case]:
    good = encode(batch())
    packed = gzip.compress(good)
    bomb = gzip.compress(bytes(5 * 2**20))
    bodies = {
        "plain": good,
        "empty": b"",
        "zeros": bytes(100),
        "cut short": packed[:-1],
        "without trailer": packed[:-8],
        "with a wrong checksum": packed[:-8] + bytes(4) + packed[-4:],
        "with a wrong length": packed[:-4] + bytes(4),
        "followed by words": packed + MARK.encode(),
        "followed by zeros and words": packed + bytes(100) + MARK.encode(),
        "of 17 members": packed + gzip.compress(b"") * 16,
        "a bomb": bomb,
        "a bomb in pieces": gzip.compress(bytes(2**20)) * 5,
        "packed twice": gzip.compress(packed),
        "of a zlib stream": b"\x78\x9c" + packed[10:],
        "with a reserved flag": packed[:3] + b"\xe0" + packed[4:],
        "whose extra field never ends": packed[:3] + b"\x04" + packed[4:10] + b"\xff\xff" + packed[10:],
    }
    for name, data in bodies.items():
        yield Case(f"gzip that is {name}", data, headers={"Content-Encoding": "gzip"})
    for encoding in ("deflate", "br", "zstd", "gzip, gzip", "gzip;q=1", MARK, "compress"):
        yield Case(f"content encoding {encoding}", packed, headers={"Content-Encoding": encoding})


def _types() -> Iterator[Case]:
    good = encode(batch())
    for form in (
        None,
        "",
        "text/plain",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
        MARK,
        "*/*",
    ):
        yield Case(f"content type {form}", good, form)
    yield Case("a binary batch called JSON", good, JSON)
    yield Case("a JSON batch called binary", json.dumps(_document()).encode(), BINARY)


def _keys() -> Iterator[Case]:
    good = encode(batch())
    forged = "hb_ingest_00000000_" + "0" * 40
    for header in (
        *("", "Bearer", "Bearer ", f"Bearer {MARK}", f"Bearer {forged}", f"bearer {forged}0"),
        *(
            f"Basic {base64.b64encode(MARK.encode()).decode()}",
            forged,
            f"Bearer {'x' * 10_000}",
            "Bearer \xff",
        ),
    ):
        yield Case(f"the key {header[:25]!r}", good, key="", headers={"Authorization": header})
    yield Case("no key", good, key="")
    yield Case("an analyst's key", good, key="analyst")
    yield Case("an admin's key", good, key="admin")


def _paths() -> Iterator[Case]:
    good = encode(batch())
    for method in ("GET", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"):
        yield Case(f"{method} of a batch", good, method=method)
    for path in (
        "/",
        "/v1",
        "/v2/batches",
        "/v1/batches/",
        "//v1/batches",
        "/v1//batches",
        "/V1/batches",
        f"/{MARK}",
    ):
        yield Case(f"path {path}", good, path=path)
    for path in (
        "/v1/batches/../batches",
        "/v1/batches%00",
        "/v1/%2e%2e/batches",
        "/v1/batches;x",
        "/%ff%fe",
    ):
        yield Case(f"path {path}", good, path=path)


def _queries() -> Iterator[Case]:
    for query in (
        *(
            "",
            "metric=",
            "metric=dark&metric=dark",
            f"metric={MARK}",
            f"metric={'0' * 64}",
            f"metric=dark&{MARK}=1",
        ),
        *("metric=dark&by=week", "metric=dark&view=clipped", "metric=dark&about=me", "metric=dark&from=soon"),
        *("metric=dark&level=0", "metric=dark&level=1", "metric=dark&level=nan", "metric=dark&level=0.99999"),
        *("metric=dark&level=1e-1", "metric=dark&level=95", "metric=dark&to=-1", "metric=dark&from=1.5"),
        *("metric=dark&from=2027-13-01", f"metric=dark&from={'9' * 5000}", f"metric=dark&view={MARK}"),
        *(
            "metric=dark&view=norm-sub",
            "metric=%ff",
            "metric=dark%00",
            "metric=notepad/dark/x",
            "metric=other/dark",
        ),
    ):
        path = f"/v1/estimates?{query}"
        yield Case(f"query {query[:40]}", form=None, path=path, method="GET", key="analyst")


def _withdrawals() -> Iterator[Case]:
    good = {"id": "0" * 32}
    for document in (
        {},
        [],
        None,
        good | {MARK: 1},
        {"id": 0},
        {"id": "0" * 31},
        {"id": MARK},
        {"ids": ["0" * 32]},
    ):
        data = json.dumps(document).encode()
        yield Case(f"withdrawal {str(document)[:40]}", data, JSON, path="/v1/withdrawals")
    yield Case("withdrawal of an id twice", b'{"id":"00","id":"00"}', JSON, path="/v1/withdrawals")
    yield Case("withdrawal of 2 kB", json.dumps(good).encode() + b" " * 2000, JSON, path="/v1/withdrawals")


def _surrogates() -> Iterator[Case]:
    half = "\ud800"
    manifest = METRICS.document() | {"serial": 2}
    dark_metric = manifest["metrics"]["dark"]
    bodies: dict[str, tuple[str, str, str, Any]] = {
        "a withdrawal's key": ("POST", "/v1/withdrawals", "ingest", {half: 1}),
        "a withdrawal's id": ("POST", "/v1/withdrawals", "ingest", {"id": half}),
        "a key's kind": ("POST", "/v1/keys", "admin", {"kind": half}),
        "a key's note": ("POST", "/v1/keys", "admin", {"kind": "ingest", "note": half}),
        "a key of a key": ("POST", "/v1/keys", "admin", {"kind": "ingest", half: 1}),
    }
    tables = {
        "why": {"dark": dark_metric | {"why": half}},
        "key": {"dark": dark_metric | {half: 1}},
        "mechanism": {"dark": dark_metric | {"mechanism": half}},
        "metric's name": {half: dark_metric},
    }
    for name, table in tables.items():
        bodies[f"a manifest's {name}"] = (
            "PUT",
            "/v1/manifests/notepad",
            "admin",
            manifest | {"metrics": table},
        )
    for name, (method, path, key, document) in bodies.items():
        data = json.dumps(document).encode()
        yield Case(f"half a surrogate in {name}", data, JSON, path=path, method=method, key=key)


def _sizes() -> Iterator[Case]:
    yield Case("a body over the limit", bytes(2 * 2**20))
    yield Case("a batch over the limit", encode(batch(dark([1] * (2 * 2**20)))))
    yield Case("JSON over the limit", b'{"version":1' + b" " * (2 * 2**20) + b"}", JSON)
