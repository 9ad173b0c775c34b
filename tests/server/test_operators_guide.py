"""This file holds the operators' guide to what a collector does: figures, alerts, units, a line of curl."""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click import Command
from markdown_it import MarkdownIt
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

from hubbub.errors import StorageFullError
from hubbub.period import period_at
from hubbub_server.api.table import TABLE
from hubbub_server.commands.cli import command
from hubbub_server.store.sqlite.batches import SqliteBatches
from tests.server.process import Served, run, set_up
from tests.server.site import Site, batch
from tests.server.waiting import wait_until

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide-operators.md").read_text("utf-8")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
Samples = dict[str, list[dict[str, str]]]  # the labels of each figure, by name


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    tokens = MarkdownIt("commonmark").parse(page)
    return [token.content for token in tokens if token.type == "fence" and token.info == language]


def yaml(begins: str) -> Any:
    (block,) = [block for block in blocks(GUIDE, "yaml") if block.startswith(begins)]
    return YAML(typ="safe").load(block)


RULES = yaml("groups:")["groups"][0]["rules"]
(SCRAPED,) = yaml("scrape_configs:")["scrape_configs"]
UNITS = {
    Path(block.splitlines()[0].removeprefix("# ")).name: block
    for block in blocks(GUIDE, "ini")
    if block.startswith("# /etc/systemd/system/")
}


def seconds(text: str) -> int:
    return int(text[:-1]) * SECONDS[text[-1]]


@pytest.fixture
def samples(home: Site, monkeypatch: pytest.MonkeyPatch) -> Samples:
    """The figures of a collector that kept a batch and failed to keep another."""

    def no_room(*_: object) -> None:
        raise StorageFullError("no room")

    home.post(batch())
    monkeypatch.setattr(SqliteBatches, "commit", no_room)
    home.post(batch())
    found: Samples = {"up": [{"job": SCRAPED["job_name"]}]}
    answer = home.client.get(SCRAPED["metrics_path"], headers=home.bearer("analyst"))
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


def selectors(expression: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the figures of an expression, each with a pattern for each label that is asked for."""
    for name, within in re.findall(r"\b(up|hubbub_\w+)(?:\{(.*?)\})?", expression):
        asked = re.findall(r'(\w+)(=~?)"(.*?)"', within)
        yield name, {label: text if how == "=~" else re.escape(text) for label, how, text in asked}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_is_about_figures_and_labels_that_there_are(rule: dict[str, str], samples: Samples) -> None:
    asked = list(selectors(rule["expr"]))

    matched = [
        any(
            all(re.fullmatch(pattern, labels.get(label, "")) for label, pattern in patterns.items())
            for labels in samples.get(name, [])
        )
        for name, patterns in asked
    ]
    assert matched == [True] * len(asked) != []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_looks_back_over_several_readings(rule: dict[str, str]) -> None:
    interval = seconds(SCRAPED["scrape_interval"])
    spans = [*re.findall(r"\[(\w+)\]", rule["expr"]), *filter(None, [rule.get("for")])]

    assert spans
    assert min(map(seconds, spans)) >= 2 * interval
    assert interval < 300  # after which Prometheus forgets a figure


def test_prometheus_reads_where_operations_answer() -> None:
    (target,) = SCRAPED["static_configs"][0]["targets"]

    assert ("GET", SCRAPED["metrics_path"]) in {(route.method, route.path) for route in TABLE}
    assert f"`operations_port = {target.partition(':')[2]}`" in GUIDE


def test_the_guide_lists_every_figure_with_its_labels(samples: Samples) -> None:
    listed = {
        name: set(re.findall(r"`(\w+)`", by))
        for names, by in re.findall(r"^\| (`hubbub_[^|]+)\|([^|]*)\|", GUIDE, re.MULTILINE)
        for name in re.findall(r"`(hubbub_\w+)`", names)
    }

    exported = {
        re.sub("_(bucket|sum|count)$", "", name): set(labels[0]) - {"le"}
        for name, labels in samples.items()
        if name != "up"
    }
    assert listed == exported


def unit(name: str) -> configparser.ConfigParser:
    read = configparser.ConfigParser(interpolation=None, delimiters="=")
    read.optionxform = str  # type: ignore[assignment,method-assign]  # as configparser wants it
    read.read_string(UNITS[name])
    return read


def started(name: str) -> list[str]:
    """Return the words that a unit starts a collector's command by."""
    words = shlex.split(unit(name)["Service"]["ExecStart"].replace("$$", "$").replace("%%", "%"))
    return shlex.split(words[2]) if words[:2] == ["/bin/sh", "-c"] else words


@pytest.mark.parametrize("name", ["hubbub.service", "hubbub-backup.service"])
def test_a_unit_starts_a_command_that_there_is_with_options_that_it_has(name: str) -> None:
    program, subcommand, *words = started(name)

    found = command.get_command(None, subcommand)  # type: ignore[arg-type]  # it needs none
    assert isinstance(found, Command)
    assert {word for word in words if word.startswith("--")} <= {
        option for parameter in found.params for option in parameter.opts
    }
    assert f"{Path(program).parent}/pip install" in GUIDE
    assert (Path(sys.executable).parent / Path(program).name).exists()


def test_a_collector_may_write_where_its_unit_has_its_settings() -> None:
    service = unit("hubbub.service")["Service"]
    settings = Path(started("hubbub.service")[-1])

    assert settings.parent == Path(service["ReadWritePaths"])
    assert f"useradd --system --home-dir {settings.parent} --create-home {service['User']}" in GUIDE
    assert started("hubbub-backup.service")[2:4] == ["--config", str(settings)]
    assert "WantedBy" in unit("hubbub-backup.timer")["Install"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_understands_every_unit(tmp_path: Path) -> None:
    for name, text in UNITS.items():
        here = text.replace("/opt/hubbub/bin", str(Path(sys.executable).parent))
        (tmp_path / name).write_text(here)

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *sorted(UNITS)],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"SYSTEMD_LOG_LEVEL": "warning"},
    )

    assert (done.stdout + done.stderr, done.returncode) == ("", 0)


