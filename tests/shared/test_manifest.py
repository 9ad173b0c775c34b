"""This file proves that a manifest reads what people write, names faulty lines, and comes back."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hubbub.declaration import boolean, choice, metric_of, number
from hubbub.errors import DomainError, ManifestError
from hubbub.manifest import MOST_METRICS, Manifest

HEAD = 'format = 1\napp = "notepad"\nserial = 3\n\n'
WHOLE = (
    HEAD
    + """\
[metrics.dark]
kind = "boolean"
epsilon = "1.0"
absent = false
why = "decide"

[metrics.seconds]
kind = "number"
range = [0, 10]
epsilon = "1.0"
labels.version = ["1.0", "1.1", "other"]
labels.channel = ["stable", "beta"]
absent = 2.5
expires = 2027-06-01

[metrics."system"]
kind = "choice"
options = [
  "linux",
  "mac",
]
epsilon = 2
once = true

[metrics.system.parameters]
"""
)
names = some.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True)
texts = some.text(
    some.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=9
).filter(lambda text: text.isprintable() and unicodedata.normalize("NFC", text) == text)
lists = some.lists(texts, min_size=2, max_size=5, unique=True)
remarks = some.fixed_dictionaries(
    {
        "epsilon": some.integers(1000, 20_000_000).map(lambda micro: f"{micro / 1_000_000:.6f}"),
        "period": some.sampled_from(["1d", "7d", "28d"]),
        "once": some.booleans(),
        "labels": some.dictionaries(names, lists, max_size=2),
        "why": some.text(some.characters(exclude_categories=("C", "Z")), max_size=20),
    }
)


@some.composite
def tables(draw: some.DrawFn) -> dict[str, Any]:
    """Draw the table of any metric."""
    kind = draw(some.sampled_from(["boolean", "number", "choice"]))
    table = draw(remarks) | {"kind": kind}
    if kind == "choice":
        table["options"] = draw(lists)
        table["absent"] = draw(some.sampled_from(table["options"]))
    if kind == "number":
        table["range"] = sorted(
            draw(some.lists(some.integers(-1000, 1000), min_size=2, max_size=2, unique=True))
        )
        table["absent"] = draw(some.decimals(-1000, 1000, places=6).map(float))
    return table


@given(some.dictionaries(names, tables(), max_size=4), some.integers(1, 2**31 - 1))
def test_every_manifest_comes_back_from_its_document(found: dict[str, Any], serial: int) -> None:
    manifest = Manifest(app="notepad", serial=serial, metrics=tuple(map(metric_of, found, found.values())))

    again = Manifest.from_document(json.loads(json.dumps(manifest.document())))

    assert again == manifest
    assert [metric.id for metric in again.metrics] == [metric.id for metric in manifest.metrics]


def test_a_manifest_says_what_was_written() -> None:
    manifest = Manifest.from_toml(WHOLE)

    assert (manifest.app, manifest.serial) == ("notepad", 3)
    assert manifest.metrics == tuple(
        metric.of("notepad")
        for metric in (
            boolean("dark", epsilon=1, absent=False, why="decide"),
            number(
                "seconds",
                low=0,
                high=10,
                epsilon=1,
                labels={"version": ["1.0", "1.1", "other"], "channel": ["stable", "beta"]},
                absent="2.5",
                expires="2027-06-01",
            ),
            choice("system", options=["linux", "mac"], epsilon=2, once=True),
        )
    )
    assert manifest["dark"].absent is False


FAULTS: dict[str, tuple[str, str, int]] = {
    "a float epsilon": ('epsilon = "1.0"\nabsent', "epsilon = 1.0\nabsent", 7),
    "an unknown key": ('why = "decide"', 'wyh = "decide"', 9),
    "a bad range": ("range = [0, 10]", "range = [10, 0]", 13),
    "a bad label": ('labels.version = ["1.0", "1.1", "other"]', 'labels.version = ["1.0"]', 15),
    "a bad date": ("expires = 2027-06-01", 'expires = "soon"', 18),
    "a bad option": ('  "mac",', '  "linux",', 22),
    "a bad period": ("once = true", 'period = "8d"', 27),
    "a bad serial": ("serial = 3", "serial = 0", 3),
    "a bad app": ('app = "notepad"', 'app = "Note Pad"', 2),
    "another format": ("format = 1", "format = 2", 1),
    "an unknown table": ("serial = 3", 'serial = 3\ncolour = "red"', 4),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_found_at_its_line(what: str) -> None:
    before, after, line = FAULTS[what]
    assert before in WHOLE

    with pytest.raises(ManifestError) as caught:
        Manifest.from_toml(WHOLE.replace(before, after, 1), where="metrics.toml")

    assert str(caught.value).startswith(f"metrics.toml, line {line}: ")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "format = 1",
            'app = "notepad"',
            HEAD + "[metrics]\ndark = 5",
            HEAD + "metrics = 5",
            "\0",
            "[",
            "a = 1\na = 2",
        ),
        *(
            HEAD + "[metrics.dark]",
            HEAD + "[[metrics]]",
            HEAD + '[metrics.""]\nkind = "boolean"\nepsilon = 1',
        ),
        *(
            "format = true\n" + HEAD[11:],
            "format = 1.0\n" + HEAD[11:],
            f"format = {'9' * 5_000}\n" + HEAD[11:],
            HEAD.replace("3", "true"),
            HEAD.replace("3", "3.0"),
            "x = " + "[" * 5000,
        ),
    ],
)
def test_what_is_no_manifest_is_refused(text: str) -> None:
    with pytest.raises(ManifestError):
        Manifest.from_toml(text)


@pytest.mark.parametrize("document", [None, [], 5, "x", {}, {"format": 1}, {1: 2}])
def test_what_is_no_document_is_refused(document: object) -> None:
    with pytest.raises(ManifestError):
        Manifest.from_document(document)


@pytest.mark.parametrize("app", ["", ".", "a.", "-a", "A", "a/b", "a b", "..", "é", "a" * 65, "a\n", None, 5])
def test_an_app_is_a_name_that_paths_can_hold(app: Any) -> None:
    with pytest.raises(ManifestError, match="app must be"):
        Manifest(app=app, serial=1, metrics=())


@pytest.mark.parametrize("serial", [0, -1, 2**31, True, "1", 1.0, None])
def test_a_serial_is_a_whole_number_from_one(serial: Any) -> None:
    with pytest.raises(ManifestError, match="serial must be"):
        Manifest(app="notepad", serial=serial, metrics=())


def test_a_name_stands_once() -> None:
    with pytest.raises(ManifestError, match='"dark" is declared twice'):
        Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon=1), boolean("dark", epsilon=2)))


def test_a_manifest_has_a_bounded_number_of_metrics() -> None:
    metrics = tuple(boolean(f"m{number}", epsilon=1) for number in range(MOST_METRICS + 1))

    assert len(Manifest(app="notepad", serial=1, metrics=metrics[1:]).metrics) == MOST_METRICS
    with pytest.raises(ManifestError, match="at most"):
        Manifest(app="notepad", serial=1, metrics=metrics)


def test_open_mechanisms_are_listed() -> None:
    metrics = (boolean("a", epsilon=1, mechanism="best"), boolean("b", epsilon=1))

    assert Manifest(app="notepad", serial=1, metrics=metrics).unresolved == ("a",)


def test_a_metric_that_is_not_there_is_said() -> None:
    with pytest.raises(DomainError, match="has no metric of that name; it has "):
        _ = Manifest.from_toml(WHOLE)["light"]
