"""This file reads the body of a request: bounded as sent, and bounded again while it is inflated."""

import json
import zlib
from collections.abc import Callable
from typing import Any

from flask import Request

from hubbub.batch import BINARY, Batch, decode
from hubbub.batch_json import JSON, decode_json, strict_json
from hubbub.errors import BatchError, RefusedError

MOST_MEMBERS = 16  # of a gzip body; a client writes one
_READERS: dict[str, Callable[[bytes], Batch]] = {BINARY: decode, JSON: decode_json}


def read_batch(request: Request, *, largest: int) -> Batch:
    """Read the batch in a request.

    largest: bytes after inflating. Raises RefusedError or BatchError.
    """
    reader = _READERS.get(request.mimetype)
    if reader is None:
        raise RefusedError("unsupported_media_type", f"a batch is sent as {BINARY} or {JSON}")
    return reader(read_bytes(request, largest=largest))


def read_bytes(request: Request, *, largest: int) -> bytes:
    """Read the bytes of a body, inflated if it is compressed.

    Raises RefusedError or BatchError.
    """
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip"}:
        raise RefusedError("unsupported_media_type", "the one content encoding known here is gzip")
    data = request.get_data(cache=False)
    if encoding == "gzip":
        return inflate(data, largest=largest)
    if len(data) > largest:
        raise RefusedError("too_large", f"the body has more than {largest} bytes")
    return data


def read_json(request: Request, *, largest: int) -> Any:
    """Read a body that is JSON and not a batch.

    Raises RefusedError.
    """
    data = read_bytes(request, largest=largest)
    try:
        document = strict_json(data)
        json.dumps(document, ensure_ascii=False).encode()
    except BatchError as error:
        raise RefusedError("malformed_json", str(error)) from None
    except (UnicodeEncodeError, RecursionError):
        raise RefusedError("malformed_json", "half a surrogate pair, or nested too deeply") from None
    return document


def inflate(data: bytes, *, largest: int) -> bytes:
    """Inflate gzip; its header may be padded, and zeros may follow it.

    Raises RefusedError if it grows past ``largest`` bytes, BatchError if it is not gzip.

    >>> import gzip
    >>> inflate(gzip.compress(b"reports") + bytes(100), largest=1000)
    b'reports'
    """
    found = bytearray()
    for _ in range(MOST_MEMBERS):
        inflater = zlib.decompressobj(wbits=31)
        try:
            found += inflater.decompress(data, largest + 1 - len(found))
        except zlib.error:
            raise BatchError("the body is not gzip, or other bytes follow it") from None
        if len(found) > largest:
            raise RefusedError("too_large", f"the body inflates to more than {largest} bytes")
        if not inflater.eof:
            raise BatchError("the gzip body ends too early")
        data = inflater.unused_data.lstrip(b"\0")
        if not data:
            return bytes(found)
    raise BatchError(f"the gzip body has more than {MOST_MEMBERS} members")
