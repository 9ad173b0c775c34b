"""This file proves that domains of several facts take their own values, and never name what they refuse."""

import json
from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any

import numpy as np
import pytest

from hubbub.declaration import metric_of
from hubbub.domain import Domain
from hubbub.domains.choices import Choices
from hubbub.domains.key_value import KeyValue
from hubbub.domains.number import Number
from hubbub.domains.record import Record
from hubbub.domains.selection import Selection
from hubbub.errors import DomainError, ManifestError
from hubbub.manifest import Manifest
from hubbub_client.answering.absence import declared
from hubbub_client.answering.question import Question

SECRET = "s3ntinel"
TEN = Number.parse([0, 10])
FEATURES = Choices(("maps", "mail", "music"), 2)
DEVICE = Record.parse(
    {
        "dark": {"kind": "boolean"},
        "system": {"kind": "choice", "options": ["linux", "mac"]},
        "startup": {"kind": "number", "range": [0, 10]},
    }
)
MINUTES = KeyValue(("maps", "mail"), TEN, 1)
PREFETCH = Selection(("small", "large"))
TABLES: Mapping[str, dict[str, Any]] = {
    "choices": {"options": ["maps", "mail", "music"], "most": 2, "absent": ["music", "maps"]},
    "record": {
        "attributes": {name: domain.canonical for name, domain in DEVICE.attributes},
        "absent": {"startup": 12.5, "dark": False, "system": "mac"},
    },
    "key_value": {"keys": ["maps", "mail"], "range": [0, 10], "most": 1, "absent": {"mail": 2.5}},
    "selection": {"options": ["small", "large"], "absent": {"large": "0.75", "small": 0}},
}
ABSENT = {
    "choices": (("maps", "music"), (1, 0, 1)),
    "record": ((("dark", False), ("system", "mac"), ("startup", "10")), (0, 1, 10.0)),
    "key_value": ((("mail", "2.5"),), (np.nan, 2.5)),
    "selection": ((("small", "0"), ("large", "0.75")), (0.0, 0.75)),
}


@pytest.mark.parametrize(
    ("domain", "value", "encoded"),
    [
        (FEATURES, [], (0, 0, 0)),
        (FEATURES, {"music", "maps"}, (1, 0, 1)),
        (FEATURES, ("mail", "maps", "music"), (1, 1, 1)),
        (DEVICE, {"system": "mac", "startup": 2.5, "dark": True}, (1, 1, 2.5)),
        (MINUTES, {}, (np.nan, np.nan)),
        (MINUTES, {"mail": 99, "maps": -1}, (-1.0, 99.0)),
        (PREFETCH, {"large": 2, "small": 0.25}, (0.25, 2.0)),
    ],
)
def test_a_value_is_encoded_in_the_order_declared(domain: Domain, value: object, encoded: object) -> None:
    row = np.array([domain.encode(value)])

    assert row.tolist() == pytest.approx(np.array([encoded]), nan_ok=True)
    assert np.array([domain.encode(domain.plain(value))]).shape == row.shape


@pytest.mark.parametrize(
    ("domain", "value"),
    [
        *[
            (FEATURES, value)
            for value in ("maps", ["map"], ["maps", "maps"], [["maps"]], [1], None, {"maps": 1})
        ],
        *[(FEATURES, [SECRET]), (MINUTES, {SECRET: 5}), (DEVICE, {SECRET: 5}), (PREFETCH, {SECRET: 1})],
        *[(DEVICE, {}), (DEVICE, {"dark": True, "system": "mac"}), (DEVICE, [1, 1, 2.5]), (DEVICE, SECRET)],
        (DEVICE, {"dark": 1, "system": "mac", "startup": 2.5}),
        (DEVICE, {"dark": True, "system": SECRET, "startup": 2.5}),
        (DEVICE, {"dark": True, "system": "mac", "startup": SECRET}),
        (DEVICE, {"dark": True, "system": "mac", "startup": "2.5"}),
        (DEVICE, {"dark": True, "system": "mac", "startup": 2.5, "more": 1}),
        *[
            (MINUTES, value)
            for value in ({"maps": "5"}, {"maps": float("nan")}, {"maps": None}, {1: 5}, [1], 5)
        ],
        (MINUTES, [("maps", "5"), ("maps", "6")]),
        *[(PREFETCH, value) for value in ({"small": 1}, {"small": 1, "large": float("inf")}, [0, 1], None)],
    ],
)
def test_anything_else_is_refused_and_never_named(domain: Domain, value: object) -> None:
    with pytest.raises(DomainError) as caught:
        domain.encode(value)

    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("kind", TABLES)
def test_a_metric_of_several_facts_survives_json_with_its_id(kind: str) -> None:
    manifest = Manifest(
        app="notepad", serial=1, metrics=(metric_of("asked", {"kind": kind, "epsilon": "1", **TABLES[kind]}),)
    )

    read = Manifest.from_document(json.loads(json.dumps(manifest.document())))

    assert read == manifest
    assert read["asked"].id == manifest["asked"].id