def test_the_backup_unit_makes_a_backup_each_time_and_deletes_old_ones_only(tmp_path: Path) -> None:
    set_up(tmp_path / "srv")
    backups = tmp_path / "backup"
    backups.mkdir()
    for days, name in ((20, "old"), (10, "newer")):
        (backups / f"{name}.sqlite3").touch()
        os.utime(backups / f"{name}.sqlite3", (time.time() - 86400 * days,) * 2)

    for key in ("ExecStart", "ExecStartPost", "ExecStart"):
        second = time.strftime("%S")
        wait_until(lambda second=second: time.strftime("%S") != second)
        line = unit("hubbub-backup.service")["Service"][key].replace("$$", "$").replace("%%", "%")
        for there, here in (
            ("/opt/hubbub/bin", Path(sys.executable).parent),
            ("/srv/hubbub", tmp_path / "srv"),
            ("/backup", backups),
        ):
            line = line.replace(f"{there}/", f"{here}/").replace(f"{there} ", f"{here} ")
        subprocess.run(shlex.split(line), check=True, capture_output=True)

    first, second, newer = (path.name for path in sorted(backups.iterdir()))
    assert newer == "newer.sqlite3"
    assert first[:10] <= second[:10] == time.strftime("%Y-%m-%d")


def test_no_page_and_no_program_installs_by_a_name_that_a_stranger_may_take() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    pages += (path for path in (ROOT / "examples").rglob("*") if path.suffix in {".md", ".ipynb"})
    pages += (path for wing in ("shared", "client", "server", "lab") for path in (ROOT / wing).rglob("*.py"))

    asked = {
        named for page in pages for named in re.findall(r"pip install '?(hubbub\S*)", page.read_text("utf-8"))
    }

    assert asked == set()


with_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")


def curl(line: str, served: Served) -> tuple[int, str]:
    """Give a line of the docs to a shell beside a collector that runs, and return its end and its words."""
    keys = {f"{kind.upper()}_KEY": key for kind, key in served.keys.items()}
    served.start()
    try:
        done = subprocess.run(
            ["sh", "-c", line.removeprefix("$ ").replace("127.0.0.1:8750", f"127.0.0.1:{served.port}")],
            cwd=served.directory,
            check=False,
            env=os.environ | keys | {"NO_PROXY": "127.0.0.1"},
            capture_output=True,
            text=True,
        )
    finally:
        served.end()
    return done.returncode, done.stdout


@with_curl
def test_the_batch_of_the_protocol_is_taken_from_a_shell_as_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "protocol.md").read_text("utf-8")
    (line,) = [block for block in blocks(page, "console") if block.startswith("$ curl ")]
    (document,) = [block for block in blocks(page, "json") if '"columns"' in block]
    served = set_up(tmp_path)
    run("publish", "--config", str(tmp_path / "hubbub.toml"), str(ROOT / "examples" / "notepad.toml"))
    period = f'"period": {period_at(time.time(), 7)}'
    (tmp_path / "batch.json").write_text(re.sub(r'"period": \d+', period, document))

    assert curl(line, served) == (0, '{"accepted":1,"refused":[],"reasons":{}}')


@with_curl
@pytest.mark.parametrize(
    ("whose", "words"), [("ANALYST", "metric,id,start,label_version,n,"), ("ADMIN", '"+ startup_seconds')]
)
def test_a_line_of_curl_in_the_guide_is_answered(tmp_path: Path, whose: str, words: str) -> None:
    (line,) = [block for block in blocks(GUIDE, "console") if f"Bearer ${whose}_KEY" in block]
    served = set_up(tmp_path)
    shutil.copy(ROOT / "examples" / "notepad.toml", tmp_path / "metrics.toml")
    if whose == "ANALYST":
        run("publish", "--config", str(tmp_path / "hubbub.toml"), str(tmp_path / "metrics.toml"))

    code, answer = curl(line, served)

    assert (code, words in answer) == (0, True), answer
