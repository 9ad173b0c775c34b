"""This file lists what a running collector is besieged with, as bytes, and how each may be answered."""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hubbub.batch import BINARY, Batch, Column, encode
from hubbub.batch_json import JSON
from tests.server import malformed_admin, malformed_http, malformed_json
from tests.server.case import Case
from tests.server.malformed_framing import BROKEN
from tests.server.malformed_json import good_document
from tests.server.site import fresh_id
from tests.server.wire import as_bytes

MIB = 2**20
TAKEN, REFUSED = range(200, 201), range(400, 500)


@dataclass(frozen=True, slots=True)
class Attack:
    """Bytes to send in pieces, and the statuses of the answers that are in order."""

    name: str
    pieces: tuple[bytes, ...]
    answers: tuple[range, ...] = (REFUSED,)


def attacks(keys: dict[str, str], period: int, known: bytes, vectors: list[dict[str, Any]]) -> list[Attack]:
    """Return all but bombs.

    known: a batch that is counted already. vectors: metrics, each with reports that are impossible.
    """
    cases = [*malformed_json.cases(), *malformed_http.cases(), *malformed_admin.cases(), *_doubled()]
    return [
        *(Attack(case.name, (as_bytes(case, keys),)) for case in cases),
        *(Attack(name, (data,)) for name, data in BROKEN.items()),
        *_impossible(keys, period, vectors),
        *_odd(keys, known),
    ]


def bombs() -> list[Case]:
    """Return bodies that are large once they are read, at the limits that a collector has by default."""
    column = json.dumps(good_document()["columns"][0])
    start = '{"version":1,"id":"' + "0" * 32 + '","columns":['
    binary = {
        "1 GiB of zeros": squeezed(b"", b"\0", 1024 * MIB),
        "63 MiB of zeros": squeezed(b"", b"\0", 63 * MIB),
        "63 MiB that begin as a batch": squeezed(
            encode(Batch(fresh_id(), (_column(),)))[:60], b"\0", 63 * MIB
        ),
        "16 members of 4 MiB": squeezed(b"", b"\0", 4 * MIB) * 16,
        "a bomb in a bomb": gzip.compress(squeezed(b"", b"\0", 1024 * MIB)),
    }
    texts = {
        "labels": squeezed(start.encode() + b'{"labels":[', b"0,", 60 * MIB),
        "columns": squeezed(start.encode(), column.encode() + b",", 60 * MIB),
        "brackets": squeezed(b"", b"[", 63 * MIB),
        "blanks": squeezed(b"", b" ", 63 * MIB),
        "a text": squeezed(start.encode() + b'{"reports":"', b"A", 60 * MIB),
        "escapes": squeezed(start.encode() + b'{"reports":"', b"\\u0041", 60 * MIB),
        "digits": squeezed(b'{"version":', b"1", 60 * MIB),
    }
    packed = {"Content-Encoding": "gzip"}
    return [
        *(Case(f"a bomb: {name}", data, BINARY, headers=packed) for name, data in binary.items()),
        *(Case(f"a bomb: {name}", data, JSON, headers=packed) for name, data in texts.items()),
    ]


def squeezed(start: bytes, unit: bytes, size: int) -> bytes:
    """Return gzip of about so many bytes, which are a unit again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    first, block = packer.compress(start), unit * (MIB // len(unit))
    packed = [packer.compress(block) for _ in range(size // len(block))]
    return b"".join([first, *packed, packer.flush()])


def _column() -> Column:
    return Column(bytes(32), 0, (), 1, b"\1")


def _doubled() -> Iterator[Case]:
    """Yield requests of which a header stands twice."""
    data = encode(Batch(fresh_id(), (_column(),)))
    for name, value in (
        ("Content-Type", BINARY),
        ("Content-Encoding", "gzip"),
        ("Authorization", "Bearer x"),
    ):
        yield Case(f"{name} twice", data, headers={name: f"{value}\r\n{name}: {value}"})


def _odd(keys: dict[str, str], known: bytes) -> Iterator[Attack]:
    """Yield ways to send a batch again that HTTP allows: they are answered, and count nothing."""
    names = f"Host: x\r\nAuthorization: Bearer {keys['ingest']}\r\nContent-Type: {BINARY}\r\n".encode()
    size = f"Content-Length: {len(known)}\r\n".encode()
    whole = b"POST /v1/batches HTTP/1.1\r\n" + names + size + b"\r\n" + known
    chunks = b"".join(b"1;a=b\r\n%c\r\n" % byte for byte in known) + b"0\r\nX-A: 1\r\n\r\n"
    chunked = b"POST /v1/batches HTTP/1.1\r\n" + names + b"Transfer-Encoding: chunked\r\n\r\n" + chunks
    padded = gzip.compress(known) + bytes(1000)
    members = gzip.compress(known[:9]) + gzip.compress(known[9:])
    ways = {
        "HTTP/1.0": whole.replace(b"HTTP/1.1", b"HTTP/1.0"),
        "a target in full": whole.replace(b" /v1", b" http://elsewhere.example/v1"),
        "chunks with extensions and a trailer": chunked,
        "small letters": names.lower().join(whole.split(names)),
        "200 headers": whole.replace(size, size + b"X-A: 1\r\n" * 200),
        "blank lines before": b"\r\n\r\n" + whole,
        "the end of the connection told": whole.replace(size, size + b"Connection: close\r\n"),
        "another protocol offered": whole.replace(size, size + b"Connection: Upgrade\r\nUpgrade: h2c\r\n"),
    }
    for name, data in ways.items():
        yield Attack(name, (data,), (TAKEN,))
    for name, body in (("gzip with zeros behind", padded), ("gzip of two members", members)):
        head = names + f"Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        yield Attack(name, (b"POST /v1/batches HTTP/1.1\r\n" + head + body,), (TAKEN,))
    yield Attack("three at once", (whole * 3,), (TAKEN,) * 3)
    yield Attack("byte by byte", tuple(bytes([byte]) for byte in whole), (TAKEN,))
    waits = whole.replace(size, size + b"Expect: 100-continue\r\n").removesuffix(known)
    yield Attack("a body that waits for leave", (waits, known), (range(100, 101), TAKEN))


def _impossible(keys: dict[str, str], period: int, vectors: list[dict[str, Any]]) -> Iterator[Attack]:
    """Yield batches with reports that no honest device sends: named, or of another width or with labels."""
    for vector in vectors:
        report = bytes.fromhex(vector["impossible"][0])
        column = Column(bytes.fromhex(vector["id"]), period, (), 1000, report * 1000)
        wide = Column(column.metric, period, (), 1, report + b"\0")
        labelled = Column(column.metric, period, (0,), 1, report)
        columns = {"impossible": ((column,), TAKEN), "too wide": ((column, wide), REFUSED)}
        columns["labelled"] = ((column, labelled), REFUSED)
        for name, (sent, answer) in columns.items():
            case = Case("", encode(Batch(fresh_id(), sent)))
            yield Attack(f"{vector['name']}: {name}", (as_bytes(case, keys),), (answer,))
