"""This file reads the body of a request: bounded as sent, and bounded again while it is inflated."""

import json
import zlib
from collections.abc import Callable, Collection
from io import BytesIO
from typing import Any, TypeVar

import msgspec
from flask import Request

from hubbub.batch import BINARY, Batch, decode
from hubbub.batch_json import JSON, decode_json, strict_json
from hubbub.errors import BatchError, RefusedError
from hubbub_server.receiving.room import Cover

Document = TypeVar("Document")
MOST_MEMBERS = 16  # of a gzip body; a client writes one
_PIECE = 2**16  # bytes that are inflated at once
_STEP = 2**16  # bytes that come of it at once
_READERS: dict[str, Callable[[bytes], Batch]] = {BINARY: decode, JSON: decode_json}


def read_batch(request: Request, *, largest: int, cover: Cover) -> Batch:
    """Read the batch in a request.

    largest: bytes after inflating. cover: sees to it that there is room for so many.

    Raises RefusedError, BatchError or BusyError.
    """
    data = read_bytes(request, _READERS, largest=largest, cover=cover)
    return _READERS[request.mimetype](data)


def read_bytes(
    request: Request, types: Collection[str] = (JSON,), *, largest: int, cover: Cover = lambda _: None
) -> bytes:
    """Read the bytes of a body of one of some content types, inflated if it is compressed.

    A page of another origin can't send these types without being let in, as it could those of a form.

    Raises RefusedError, BatchError or BusyError.
    """
    if request.mimetype not in types:
        raise RefusedError("unsupported_media_type", f"this route takes {' or '.join(types)}")
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip"}:
        raise RefusedError("unsupported_media_type", "the one content encoding known here is gzip")
    cover(request.content_length or 0)
    data = request.get_data(cache=False)
    if encoding == "gzip":
        return inflate(data, largest=largest, cover=lambda size: cover(len(data) + size))
    if len(data) > largest:
        raise RefusedError("too_large", f"the body has more than {largest} bytes")
    return data


def read_json(request: Request, *, largest: int) -> Any:
    """Read a body that is JSON and not a batch.

    Raises RefusedError.
    """
    try:
        document = strict_json(read_bytes(request, largest=largest))
        json.dumps(document, ensure_ascii=False).encode()
    except BatchError as error:
        raise RefusedError("malformed_json", str(error)) from None
    except (UnicodeEncodeError, RecursionError):
        raise RefusedError("malformed_json", "half a surrogate pair, or nested too deeply") from None
    return document


def read_document(request: Request, kind: type[Document], *, largest: int, example: str) -> Document:
    """Read a body that is JSON of a type.

    example: what to send, for the refusal. Raises RefusedError.
    """
    try:
        return msgspec.convert(read_json(request, largest=largest), kind)
    except msgspec.ValidationError:  # whose words could repeat what was sent
        raise RefusedError("malformed_json", f"this route takes a body such as {example}") from None


def inflate(data: bytes, *, largest: int, cover: Cover = lambda _: None) -> bytes:
    """Inflate gzip; its header may be padded, and zeros may follow it.

    Raises RefusedError if it grows past ``largest`` bytes, BatchError if it is not gzip, BusyError if there
    is no room for it.

    >>> import gzip
    >>> inflate(gzip.compress(b"reports") + bytes(100), largest=1000)
    b'reports'
    """
    found = BytesIO()  # which gives its bytes away without a copy
    for _ in range(MOST_MEMBERS):
        end = _inflate_member(data, found, largest, cover)
        data = data[end:].lstrip(b"\0")
        if not data:
            return found.getvalue()
    raise BatchError(f"the gzip body has more than {MOST_MEMBERS} members")


def _inflate_member(data: bytes, found: BytesIO, largest: int, cover: Cover) -> int:
    """Inflate one member and return where it ends, having kept little more than is allowed at any time."""
    inflater = zlib.decompressobj(wbits=31)
    for end in range(_PIECE, len(data) + _PIECE, _PIECE):
        piece, is_full = data[end - _PIECE : end], True
        while is_full and not inflater.eof:
            try:
                inflated = inflater.decompress(piece, _STEP)
            except zlib.error:
                raise BatchError("the body is not gzip, or other bytes follow it") from None
            size = found.tell() + len(inflated)
            if size > largest:
                raise RefusedError("too_large", f"the body inflates to more than {largest} bytes")
            cover(size)
            found.write(inflated)
            piece, is_full = inflater.unconsumed_tail, len(inflated) == _STEP
        if inflater.eof:
            return min(end, len(data)) - len(inflater.unused_data)
    raise BatchError("the gzip body ends too early")