@pytest.mark.parametrize("kind", TABLES)
def test_an_absent_value_of_several_facts_is_kept_encoded_and_told(kind: str) -> None:
    metric = metric_of("asked", {"kind": kind, "epsilon": "1", **TABLES[kind]}).of("notepad")
    plain, encoded = ABSENT[kind]

    (absent,) = declared([metric])

    assert metric.absent == plain
    assert np.array(absent.value) == pytest.approx(np.array(encoded), nan_ok=True)
    assert "is sent as if it was" in Question.of(metric).sentence()
    assert (
        len(Question.of(metric).report(absent.value, None)) == Question.of(metric).mechanism.layout.itemsize
    )


@pytest.mark.parametrize(
    ("table", "key", "problem"),
    [
        ({"kind": "choices", "options": ["a"]}, "options", "2 to 1024"),
        ({"kind": "choices", "options": list(map(str, range(1025)))}, "options", "2 to 1024"),
        ({"kind": "choices", "options": ["a", "b"], "most": 3}, "most", "from 1 to 2"),
        ({"kind": "choices", "options": ["a", "b"], "most": 0}, "most", "from 1 to 2"),
        ({"kind": "choices", "options": ["a", "b"], "most": True}, "most", "from 1 to 2"),
        ({"kind": "choices", "options": ["a", "b"], "absent": ["c"]}, "absent", "none of the 2 options"),
        ({"kind": "key_value", "keys": ["a", "b"], "most": 1}, "kind", "has no range"),
        ({"kind": "key_value", "keys": ["a", "b"], "range": [0, 1]}, "kind", "has no most"),
        ({"kind": "key_value", "keys": ["a"], "range": [0, 1], "most": 1}, "keys", "2 to 1024"),
        ({"kind": "key_value", "keys": ["a", "b"], "range": [1, 1], "most": 1}, "range", "must rise"),
        ({"kind": "selection", "options": "ab"}, "options", "must be a list"),
        ({"kind": "record", "attributes": {}}, "attributes", "2 to 16"),
        ({"kind": "record", "attributes": {"a": {"kind": "boolean"}}}, "attributes", "2 to 16"),
        ({"kind": "record", "attributes": 5}, "attributes", "table of tables"),
        ({"kind": "record", "attributes": {"a": 5}}, "attributes", "table of tables"),
        ({"kind": "record", "attributes": {"a": {}}}, "attributes", "attribute a has no kind"),
        ({"kind": "record", "attributes": {"a": {"kind": "record"}}}, "attributes", "must be one of boolean"),
        (
            {"kind": "record", "attributes": {"a": {"kind": "choice"}}},
            "attributes",
            "attribute a has no options",
        ),
        (
            {"kind": "record", "attributes": {"a": {"kind": "boolean", "k": 2}}},
            "attributes",
            "unknown key 'k'",
        ),
        (
            {"kind": "record", "attributes": {"a": {"kind": "number", "range": [1, 0]}}},
            "attributes",
            "attribute a: range must rise",
        ),
    ],
    ids=str,
)
def test_a_fault_in_a_table_names_its_key_and_what_is_allowed(
    table: dict[str, Any], key: str, problem: str
) -> None:
    with pytest.raises(ManifestError, match=problem) as caught:
        metric_of("asked", {"epsilon": "1", **table})

    assert caught.value.path == ("asked", key)


def test_the_order_of_attributes_is_part_of_the_id() -> None:
    x, y = ["x", {"kind": "boolean"}], ["y", {"kind": "boolean"}]

    ids = {
        metric_of("asked", {"kind": "record", "epsilon": "1", "attributes": order}).of("notepad").id
        for order in ([x, y], [y, x])
    }

    assert len(ids) == 2


def test_all_sets_of_options_are_listed_and_too_many_refused() -> None:
    many = Choices(tuple(map(str, range(17))), 3)

    listed = FEATURES.every()

    assert len(set(listed)) == 8
    with pytest.raises(DomainError, match="too many"):
        many.every()


def test_all_records_of_categories_are_listed_and_too_many_refused() -> None:
    pairs = {str(name): {"kind": "choice", "options": list("abcde")} for name in range(16)}

    listed = Record(DEVICE.attributes[:2]).every()

    assert listed == [(0, 0), (0, 1), (1, 0), (1, 1)]
    with pytest.raises(DomainError, match="too many"):
        Record.parse(pairs).every()
    with pytest.raises(DomainError, match="too many"):
        DEVICE.every()


def test_rows_are_called_what_people_call_them() -> None:
    titles = [DEVICE.title(row) for row in ("0:0", "0:1", "1:1", "2:mean", "2:sum")]

    assert titles == [None, "dark = yes", "system = mac", "startup: mean", None]
    assert [MINUTES.title(row) for row in ("0", "1:mean")] == ["maps", "mail: mean"]
    assert [FEATURES.title("2"), PREFETCH.title("0")] == ["music", "small"]


@pytest.mark.parametrize("nothing", [[], ()], ids=repr)
def test_an_empty_list_is_no_record(nothing: object) -> None:
    with pytest.raises(DomainError, match="value must be a mapping of names, got a value of type"):
        DEVICE.encode(nothing)


@pytest.mark.parametrize("pick", ["maps", SECRET])
def test_picks_without_end_are_refused_as_soon_as_one_is_wrong(pick: str) -> None:
    class Endless(list[str]):
        def __iter__(self) -> Iterator[str]:
            return repeat(pick)

    with pytest.raises(DomainError, match="pick"):
        FEATURES.encode(Endless())
