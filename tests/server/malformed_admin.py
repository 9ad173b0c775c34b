"""This file lists manifests, requests for keys, and questions that no honest operator or analyst sends."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from hubbub.batch_json import JSON
from tests.server.case import MARK, Case
from tests.server.site import METRICS

HUGE = 10**400
CHOICE: dict[str, Any] = {"kind": "choice", "options": ["a", "b"], "epsilon": "1"}
NUMBER: dict[str, Any] = {"kind": "number", "range": [0, 10], "epsilon": "1"}
VECTOR: dict[str, Any] = {"kind": "vector", "size": 4, "norm": 1, "epsilon": "1", "mechanism": "gaussian"}


def cases() -> list[Case]:
    """Return all of them."""
    makers: tuple[Callable[[], Iterator[Case]], ...] = (
        *(_manifests, _names, _numbers, _choices, _vectors, _others, _keys, _questions),
    )
    return [case for make in makers for case in make()]


def _manifest(name: str, **changes: Any) -> Case:
    document = METRICS.document() | {"serial": 2} | changes
    return Case(
        f"a manifest with {name}",
        json.dumps(document).encode(),
        JSON,
        path="/operations/v1/manifests/notepad",
        method="PUT",
        key="admin",
    )


def _metric(name: str, table: dict[str, Any], **changes: Any) -> Case:
    return _manifest(f"a {table['kind']} with {name}", metrics={"asked": table | changes})


def _each(table: dict[str, Any], key: str, *values: Any) -> Iterator[Case]:
    for value in values:
        text = str(value)
        shown = text if len(text) <= 25 else f"{text[:20]} and {len(text) - 20:,} more"
        yield _metric(f"{key} {shown!r} of type {type(value).__name__}", table, **{key: value})


def _manifests() -> Iterator[Case]:
    wrong: dict[str, dict[str, Any]] = {
        "format 2": {"format": 2},
        "format true": {"format": True},
        "format in words": {"format": "1"},
        "serial 0": {"serial": 0},
        "serial -1": {"serial": -1},
        "serial 2**31": {"serial": 2**31},
        "a huge serial": {"serial": HUGE},
        "serial true": {"serial": True},
        "serial in words": {"serial": "2"},
        "another app": {"app": "calendar"},
        "an app of signs": {"app": "../notepad"},
        "an app that is no text": {"app": ["notepad"]},
        "metrics in a list": {"metrics": [CHOICE]},
        "metrics that are null": {"metrics": None},
        "a metric that is none": {"metrics": {"asked": 1}},
        "1001 metrics": {"metrics": {f"asked{number}": CHOICE for number in range(1001)}},
        "an unknown key": {"more": 1},
        "an open mechanism": {"metrics": {"asked": CHOICE | {"mechanism": "best"}}},
    }
    for name, changes in wrong.items():
        yield _manifest(name, **changes)
    deep = json.dumps(METRICS.document()).replace('"boolean"', "[" * 100_000, 1)
    path = "/operations/v1/manifests/notepad"
    yield Case("a manifest without end", deep.encode(), JSON, path=path, method="PUT", key="admin")
    yield Case("a manifest of a device", b"{}", JSON, path=path, method="PUT", key="ingest")
    for document in (
        {},
        {"manifest": 1, "signature": ""},
        {"manifest": "{}", "signature": "%"},
        [],
        {"x": 1},
    ):
        data = json.dumps(document).encode()
        yield Case(f"signed {document}", data, JSON, path=f"{path}/signed", method="PUT", key="admin")


def _names() -> Iterator[Case]:
    for name in ("", "a" * 1000, "Asked", "a b", "../asked", "a\0", "a\nb", "=1+1", "١", "asked "):
        yield _manifest(f"a metric named {name[:20]!r}", metrics={name: CHOICE})
    yield from _each(CHOICE, "source", 1, None, ["a"], "a" * 1000)
    yield from _each(CHOICE, "expires", 5, "2027-13-01", "soon", "99999-01-01", None)
    yield from _each(CHOICE, "why", 1, None, [])


def _numbers() -> Iterator[Case]:
    yield from _each(CHOICE, "epsilon", 0, -1, 21, HUGE, True, None, [], "", "0", "-1", "nan", "inf", "1e-9")
    yield from _each(CHOICE, "epsilon", "1" * 5000, "0.0000001", "0x1", "1/2", "1 ", "1_0", "１", "20.000001")
    yield from _each(NUMBER, "range", [], [0], [1, 0], [0, 0], [0, 1, 2], ["nan", "1"], ["-inf", "inf"], None)
    yield from _each(NUMBER, "range", ["0", "1e400"], [True, False], [0, HUGE], "01", [[0], [1]], [None, 1])
    yield from _each(
        NUMBER, "parameters", {"steps": 0}, {"steps": -1}, {"steps": HUGE}, {"steps": "9"}, [], 1
    )
    yield from _each(NUMBER, "parameters", {"steps": True}, {"step": 1}, {"": 1}, {"steps": None})
    yield from _each(CHOICE, "period", 0, -1, 7, "0d", "8d", "7", "7 d", "-7d", "7h", f"{HUGE}d", None, [])
    yield from _each(CHOICE, "changes", -1, HUGE, True, "1", 1)
    yield from _each(CHOICE, "once", 1, "true", None)


def _choices() -> Iterator[Case]:
    yield from _each(CHOICE, "options", [], ["a"], ["a", "a"], [1, 2], "ab", None, {"a": "b"}, [["a"], ["b"]])
    yield from _each(CHOICE, "options", ["", "a"], ["a\n", "b"], ["a\0", "b"], ["a" * 10_000, "b"])
    yield _metric("70,000 options", CHOICE, options=[str(number) for number in range(70_000)])
    yield from _each(CHOICE, "absent", "c", 1, [], True)
    yield from _each(CHOICE, "mechanism", "", 1, None, "laplace", "rappor2", "a" * 10_000, ["l_grr"])
    three = {name: ["1", "2"] for name in "abc"}
    many = {"a": [str(number) for number in range(33)]}
    yield from _each(CHOICE, "labels", three, many, {"a": []}, {"a": ["1", "1"]}, {"a": "1"}, [["a"]], 1)
    yield from _each(CHOICE, "labels", [["a", ["1"]], ["a", ["2"]]], {"": ["1", "2"]}, {"a": [1, 2]})


def _vectors() -> Iterator[Case]:
    with_delta = VECTOR | {"delta": "0.000000001"}
    yield _metric("no delta", VECTOR)
    yield from _each(with_delta, "size", 0, -1, HUGE, True, "4", None, 10**9)
    yield from _each(with_delta, "norm", 0, -1, "nan", "inf", True, None, "1e400", [])
    yield from _each(with_delta, "delta", "0", "1", "-1", "nan", True, None, HUGE, "1e-400")


def _others() -> Iterator[Case]:
    text: dict[str, Any] = {"kind": "text", "length": 8, "epsilon": "1"}
    yield from _each(text, "length", 0, -1, HUGE, True, "8", None, 10**9)
    picks: dict[str, Any] = {"kind": "choices", "options": ["a", "b"], "most": 1, "epsilon": "1"}
    yield from _each(picks, "most", 0, -1, 3, HUGE, True, "1", None)
    keyed: dict[str, Any] = {
        "kind": "key_value",
        "keys": ["a", "b"],
        "range": [0, 1],
        "most": 1,
        "epsilon": "1",
    }
    yield from _each(keyed, "keys", [], ["a", "a"], [1], None, "ab")
    record: dict[str, Any] = {"kind": "record", "epsilon": "1"}
    inner = {"dark": {"kind": "boolean"}}
    yield from _each(
        record, "attributes", {}, [], None, {"a": 1}, {"a": {"kind": "record", "attributes": inner}}
    )
    yield _metric(
        "1000 attributes", record, attributes={f"a{number}": {"kind": "boolean"} for number in range(1000)}
    )
    yield from _each(CHOICE, "kind", "", "float", 1, None, ["choice"], "Choice", "a" * 10_000)
    yield _metric("keys of another kind", CHOICE, range=[0, 1])


def _keys() -> Iterator[Case]:
    path = "/operations/v1/keys"
    wrong: list[Any] = [
        [],
        None,
        1,
        {},
        {"kind": "root"},
        {"kind": "Admin"},
        {"kind": ["admin"]},
        {"kind": MARK},
    ]
    wrong += [{"kind": "ingest", "note": note} for note in (1, None, "a" * 201, "\0", "\x1b[2J", "a\nb")]
    for document in wrong:
        yield Case(f"a key {str(document)[:40]}", json.dumps(document).encode(), JSON, path=path, key="admin")
    for number in ("%00", "%2e%2e", "0" * 5000, MARK, "%ff", "00000000"):
        name = number[:20]
        yield Case(f"no key {name}", form=None, path=f"{path}/{number}", method="DELETE", key="admin")
        yield Case(f"no rotation of {name}", b"{}", JSON, path=f"{path}/{number}/rotation", key="admin")
    for days in (-1, HUGE, True, "30", None, [30], 10**6):
        data = json.dumps({"days": days}).encode()
        yield Case(
            f"a rotation in {str(days)[:20]} days of type {type(days).__name__}",
            data,
            JSON,
            path=f"{path}/00000000/rotation",
            key="admin",
        )


def _questions() -> Iterator[Case]:
    for path in (
        *("/v1/metrics/", "/v1/metrics/%00", "/v1/metrics/..%2f..%2fetc", f"/v1/metrics/{MARK}/x/y/z"),
        *(f"/v1/metrics/{'a' * 10_000}", "/v1/metrics/%ff", "/v1/manifests/%2e%2e", f"/v1/manifests/{MARK}"),
        *("/v1/manifests/notepad/", "/v1/manifests/notepad/signed/x", "/v1/manifests/%00/signed"),
        *("/v1/reports", "/v1/reports?metric=dark&format=xml", f"/v1/reports?metric=dark&{MARK}=1"),
        *(
            "/v1/reports?metric=dark&from=soon",
            f"/v1/reports?metric={MARK}",
            "/v1/reports?metric=dark&label=a",
        ),
        *("/v1/suspicion", f"/v1/suspicion?metric={MARK}", "/v1/suspicion?metric=dark&to=never"),
        *("/v1/reports?metric=dark&from=", "/v1/suspicion?metric=dark&to=", "/v1/estimates?metric=dark&by="),
        *("/v1/estimates?metric=seconds&label=version", "/v1/estimates?metric=seconds&label=version:9"),
        *("/v1/estimates?metric=dark&against=soon", "/v1/estimates?metric=dark&versions=1"),
        *("/v1/estimates?metric=system&any=beos", "/v1/estimates?metric=system&all=linux"),
        *("/v1/estimates?metric=dark&candidate=x", "/v1/estimates?metric=dark&top=1000000"),
    ):
        yield Case(f"question {path[:45]}", form=None, path=path, method="GET", key="analyst")
