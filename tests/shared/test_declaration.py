"""This file proves that a metric says what a person wrote, and that a fault names its key and the way out."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from hubbub.declaration import (
    KEYS,
    boolean,
    choice,
    choices,
    key_value,
    metric_of,
    number,
    record,
    selection,
    text,
    vector,
)
from hubbub.domains.kinds import KINDS
from hubbub.errors import ManifestError
from hubbub.metric import Metric

GOOD: dict[str, dict[str, Any]] = {
    "boolean": {"kind": "boolean", "epsilon": "1"},
    "number": {"kind": "number", "range": [0, 10], "epsilon": "1"},
    "choice": {"kind": "choice", "options": ["a", "b"], "epsilon": "1"},
    "text": {"kind": "text", "length": 16, "epsilon": "1"},
}
BAD: list[tuple[str, str, Any, str]] = [
    ("boolean", "kind", "bool", "must be one of boolean, choice, number"),
    ("boolean", "kind", None, "must be one of boolean, choice, number"),
    ("boolean", "kind", ["boolean"], "must be one of boolean, choice, number"),
    ("boolean", "epsilon", 1.0, "write epsilon as a string"),
    ("boolean", "epsilon", "0", "from 0.001 to 20"),
    ("boolean", "epsilon", True, "string, integer or Decimal"),
    ("boolean", "range", [0, 1], 'range, which is for kind = "number" or "key_value" only'),
    (
        "boolean",
        "options",
        ["a", "b"],
        'options, which is for kind = "choice" or "choices" or "selection" only',
    ),
    (
        "number",
        "options",
        ["a", "b"],
        'options, which is for kind = "choice" or "choices" or "selection" only',
    ),
    ("choice", "range", [0, 1], 'range, which is for kind = "number" or "key_value" only'),
    ("number", "range", [10, 0], "must rise"),
    ("number", "range", 5, "must be a pair"),
    ("choice", "options", "ab", "must be a list"),
    ("choice", "options", ["a"], "2 to 65536"),
    ("boolean", "mechanism", "unheard_of", "not known to this version"),
    ("boolean", "mechanism", "laplace", "is for number, not for boolean"),
    ("number", "mechanism", "optimized_unary", "is for choice, not for number"),
    ("boolean", "mechanism", 5, "must be a string"),
    ("number", "parameters", {"steps": 0}, "from 1 to 1048576"),
    ("number", "parameters", {"steps": 1.5}, "from 1 to 1048576"),
    ("number", "parameters", {"steps": True}, "from 1 to 1048576"),
    ("number", "parameters", {"stops": 5}, "no parameter 'stops'"),
    ("boolean", "parameters", {"steps": 5}, "no parameter 'steps'"),
    ("number", "parameters", [], "must be a table"),
    ("boolean", "parameters", {1: 2}, "no parameter '1'"),
    ("boolean", "period", "2d", '"1d", "7d" or "28d"'),
    ("boolean", "period", 7, '"1d", "7d" or "28d"'),
    ("boolean", "labels", ["a"], "must be a table, or pairs"),
    ("boolean", "labels", "ab", "must be a table"),
    ("boolean", "labels", [["a"]], "must be a table, or pairs"),
    ("boolean", "labels", [[5, ["x", "y"]]], "must be a string"),
    ("boolean", "labels", [["a", ["x", "y"]]] * 2, "different names"),
    ("boolean", "labels", {"a": "b"}, "must be a list"),
    ("boolean", "labels", {"a": ["b"]}, "2 to 32"),
    ("boolean", "labels", {"a": list(map(str, range(33)))}, "2 to 32"),
    ("boolean", "labels", {name: ["x", "y"] for name in "abc"}, "at most 2"),
    ("boolean", "once", 1, "true or false"),
    ("boolean", "once", "yes", "true or false"),
    ("boolean", "changes", 1, "has no meaning"),
    ("boolean", "changes", -1, "0 or more"),
    ("boolean", "changes", True, "0 or more"),
    ("boolean", "absent", "no", "True or False"),
    ("boolean", "absent", 0, "True or False"),
    ("choice", "absent", "c", "none of the 2 options"),
    ("number", "absent", "none", "plain decimal"),
    ("number", "absent", "1e-50", "40 behind the point"),
    ("number", "absent", "1e40", "40 digits before"),
    ("number", "absent", True, "number"),
    ("boolean", "source", "Dark Mode", "must be a name"),
    ("boolean", "why", 5, "must be a string"),
    ("boolean", "why", "x" * 501, "at most 500"),
    ("boolean", "why", "\ud800", "lone surrogates"),
    *(
        ("boolean", "why", f"fine{character}", "control character")
        for character in "\x00\x1b\r\x85\u202e\u2066"
    ),
    ("boolean", "owner", "me\u200f", "direction of text"),
    ("text", "absent", "\u202eenif", "printable"),
    ("boolean", "owner", ["me"], "must be a string"),
    ("boolean", "expires", "soon", "a date like 2027-06-01"),
    ("boolean", "expires", datetime(2027, 6, 1, tzinfo=UTC), "a date like 2027-06-01"),
    ("boolean", "expires", 2027, "a date like 2027-06-01"),
    ("boolean", "eps", "1", "unknown key 'eps'"),
]


@pytest.mark.parametrize(("kind", "key", "value", "words"), BAD)
def test_a_fault_names_its_metric_its_key_and_what_is_allowed(
    kind: str, key: str, value: Any, words: str
) -> None:
    with pytest.raises(ManifestError) as caught:
        metric_of("dark", GOOD[kind] | {key: value})

    assert words in str(caught.value)
    assert 'metric "dark"' in str(caught.value)
    assert caught.value.path == ("dark", key)


@pytest.mark.parametrize(
    ("kind", "key"), [*((kind, "epsilon") for kind in GOOD), ("number", "range"), ("choice", "options")]
)
def test_what_is_missing_is_named_with_an_example(kind: str, key: str) -> None:
    table = {name: value for name, value in GOOD[kind].items() if name != key}

    with pytest.raises(ManifestError, match=f"has no {key}; add {key} = "):
        metric_of("dark", table)


def test_no_kind_at_all_is_said_first() -> None:
    with pytest.raises(ManifestError, match='has no kind; add kind = "boolean"'):
        metric_of("dark", {"epsilon": "1"})


@pytest.mark.parametrize(
    ("kind", "mechanism", "parameters"),
    [
        ("boolean", "randomized_response", ()),
        ("choice", "randomized_response", ()),
        ("number", "laplace", (("steps", 1024),)),
    ],
)
def test_defaults_are_filled_in(kind: str, mechanism: str, parameters: tuple[tuple[str, int], ...]) -> None:
    metric = metric_of("dark", GOOD[kind])

    assert (metric.mechanism, metric.parameters) == (mechanism, parameters)
    assert (metric.period, metric.once, metric.changes, metric.labels) == (7, False, 0, ())
    assert (metric.absent, metric.expires, metric.source) == (None, None, "dark")


ATTRIBUTES = {"dark": {"kind": "boolean"}, "seconds": {"kind": "number", "range": [0, 10]}}
IN_CODE: list[tuple[Metric, dict[str, Any]]] = [
    (boolean("asked", epsilon="1", why="x"), GOOD["boolean"] | {"why": "x"}),
    (number("asked", low=0, high="10.0", epsilon=1), GOOD["number"]),
    (choice("asked", options=("a", "b"), epsilon=1, once=True), GOOD["choice"] | {"once": True}),
    (choices("asked", options=("a", "b"), epsilon=1), {"kind": "choices", "options": ["a", "b"]}),
    (
        choices("asked", options=("a", "b"), most=1, epsilon=1, absent=[]),
        {"kind": "choices", "options": ["a", "b"], "most": 1, "absent": []},
    ),
    (record("asked", attributes=ATTRIBUTES, epsilon=1), {"kind": "record", "attributes": ATTRIBUTES}),
    (
        text("asked", length=8, epsilon=1, mechanism="hadamard_sketch"),
        {"kind": "text", "length": 8, "mechanism": "hadamard_sketch"},
    ),
    (
        key_value("asked", keys=("a", "b"), low=0, high=60, most=1, epsilon=1),
        {"kind": "key_value", "keys": ["a", "b"], "range": [0, 60], "most": 1},
    ),
    (
        vector("asked", size=3, norm="1", mechanism="gaussian", epsilon=1, delta="1e-9"),
        {"kind": "vector", "size": 3, "norm": 1, "mechanism": "gaussian", "delta": "1e-9"},
    ),
    (
        selection("asked", options=("a", "b"), epsilon=1, parameters={"steps": 4}),
        {"kind": "selection", "options": ["a", "b"], "parameters": {"steps": 4}},
    ),
]


@pytest.mark.parametrize(("metric", "table"), IN_CODE, ids=[metric.domain.kind for metric, _ in IN_CODE])
def test_code_and_table_make_the_same_metric(metric: Metric, table: dict[str, Any]) -> None:
    assert metric == metric_of("asked", {"epsilon": "1"} | table)


def test_every_kind_can_be_declared_in_code() -> None:
    assert {metric.domain.kind for metric, _ in IN_CODE} == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "absent", "plain"),
    [
        ("boolean", True, True),
        ("choice", "b", "b"),
        ("number", 2.50, "2.5"),
        ("number", 99, "10"),
        ("number", "3", "3"),
    ],
)
def test_what_an_absent_device_reports_is_a_value_of_the_domain(kind: str, absent: Any, plain: Any) -> None:
    metric = metric_of("dark", GOOD[kind] | {"absent": absent})

    assert metric.absent == plain


def test_every_key_can_be_written() -> None:
    table = {
        "kind": "number",
        "range": ["-1.5", 2],
        "epsilon": 3,
        "mechanism": "laplace",
        "parameters": {"steps": 64},
        "period": "28d",
        "labels": {"version": ["1", "2"], "platform": ["a", "b"]},
        "once": True,
        "changes": 0,
        "absent": 0,
        "source": "light",
        "why": "to know",
        "owner": "me",
        "expires": date(2027, 6, 1),
    }

    metric = metric_of("dark", table)

    of_other_kinds = {key for kind in KINDS.values() for key in kind.keys}
    assert set(table) | of_other_kinds | {"delta"} == set(KEYS)
    assert [label.name for label in metric.labels] == ["version", "platform"]
    assert (metric.period, metric.once, metric.source, metric.expires) == (
        28,
        True,
        "light",
        date(2027, 6, 1),
    )


@pytest.mark.parametrize("name", [5, None, b"dark", ("dark",), 1.5])
def test_a_name_that_is_no_text_is_refused(name: Any) -> None:
    with pytest.raises(ManifestError, match="name must be"):
        boolean(name, epsilon="1")


@pytest.mark.parametrize("make", [choice, choices, selection])
@pytest.mark.parametrize("options", [5, None, "ab", {"a": 1, "b": 2}])
def test_options_that_are_no_list_are_refused(make: Any, options: Any) -> None:
    with pytest.raises(ManifestError, match="must be a list"):
        make("system", options=options, epsilon="1")


def test_parameters_of_no_mechanism_are_refused() -> None:
    with pytest.raises(ManifestError, match='parameters beside mechanism = "best"; leave it out'):
        boolean("dark", epsilon="1", mechanism="best", parameters={"steps": 5})


def test_an_error_shows_a_hostile_name_and_does_not_obey_it() -> None:
    with pytest.raises(ManifestError) as caught:
        boolean("dark\x1b[2K\u202e", epsilon="1")

    assert str(caught.value).isprintable()
    assert "dark\\x1b[2K\\u202e" in str(caught.value)


def test_what_a_question_is_for_may_take_several_lines() -> None:
    why = "decide the default theme,\nand nothing else"

    assert boolean("dark", epsilon="1", why=why).why == why
