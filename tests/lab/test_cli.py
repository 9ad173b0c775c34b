"""This file proves what ``hubbub`` prints and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub import registry
from hubbub_lab.cli import command

MANIFEST = """\
format = 1
app = "notepad"
serial = 1

[metrics.dark]
kind = "boolean"
epsilon = "1.0"
absent = false
why = "decide the default theme"
owner = "ux@example.org"
expires = 2999-01-01

[metrics.seconds]
kind = "number"
range = [0, 10]
epsilon = "2"
absent = 0
why = "find slow starts"
owner = "ux@example.org"
expires = 2999-01-01
"""
BOASTFUL = registry.Entry("boastful", ("choice",), "tests.lab.faulty:boastful")


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "metrics.toml"
    file.write_text(MANIFEST)
    return file


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


def test_lint_of_a_sound_manifest_ends_with_0_and_says_what_a_device_spends(manifest: Path) -> None:
    result = run("lint", manifest)

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "errors: 0, warnings: 0, notes: 0"
    assert result.stdout.split("\nseconds")[1].split()[:6] == ["8", "8", "64", "64", "after", "224"]


def test_lint_of_a_wrong_manifest_ends_with_1_and_names_file_and_line(manifest: Path) -> None:
    manifest.write_text(MANIFEST.replace('epsilon = "2"', "epsilon = 2.0"))

    result = run("lint", manifest)

    assert result.exit_code == 1
    assert f"error: {manifest}, line 16: " in result.stdout
    assert result.stdout.splitlines()[-1] == "errors: at least 1; the rest can be judged once this is mended"


def test_lint_tells_the_first_error_of_every_metric_and_that_there_may_be_more(manifest: Path) -> None:
    wrong = MANIFEST.replace('epsilon = "2"', "epsilon = 2.0").replace('kind = "boolean"', 'kind = "bool"')
    manifest.write_text(wrong)

    result = run("lint", manifest)

    *_, last = result.stdout.splitlines()
    assert result.stdout.count("error: ") == 2
    assert last == "errors: at least 2; the rest can be judged once these are mended"


def test_a_missing_file_is_wrong_use() -> None:
    result = run("lint", "no-such-file.toml")

    assert result.exit_code == 2


def test_a_file_that_is_not_text_is_said(manifest: Path) -> None:
    manifest.write_bytes(b"\xff\xfe")

    result = run("simulate", manifest)

    assert result.exit_code == 1
    assert "can't be read" in result.stderr


def test_simulate_sets_truth_and_estimate_side_by_side(manifest: Path) -> None:
    result = run("simulate", manifest, "--people", 5000, "--seed", 3)

    heads = result.stdout.splitlines()[2].split("  ")
    assert result.exit_code == 0
    assert result.stdout.startswith("5,000 people made up from seed 3")
    assert "(aggregate: each sum is drawn from its exact law)" in result.stdout.splitlines()[0]
    assert {"truth", "estimate", "error"} <= {head.strip() for head in heads}
    assert [line.split()[:2] for line in result.stdout.splitlines()[4:-2]] == [
        ["dark", "yes"],
        *(["seconds", row] for row in ("mean", "sum", "variance")),
    ]
    missed = sum(line.endswith("no") for line in result.stdout.splitlines())
    assert result.stdout.endswith(
        f"\n\n{missed} of 4 intervals miss the truth; at 95 % about one in 20 does, by design\n"
    )


@pytest.mark.parametrize("mode", ["aggregate", "per-user"])
def test_simulate_records_seed_and_versions_and_repeats_to_the_byte(manifest: Path, mode: str) -> None:
    arguments = ("simulate", manifest, "--people", 100, "--mode", mode, "--format", "json")

    first, second = run(*arguments), run(*arguments)

    document = json.loads(first.stdout)
    assert first.stdout == second.stdout
    assert set(document) == {"hubbub", "numpy", "seed", "people", "metrics"}
    assert [metric["mode"] for metric in document["metrics"]] == [mode, mode]
    assert document["metrics"][0]["rows"][0]["holds"] in (True, False)


def test_simulate_asks_only_what_is_named_and_finds_the_same(manifest: Path) -> None:
    asked = ("simulate", manifest, "--people", 100, "--format", "json")

    whole, part = (json.loads(run(*asked, *more).stdout) for more in ((), ("--metric", "seconds")))

    assert part["metrics"] == whole["metrics"][1:]


def test_simulate_refuses_a_metric_that_is_not_there(manifest: Path) -> None:
    result = run("simulate", manifest, "--metric", "minutes")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "has no metric of that name" in result.stderr


def test_simulate_refuses_an_open_mechanism(manifest: Path) -> None:
    manifest.write_text(MANIFEST.replace('epsilon = "2"', 'epsilon = "2"\nmechanism = "best"'))

    result = run("simulate", manifest)

    assert result.exit_code == 1
    assert 'leaves its mechanism open ("best"); name one, or run hubbub plan FILE --write' in result.stderr


@pytest.mark.parametrize(
    "entries",
    [registry.ENTRIES[:2], pytest.param(registry.ENTRIES, marks=pytest.mark.torture)],
    ids=["two", "all"],
)
def test_an_audit_of_the_registry_ends_with_0(
    monkeypatch: pytest.MonkeyPatch, entries: tuple[registry.Entry, ...]
) -> None:
    monkeypatch.setattr(registry, "ENTRIES", entries)

    result = run("audit")

    assert result.exit_code == 0
    assert {line.split()[-1] for line in result.stdout.splitlines()[4:]} == {"ok"}


def test_an_audit_ends_with_1_if_a_mechanism_spends_more_than_it_claims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "ENTRIES", (BOASTFUL,))

    result = run("audit")

    assert result.exit_code == 1
    assert "spends more than it claims" in result.stdout


@pytest.mark.parametrize(
    ("entry", "code"), [(registry.ENTRIES[0], 0), (BOASTFUL, 1)], ids=["honest", "boastful"]
)
def test_the_attack_from_outside_ends_with_its_verdict(
    monkeypatch: pytest.MonkeyPatch, entry: registry.Entry, code: int
) -> None:
    monkeypatch.setattr(registry, "ENTRIES", (entry,))
    monkeypatch.setattr("hubbub_lab.cli.audits", lambda: ())

    result = run("audit", "--black-box", "--reports", 100_000)

    assert result.exit_code == code


def test_the_command_is_installed() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "hubbub_lab", "--help"], capture_output=True, text=True, check=True
    )

    assert {"lint", "simulate", "audit"} <= set(result.stdout.split())
