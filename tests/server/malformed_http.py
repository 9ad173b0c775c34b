"""This file lists binary batches and requests that no honest client sends."""

import base64
import gzip
import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

from hubbub.batch import BINARY, Column, encode
from hubbub.batch_json import JSON
from tests.server.case import MARK, Case
from tests.server.malformed_json import good_document
from tests.server.site import DARK, METRICS, PERIOD, SECONDS, batch, dark


def cases() -> list[Case]:
    """Return all of them."""
    makers: tuple[Callable[[], Iterator[Case]], ...] = (
        *(_binary, _columns, _encodings, _types, _keys, _paths, _queries, _withdrawals, _sizes),
    )
    return [case for make in makers for case in make()]


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
    yield Case("a JSON batch called binary", json.dumps(good_document()).encode(), BINARY)


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
        *("metric=dark&top=0", "metric=dark&top=all", "metric=dark&top=1.5", "metric=seconds&top=1"),
        *("metric=dark&level=1e-1", "metric=dark&level=95", "metric=dark&to=-1", "metric=dark&from=1.5"),
        *("metric=dark&from=2027-13-01", f"metric=dark&from={'9' * 5000}", f"metric=dark&view={MARK}"),
        *(
            "metric=dark&by=",
            "metric=dark&from=",
            "metric=dark&about=",
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
        "a key's kind": ("POST", "/operations/v1/keys", "admin", {"kind": half}),
        "a key's note": ("POST", "/operations/v1/keys", "admin", {"kind": "ingest", "note": half}),
        "a key of a key": ("POST", "/operations/v1/keys", "admin", {"kind": "ingest", half: 1}),
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
            "/operations/v1/manifests/notepad",
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
