"""This file writes and reads batches as JSON: reports as base64, ids as hex.

Reading is strict, since an honest client sends one form only: no duplicate keys, no floats, no unknown
fields.
"""

import base64
import binascii
import json
import re
from typing import Annotated, Any, NoReturn

import msgspec

from hubbub.batch import MOST_COLUMNS, Batch, Column
from hubbub.errors import BatchError

JSON = "application/json"  # content type
_MOST_COMMAS = 2 + 6 * MOST_COLUMNS  # so that no list is built that is refused for its length
NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # msgspec before 0.23 raises all three
Hex16 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$", max_length=32, description="16 bytes in hex")]
Hex32 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$", max_length=64, description="32 bytes in hex")]


Base64 = Annotated[  # msgspec need not check what decoding checks
    str,
    msgspec.Meta(
        description="base64 of the reports, back to back",
        extra_json_schema={"minLength": 4, "pattern": "^[A-Za-z0-9+/]+={0,2}$", "contentEncoding": "base64"},
    ),
]


class ColumnDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column as JSON."""

    metric: Hex32
    period: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
    count: Annotated[int, msgspec.Meta(ge=1, lt=2**32)]
    reports: Base64
    labels: Annotated[list[Annotated[int, msgspec.Meta(ge=0, lt=32)]], msgspec.Meta(max_length=2)]


class VersionDocument(msgspec.Struct, frozen=True):
    """What every version of the JSON form has."""

    version: int


class BatchDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A batch as JSON."""

    version: Annotated[int, msgspec.Meta(ge=1, le=1)]
    id: Hex16
    columns: Annotated[list[ColumnDocument], msgspec.Meta(min_length=1, max_length=MOST_COLUMNS)]


def encode_json(batch: Batch) -> bytes:
    """Return a batch as JSON."""
    document = BatchDocument(
        version=1, id=batch.id.hex(), columns=[_document(column) for column in batch.columns]
    )
    return msgspec.json.encode(document)


def decode_json(data: bytes) -> Batch:
    """Read a batch from JSON.

    Raises BatchError, which says where the fault is and never repeats what was sent.
    """
    if data.count(b",") > _MOST_COMMAS:
        raise _not_a_batch(data, "it has more parts than any batch")
    try:
        document = msgspec.json.decode(data, type=BatchDocument)
    except msgspec.ValidationError as error:
        raise _not_a_batch(data, _rule(error)) from None
    except NOT_JSON:
        raise BatchError("this is not JSON in UTF-8") from None
    strings = 4 + 7 * len(document.columns)  # no key is optional, and no value holds a quote
    if data.count(b'"') != 2 * strings:
        raise BatchError("a key stands twice in one JSON object")
    columns = tuple(_column(number, column) for number, column in enumerate(document.columns))
    return Batch(bytes.fromhex(document.id), columns)


def strict_json(data: bytes) -> Any:
    """Parse JSON; no duplicate keys, no floats, no NaN.

    Raises BatchError.
    """
    try:
        return json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique, parse_float=_no_float, parse_constant=_no_float
        )
    except BatchError:
        raise
    except UnicodeDecodeError:
        raise BatchError("JSON must be UTF-8") from None
    except RecursionError:
        raise BatchError("JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BatchError(f"not JSON: {error.msg} at byte {error.pos}") from None
    except ValueError:
        raise BatchError("an integer in the JSON is too long") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise BatchError("a key stands twice in one JSON object")
    return table


def _no_float(_: str) -> NoReturn:
    raise BatchError("the JSON holds a number that is not an integer; all numbers here are integers")


def _document(column: Column) -> ColumnDocument:
    return ColumnDocument(
        metric=column.metric.hex(),
        period=column.period,
        labels=list(column.labels),
        count=column.count,
        reports=base64.b64encode(column.reports).decode("ascii"),
    )


def _column(number: int, document: ColumnDocument) -> Column:
    try:
        reports = base64.b64decode(document.reports, validate=True)
    except (binascii.Error, ValueError):
        raise BatchError(f"reports of column {number} are not base64") from None
    if base64.b64encode(reports).decode("ascii") != document.reports:
        raise BatchError(f"reports of column {number} are not canonical base64")
    labels = tuple(document.labels)
    return Column(bytes.fromhex(document.metric), document.period, labels, document.count, reports)


def _not_a_batch(data: bytes, rule: str) -> BatchError:
    """Tell a batch of another version, whatever it holds, from one that is wrong."""
    try:
        version = msgspec.json.decode(data, type=VersionDocument).version
    except NOT_JSON:  # ValidationError among them
        version = 1
    if version != 1:
        return BatchError("this version of the batch format is not known here, 1 is", code="unknown_version")
    return BatchError(f"this JSON is not a batch: {rule}")


def _rule(error: msgspec.ValidationError) -> str:
    """Return the rule that was broken, without the name of a field that nobody knows."""
    return re.sub(r"unknown field `.*`", "unknown field", str(error), flags=re.DOTALL)[:200]
