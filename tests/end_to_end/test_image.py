"""This file runs here what the image and the compose file run: commands, settings and health check."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from hubbub_server.commands.cli import command
from hubbub_server.keys import add_key, number_of
from hubbub_server.store.opening import open_store
from tests.postgres import Server
from tests.server.process import SERVER, run

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = (ROOT / "docker-compose.yml").read_text()
GUIDE = (ROOT / "docs" / "guide-operators.md").read_text("utf-8")
SERVICE = YAML(typ="safe").load(COMPOSE)["services"]["collector"]
ENTRY = json.loads(re.findall(r"^ENTRYPOINT (.*)$", DOCKERFILE, re.MULTILINE)[0])
HEALTH = json.loads(re.findall(r"^HEALTHCHECK [^[]*(\[.*\])$", DOCKERFILE, re.MULTILINE)[0])
SETTINGS = dict(re.findall(r"\b(HUBBUB_\w+)=(\S+)", DOCKERFILE))


def check_health(port: str) -> int:
    code = HEALTH[-1].replace(":8750/", f":{port}/")
    return subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Initialise and serve as compose does, on a free port of loopback in place of the container's."""
    run("init", "--dir", str(tmp_path))
    environment = os.environ | SETTINGS | {"HUBBUB_SERVER_HOST": "127.0.0.1", "HUBBUB_SERVER_PORT": "0"}
    words = [word.replace("/data", str(tmp_path)) for word in SERVICE["command"]]
    serve = [*SERVER, *words]
    with subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().rpartition(":")[2].strip()
        process.terminate()


def test_the_entry_point_is_a_command_of_this_distribution() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]

    assert len(ENTRY) == 1
    assert ENTRY[0] in scripts


def test_every_command_that_the_compose_file_names_exists() -> None:
    named = re.findall(r"^#   docker .*(?:collector|hubbub-server) ([a-z]+) ", COMPOSE, re.MULTILINE)

    assert {"init", "publish", "keys"} <= set(named)
    assert {*named, SERVICE["command"][0]} <= set(command.commands)


def test_every_setting_of_the_image_is_one_that_the_collector_reads(tmp_path: Path) -> None:
    run("init", "--dir", str(tmp_path))
    words = ["keys", "list", "--config", str(tmp_path / "hubbub.toml")]

    listing = CliRunner().invoke(command, words, env=SETTINGS)

    assert SETTINGS
    assert listing.exit_code == 0


def test_what_compacting_writes_beside_the_database_is_on_the_volume_and_not_in_memory() -> None:
    (volume,) = re.findall(r"^VOLUME (\S+)$", DOCKERFILE, re.MULTILINE)

    assert re.findall(r"\bSQLITE_TMPDIR=(\S+)", DOCKERFILE) == [volume]


def test_the_health_check_is_well_while_the_collector_serves_and_only_then(
    collector: tuple[subprocess.Popen[str], str],
) -> None:
    process, port = collector

    serving = check_health(port)
    process.terminate()
    process.wait(timeout=30)

    assert serving == 0
    assert check_health(port) != 0


def test_the_guide_s_commands_in_a_container_do_their_work_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("data", "backup"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "examples" / "notepad.toml", tmp_path / "metrics.toml")
    lines = re.findall(
        r"^\$ docker compose (?:run|exec) .*?\bcollector (?:hubbub-server )?(.*)$", GUIDE, re.MULTILINE
    )

    monkeypatch.chdir(tmp_path / "data")  # as in the image
    for line in lines:
        run(*re.sub(r"(?<= )/(?=data|backup|metrics)", f"{tmp_path}/", line).split())

    done = [line.split()[0] for line in lines]
    assert done == ["init", "publish", "estimate", "backup", "restore", "doctor", "check"]
    assert (tmp_path / "backup" / "2027-06-01.sqlite3").exists()


def test_the_guide_s_lines_for_the_database_s_container_back_up_and_restore(
    tmp_path: Path, postgres: Server
) -> None:
    lines = re.findall(r"^\$ (.*docker compose .* exec (?:-T )?postgres .*)$", GUIDE, re.MULTILINE)
    with psycopg.connect(postgres.url("postgres", role="postgres"), autocommit=True) as connection:
        connection.execute("CREATE ROLE hubbub SUPERUSER LOGIN")  # as the image makes it
        connection.execute("CREATE DATABASE hubbub OWNER hubbub")
    with closing(open_store(postgres.url("hubbub", role="hubbub"))) as store:
        key = add_key(store.keys, "admin")

    for line in lines:
        here = re.sub(r"docker compose .* exec (?:-T )?postgres ", "", line).replace("FILE", "dump")
        paths = {"PATH": f"{postgres.programs}:{os.environ['PATH']}", "PGHOST": str(postgres.directory)}
        subprocess.run(["sh", "-c", here], cwd=tmp_path, check=True, env=paths, umask=0o022)

    assert len(lines) == 3
    assert stat.S_IMODE((tmp_path / "dump").stat().st_mode) == 0o600
    with closing(open_store(postgres.url("restored", role="hubbub"))) as store:
        assert [each.number for each in store.keys.all()] == [number_of(key)]


def test_the_compose_file_checks_health_as_the_image_does() -> None:
    assert SERVICE["healthcheck"]["test"] == ["CMD", *HEALTH]
