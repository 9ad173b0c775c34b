"""This file proves what the operator's command prints, refuses, and ends with."""

import csv
import io
import json
import re
import sqlite3
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.lint import lint
from hubbub_server.analysis.formats import harmless
from hubbub_server.app import create_app
from hubbub_server.commands.cli import command
from hubbub_server.config import load
from tests.server.process import SERVER
from tests.server.site import MANIFEST, NOW, batch, encode, seconds, system

ROOT = Path(__file__).parents[2]
ODD = MANIFEST.replace('["linux", "mac", "other"]', '["=1+1", "@sum", "-5"]')


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, list(map(str, arguments)))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A collector that was just set up, with the manifest in force."""
    assert run("init", "--dir", tmp_path / "new").exit_code == 0
    (tmp_path / "metrics.toml").write_text(MANIFEST)
    file = tmp_path / "new" / "hubbub.toml"
    assert run("publish", "--config", file, tmp_path / "metrics.toml").exit_code == 0
    return file


def test_init_writes_settings_and_a_database_and_prints_one_key_of_each_kind(tmp_path: Path) -> None:
    done = run("init", "--dir", tmp_path / "a" / "b")

    keys = re.findall(r"^(\w+) +(hb_\1_[0-9a-f]{8}_[0-9a-f]{40})$", done.output, re.MULTILINE)
    assert done.exit_code == 0
    assert [kind for kind, _ in keys] == ["ingest", "analyst", "admin"]
    database = tmp_path / "a" / "b" / "hubbub.sqlite3"
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    assert load(database.parent / "hubbub.toml", {}, {}).database == database


def test_what_init_writes_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    run("init", "--dir", tmp_path)

    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_a_database_that_is_not_there_is_not_made_by_another_command(config: Path) -> None:
    (config.parent / "hubbub.sqlite3").unlink()

    result = run("keys", "list", "--config", config)

    assert result.exit_code == 2
    assert "hubbub-server restore FILE" in result.stderr
    assert "run hubbub-server init where there is no hubbub.toml" in result.stderr
    assert not (config.parent / "hubbub.sqlite3").exists()


@pytest.mark.parametrize("words", [("serve", "--port", 0), ("keys", "list")])
def test_an_empty_file_is_not_taken_for_a_database(config: Path, words: tuple[object, ...]) -> None:
    (config.parent / "hubbub.sqlite3").write_bytes(b"")

    result = run(*words, "--config", config)

    assert result.exit_code == 2
    assert "hubbub-server restore FILE" in result.stderr
    assert not (config.parent / "hubbub.sqlite3").stat().st_size


def test_a_collector_that_nobody_has_a_key_for_does_not_start(config: Path) -> None:
    with sqlite3.connect(config.parent / "hubbub.sqlite3") as connection:
        connection.execute("DELETE FROM key")
    connection.close()
    serve = [*SERVER, "serve", "--port", "0", "--config", str(config)]

    done = subprocess.run(serve, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert "make some first: hubbub-server keys add ingest" in done.stderr


def test_a_log_in_json_is_all_that_a_collector_writes(config: Path) -> None:
    arguments = [*SERVER, "serve", "--config", str(config), "--port", "0", "--log", "json"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        first = json.loads(running.stderr.readline())
        running.terminate()
        printed, _ = running.communicate(timeout=30)

    assert (first["event"], first["url"].startswith("http://"), printed) == ("started", True, "")


def test_an_export_that_finds_no_room_names_the_file(config: Path, tmp_path: Path) -> None:
    (tmp_path / "dark.csv.unfinished").symlink_to("/dev/full")

    done = run("export", "dark", "--config", config, "--output", tmp_path / "dark.csv")

    assert done.exit_code == 1
    assert done.stderr == f"hubbub-server: {tmp_path / 'dark.csv'}: No space left on device\n"


def test_a_whole_key_is_revoked_and_not_repeated(config: Path) -> None:
    key = run("keys", "add", "ingest", "--config", config).stdout.strip()

    results = [run("keys", "revoke", key, "--config", config) for _ in range(2)]

    assert [result.exit_code for result in results] == [0, 1]
    assert all(key not in result.output + result.stderr for result in results)


def test_init_changes_nothing_that_is_there(tmp_path: Path) -> None:
    run("init", "--dir", tmp_path)
    before = (tmp_path / "hubbub.sqlite3").read_bytes()

    done = run("init", "--dir", tmp_path)

    assert (done.exit_code, done.stdout) == (1, "")
    assert "exists already; nothing was changed" in done.stderr
    assert "hubbub-server restore FILE" in done.stderr
    assert (tmp_path / "hubbub.sqlite3").read_bytes() == before


@pytest.mark.parametrize("where", ["postgresql://127.0.0.1:1/hubbub", "metrics.toml"])
def test_init_that_failed_leaves_nothing_in_the_way_of_the_next(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "metrics.toml").write_text(MANIFEST)
    monkeypatch.setenv("HUBBUB_SERVER_DATABASE", str(tmp_path / where) if "://" not in where else where)
    failed = run("init", "--dir", tmp_path)
    left = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.delenv("HUBBUB_SERVER_DATABASE")

    again = run("init", "--dir", tmp_path)

    assert (failed.exit_code, failed.stdout, left) == (1, "", ["metrics.toml"])
    assert (again.exit_code, again.stdout.count("hb_")) == (0, 3)


def test_init_on_a_database_that_has_keys_makes_no_more(tmp_path: Path) -> None:
    run("init", "--dir", tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "hubbub.sqlite3").rename(tmp_path / "two" / "hubbub.sqlite3")

    done = run("init", "--dir", tmp_path / "two")

    listed = run("keys", "list", "--config", tmp_path / "two" / "hubbub.toml").stdout
    assert (done.exit_code, "hb_" in done.stdout, "has keys already" in done.stdout) == (0, False, True)
    assert listed.count("made by init") == 3


def test_publish_prints_what_changed_and_what_is_in_force(config: Path, tmp_path: Path) -> None:
    again = run("publish", "--config", config, tmp_path / "metrics.toml")
    (tmp_path / "metrics.toml").write_text(
        MANIFEST.replace('"2"', '"2.5"').replace("serial = 1", "serial = 2")
    )

    changed = run("publish", "--config", config, tmp_path / "metrics.toml")

    assert again.stdout == "notepad serial 1 is in force\n"
    assert changed.stdout == (
        '- system.epsilon = "2"\n+ system.epsilon = "2.5"\nnotepad serial 2 is in force\n'
    )


def test_publish_and_metrics_say_which_metrics_are_dropped_and_still_taken(
    config: Path, tmp_path: Path
) -> None:
    later = re.sub(r"serial = 1.*?\[metrics.dark\]", "serial = 2\n[metrics.light]", MANIFEST, flags=re.DOTALL)
    (tmp_path / "metrics.toml").write_text(later.replace('epsilon = "2"', 'epsilon = "2.5"'))

    dropping, again = (run("publish", "--config", config, tmp_path / "metrics.toml") for _ in range(2))

    told = "dropped, but still taken from devices whose app has an older manifest: dark"
    assert dropping.stdout.splitlines()[-2:] == [told, "notepad serial 2 is in force"]
    assert again.stdout.splitlines() == [told, "notepad serial 2 is in force"]
    listed = [line.split() for line in run("metrics", "--config", config).stdout.splitlines()[2:]]
    assert {(line[0], line[4], line[-2]) for line in listed} == {
        ("notepad/dark", "1", "dropped"),
        ("notepad/light", "1", "yes"),
        ("notepad/seconds", "1", "yes"),
        ("notepad/system", "2", "replaced"),
        ("notepad/system", "2.5", "yes"),
    }


def test_publish_warns_of_what_lint_finds_and_refuses_nothing_for_it(config: Path, tmp_path: Path) -> None:
    text = MANIFEST.replace("serial = 1", "serial = 2").replace('epsilon = "2"', 'epsilon = "5"\nwhy = "?"')
    (tmp_path / "metrics.toml").write_text(text)

    done = run("publish", "--config", config, tmp_path / "metrics.toml")

    linted = lint(text, where=str(tmp_path / "metrics.toml"), today=datetime.now(UTC).date())
    severities = {line.partition(":")[0] for line in done.stderr.splitlines()}
    assert done.exit_code == 0
    assert severities == {"warning", "error"}
    assert set(done.stderr.splitlines()) < set(map(str, linted.findings))


def test_publish_refuses_a_change_under_the_same_serial_and_shows_it(config: Path, tmp_path: Path) -> None:
    (tmp_path / "metrics.toml").write_text(MANIFEST.replace('"2"', '"2.5"'))

    done = run("publish", "--config", config, tmp_path / "metrics.toml")

    assert (done.exit_code, done.stdout) == (1, "")
    assert "raise it to 2" in done.stderr
    assert '- system.epsilon = "2"\n+ system.epsilon = "2.5"\n' in done.stderr


def test_publish_names_the_line_of_a_fault(config: Path, tmp_path: Path) -> None:
    (tmp_path / "metrics.toml").write_text(MANIFEST.replace('epsilon = "2"', "epsilon = 2.0"))

    done = run("publish", "--config", config, tmp_path / "metrics.toml")

    assert done.exit_code == 1
    assert "metrics.toml, line 19: " in done.stderr
    assert "write epsilon as a string" in done.stderr


def test_keys_are_added_listed_and_revoked(config: Path) -> None:
    key = run("keys", "add", "analyst", "--note", "for Ada", "--config", config).output.strip()
    number = key.split("_")[2]

    listed = run("keys", "list", "--config", config).output
    revoked = run("keys", "revoke", number, "--config", config)
    again = run("keys", "revoke", number, "--config", config)

    assert re.search(rf"^{number} +analyst +- +- +- +for Ada$", listed, re.MULTILINE)
    assert key.split("_")[3] not in listed
    assert (revoked.exit_code, again.exit_code) == (0, 1)
    assert re.search(
        rf"^{number} .*20\d\d-\d\d-\d\d", run("keys", "list", "--config", config).output, re.MULTILINE
    )


def test_a_key_is_rotated_and_its_successor_printed_alone(config: Path) -> None:
    number = run("keys", "add", "ingest", "--note", "phones", "--config", config).output.split("_")[2]

    done = run("keys", "rotate", number, "--days", "7", "--config", config)
    again = run("keys", "rotate", number, "--config", config)
    unknown = run("keys", "rotate", "00000000", "--config", config)

    expires = (datetime.now(UTC).date() + timedelta(days=7)).isoformat()
    assert re.fullmatch(r"hb_ingest_[0-9a-f]{8}_[0-9a-f]{40}\n", done.stdout)
    assert done.stderr == f"{number} is out of use from {expires} on\n"
    assert re.search(
        rf"^{number} +ingest +- +{expires} +- +phones$",
        run("keys", "list", "--config", config).output,
        re.MULTILINE,
    )
    assert (again.exit_code, unknown.exit_code) == (1, 1)
    assert "make one more with keys add, or end it at once with keys revoke" in again.stderr


def test_estimates_are_printed_as_a_table_by_default(config: Path) -> None:
    fill(config)

    done = run("estimate", "seconds", "--by", "label", "--config", config)

    assert done.exit_code == 0
    assert re.search(r"^version 1\.1: seconds: 3 reports by laplace, epsilon 1", done.output, re.MULTILINE)
    assert re.search(r"^mean ", done.output, re.MULTILINE)


def test_estimates_are_printed_as_json(config: Path) -> None:
    fill(config)

    done = run("estimate", "system", "--format", "json", "--by", "period", "--config", config)

    (group,) = json.loads(done.output)["groups"]
    assert (group["start"], group["answer"]["n"]) == ("2027-01-04", 2)


def test_csv_holds_every_number_and_no_formula(config: Path, tmp_path: Path) -> None:
    (tmp_path / "metrics.toml").write_text(ODD.replace("serial = 1", "serial = 2"))
    run("publish", "--config", config, tmp_path / "metrics.toml")

    done = run("estimate", "system", "--format", "csv", "--config", config)

    rows = list(csv.DictReader(io.StringIO(done.output)))
    assert [row["name"] for row in rows] == ["'=1+1", "'@sum", "'-5"]
    assert all(row["n"] == "0" and row["value"] == "" for row in rows)
    assert set(rows[0]) >= {"metric", "epsilon", "respondents_stderr", "population_low", "population_high"}


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", "\uff1d1", "a;=1", "a; -1", " =1"])
def test_whatever_a_spreadsheet_would_run_has_a_quote_before_it(text: str) -> None:
    quoted = harmless(text)

    assert quoted.count("'") == 1
    assert quoted.replace("'", "") == text
    assert re.search("(^|;)'", quoted)


@pytest.mark.parametrize("text", ["linux", "a-b", "a, =b", "C-x; C-s", "1;2", ""])
def test_a_text_that_is_no_formula_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        (
            ["estimate", "light"],
            1,
            "no metric of this id or name is published here; hubbub-server metrics lists",
        ),
        (["estimate", "dark", "--view", "norm-sub"], 1, "norm-sub is for a choice"),
        (["estimate", "dark", "--level", "2"], 1, "from 0.5 to 0.9999"),
        (["estimate", "dark", "--from", "soon"], 1, "a date like 2027-06-01"),
        (["estimate", "dark", "--by", "week"], 2, "Invalid value"),
        (["keys", "add", "root"], 2, "Invalid value"),
        (["publish", "no-such-file.toml"], 2, "does not exist"),
        (["serve", "--port", "65536"], 2, "--port must be a whole number from 0 to 65535"),
        (["serve", "--port", "http"], 2, "--port must be a whole number from 0 to 65535"),
        (["collect"], 2, "No such command"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_with_an_exit_code(
    config: Path, arguments: list[str], exit_code: int, words: str
) -> None:
    options = ["--config", str(config)] if arguments[0] != "collect" else []

    done = run(*arguments, *options)

    assert (done.exit_code, done.stdout) == (exit_code, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_without_settings_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    done = run("keys", "list")

    assert done.exit_code == 2
    assert f"there is no {tmp_path / 'hubbub.toml'}" in done.stderr
    assert "--config FILE" in done.stderr
    assert "run hubbub-server init" in done.stderr


def test_the_database_can_be_looked_into_with_sqlite_utils(config: Path) -> None:
    import sqlite_utils  # noqa: PLC0415 - it loads pandas where that is installed

    fill(config)

    database = sqlite_utils.Database(config.parent / "hubbub.sqlite3")

    counts = {table.name: table.count for table in database.tables}
    database.close()
    assert counts == {
        "batch": 1,
        "cell": 2,
        "folded": 0,
        "key": 4,
        "manifest": 1,
        "metric": 3,
        "noted": 0,
        "reports": 2,
    }


def fill(config: Path) -> None:
    """Send one batch to the collector of a configuration."""
    app = create_app(load(config, {}, {}), clock=lambda: NOW)
    key = run("keys", "add", "ingest", "--config", config).output.strip()
    data = encode(batch(seconds([5, 6, 7], label=1), system([1, 2])))
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/vnd.hubbub.batch"}
    answer = app.test_client().post("/v1/batches", data=data, headers=headers)
    app.extensions["hubbub"].close()
    revoked = run("keys", "revoke", key.split("_")[2], "--config", config)
    assert (answer.status_code, revoked.exit_code) == (200, 0)


@pytest.mark.parametrize("directory", ["/proc/nope", "a file", "a file/below"])
def test_init_where_nothing_can_be_written_says_so_in_a_line(tmp_path: Path, directory: str) -> None:
    (tmp_path / "a file").touch()

    done = CliRunner().invoke(command, ["init", "--dir", str(tmp_path / directory)])

    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert directory in done.stderr


@pytest.mark.parametrize("name", command.commands)
def test_every_command_stands_in_the_guide(name: str) -> None:
    guide = (ROOT / "docs" / "guide-operators.md").read_text()

    assert re.search(rf"hubbub-server {name}\b", guide)


def test_a_table_for_programs_has_its_columns_without_reports(config: Path) -> None:
    alone = run("estimate", "seconds", "--format", "csv", "--config", config).stdout.splitlines()
    empty = run(
        "estimate", "seconds", "--by", "label", "--format", "csv", "--config", config
    ).stdout.splitlines()

    assert len(empty) == 1
    assert set(alone[0].split(",")) < set(empty[0].split(","))
    assert "label_version" in empty[0].split(",")


def test_a_span_whose_ends_are_swapped_is_refused(config: Path) -> None:
    done = run("estimate", "dark", "--from", "2027-01-01", "--to", "2026-01-01", "--config", config)

    assert (done.exit_code, done.stdout) == (1, "")
    assert "a span ends after it begins; swap the two" in done.stderr
