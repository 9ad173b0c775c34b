"""This file proves what the linter says about the mechanism of a metric."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from hubbub import registry
from hubbub.declaration import boolean, choice, metric_of, number
from hubbub.errors import DomainError
from hubbub.lint import lint
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.second_opinion import MUCH, opinions

HEAD = 'format = 1\napp = "notepad"\nserial = 1\n'


def test_a_much_better_mechanism_is_named_with_what_to_write() -> None:
    metric = choice("word", options=["a", "b", "c"], epsilon=2, mechanism="optimized_unary")
    ratio = OptimizedUnary("2", 3).stderr(1, frequency=1 / 3) / RandomizedResponse("2", 3).stderr(
        1, frequency=1 / 3
    )

    (opinion,) = opinions(metric)

    assert opinion == (
        "note",
        f"has {ratio:.3g} times the error of randomized_response",
        'write mechanism = "randomized_response"',
    )


@pytest.mark.parametrize("error", [MUCH * 0.999, MUCH])
def test_a_little_better_is_not_worth_a_word(monkeypatch: pytest.MonkeyPatch, error: float) -> None:
    monkeypatch.setattr(RandomizedResponse, "stderr", lambda *_, **__: error)
    monkeypatch.setattr(OptimizedUnary, "stderr", lambda *_, **__: 1.0)
    monkeypatch.setattr(
        registry, "ENTRIES", [registry.entry("randomized_response"), registry.entry("optimized_unary")]
    )

    found = list(opinions(choice("word", options=["a", "b"], epsilon=1)))

    assert bool(found) is (error >= MUCH)


def test_the_best_mechanism_has_nothing_said_about_it() -> None:
    assert list(opinions(boolean("dark", epsilon=1))) == []


@pytest.mark.parametrize(("epsilon", "is_said"), [("1", False), ("4", False), ("5", True)])
def test_a_better_mechanism_that_tells_less_is_worth_a_word_from_twice_the_error(
    epsilon: str, *, is_said: bool
) -> None:
    found = list(opinions(number("seconds", low=0, high=10, epsilon=epsilon)))

    assert [
        problem.endswith(" the error of integer_table, though it tells no variance")
        for _, problem, _ in found
    ] == [True] * is_said


@pytest.mark.parametrize("file", sorted((Path(__file__).parents[2] / "examples").glob("*.toml")), ids=str)
def test_no_mechanism_of_our_examples_is_much_worse_than_another(file: Path) -> None:
    findings = lint(file.read_text("utf-8"), today=date(2026, 12, 1)).findings

    assert [finding for finding in findings if "times the error" in finding.problem] == []


@pytest.mark.parametrize(
    "table",
    [
        {"kind": "text", "length": 16, "mechanism": "prefix_extension"},
        {"kind": "number", "range": [0, 1], "mechanism": "hierarchical_histogram"},
    ],
    ids=["texts", "quantiles"],
)
def test_a_mechanism_that_was_named_for_what_it_tells_is_left_alone(table: dict[str, object]) -> None:
    assert [
        found for found in opinions(metric_of("asked", table | {"epsilon": 1})) if found[0] == "note"
    ] == []


@pytest.mark.parametrize(
    "kind", [entry.kind for entry in registry.ENTRIES if entry.remembers and "choice" in entry.domains]
)
@pytest.mark.parametrize("changes", [0, 2])
def test_a_permanent_answer_is_no_fault(kind: str, changes: int) -> None:
    table = {"kind": "choice", "options": ["a", "b"], "epsilon": 2, "mechanism": kind, "changes": changes}
    given = {"parameters": {"first": 1}} if kind != "dbitflip" else {}

    found = list(opinions(metric_of("word", table | given)))

    assert found == []


def test_a_mechanism_that_is_not_exact_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RandomizedResponse, "exact", False)

    ((severity, problem, _),) = opinions(boolean("dark", epsilon=1))

    assert (severity, "not for floats" in problem) == ("error", True)


@pytest.mark.parametrize(("others", "severity"), [(2, "warning"), (1, "note")])
def test_a_mechanism_that_is_not_unbiased_is_warned_of_if_another_one_is(
    monkeypatch: pytest.MonkeyPatch, others: int, severity: str
) -> None:
    monkeypatch.setattr(RandomizedResponse, "unbiased", False)
    monkeypatch.setattr(registry, "ENTRIES", registry.ENTRIES[:others])

    (found,) = opinions(choice("word", options=["a", "b"], epsilon=1))

    assert (found[0], "not all unbiased" in found[1]) == (severity, True)
    assert ("optimized_unary" in found[2]) is (severity == "warning")


def test_a_mechanism_that_is_not_unbiased_is_noted_where_nothing_else_answers() -> None:
    table = {"kind": "key_value", "keys": ["a", "b"], "range": [0, 60], "most": 1, "epsilon": 1}

    ((severity, problem, remedy),) = opinions(metric_of("minutes", table))

    assert (severity, "not all unbiased" in problem, remedy) == ("note", True, "")


def test_a_mechanism_that_cannot_be_built_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise DomainError("k must be odd")

    monkeypatch.setattr(RandomizedResponse, "__init__", refuse)

    assert list(opinions(boolean("dark", epsilon=1))) == [
        ("error", "can't be asked by randomized_response: k must be odd", "name another mechanism")
    ]


def test_an_opinion_is_found_at_the_line_of_the_mechanism() -> None:
    table = (
        '[metrics.word]\nkind = "choice"\noptions = ["a", "b"]\nepsilon = 1\nmechanism = "optimized_unary"\n'
    )

    findings = lint(HEAD + table, today=date(2027, 1, 1)).findings

    assert [finding.where for finding in findings if finding.severity == "note"] == ["manifest, line 8"]


@pytest.mark.parametrize(
    ("absent", "is_said"), [("10", False), ("10.0", False), ("10.5", True), ("-1", True)]
)
def test_an_absent_outside_the_range_is_said(absent: str, *, is_said: bool) -> None:
    text = f'{HEAD}[metrics.seconds]\nkind = "number"\nrange = [0, 10]\nepsilon = 1\nabsent = {absent}\n'

    findings = lint(text, today=date(2027, 1, 1)).findings

    assert any("absent outside its range" in finding.problem for finding in findings) is is_said


@pytest.mark.parametrize("text", [HEAD, f"{HEAD}[metrics]\n"])
def test_a_manifest_that_asks_nothing_is_said(text: str) -> None:
    (finding,) = lint(text, today=date(2027, 1, 1)).findings

    assert str(finding) == "warning: manifest: asks nothing; add a table like [metrics.uses_dark_mode]"


def test_importing_the_linter_costs_no_numpy() -> None:
    script = "import sys, hubbub.lint; sys.exit('numpy' in sys.modules)"

    subprocess.run([sys.executable, "-c", script], check=True)
