"""This file lists JSON batches that no honest client sends."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from hubbub.batch_json import JSON
from tests.server.case import MARK, Case
from tests.server.site import DARK, PERIOD, fresh_id


def cases() -> list[Case]:
    """Return all of them."""
    makers: tuple[Callable[[], Iterator[Case]], ...] = (
        *(_not_json, _doubled_and_missing, _json_numbers, _json_texts, _json_lists),
    )
    return [case for make in makers for case in make()]


def good_document(**changes: Any) -> dict[str, Any]:
    """Return a good batch as JSON data; keys of a column go into its one column."""
    column = {"metric": DARK.id.hex(), "period": PERIOD, "count": 3, "reports": "AQAB", "labels": []}
    document = {"version": 1, "id": fresh_id().hex()}
    for name, value in changes.items():
        (column if name in column else document)[name] = value
    return {"columns": [column]} | document


def _json(name: str, **changes: Any) -> Case:
    return Case(name, json.dumps(good_document(**changes)).encode(), JSON)


def _not_json() -> Iterator[Case]:
    good = json.dumps(good_document())
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
    document = good_document()
    for name, value in (document | document["columns"][0]).items():
        text = json.dumps(document)
        pair = f"{json.dumps(name)}: {json.dumps(value)}"
        escaped = f'"\\u{ord(name[0]):04x}{name[1:]}": {json.dumps(value)}'
        yield Case(f"{name} twice", text.replace(pair, f"{pair}, {pair}").encode(), JSON)
        yield Case(f"{name} twice, once escaped", text.replace(pair, f"{escaped}, {pair}").encode(), JSON)
        lacking = good_document()
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
        raw = json.dumps(good_document(count=12345)).replace("12345", text)
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
    for value in ([], {}, None, 1, MARK, [None], [[]], [MARK], good_document()["columns"] * 1025):
        yield _json(f"columns {str(value)[:20]}", columns=value)
