"""This file proves that settings come from flags, environment, file, in this order, and are checked first."""

import re
from pathlib import Path

import pytest

from hubbub.errors import ConfigError
from hubbub_server.config import NAMES, Config, load

ROOT = Path(__file__).parents[2]


def write(directory: Path, text: str) -> Path:
    file = directory / "hubbub.toml"
    file.write_text(text)
    return file


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, 'database = "a.sqlite3"\nport = 1\nthreads = 1\nconnections = 1\n')
    environment = {"HUBBUB_SERVER_PORT": "2", "HUBBUB_SERVER_THREADS": "2", "HOME": "/root"}

    config = load(file, environment, {"port": 3, "host": None})

    assert (config.port, config.threads, config.connections) == (3, 2, 1)
    assert config.host == "127.0.0.1"
    assert config.database == tmp_path / "a.sqlite3"


def test_the_file_is_looked_for_here_or_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, 'database = "a.sqlite3"\nport = 7\n')
    elsewhere = load(None, {"HUBBUB_SERVER_CONFIG": str(file)}, {})
    monkeypatch.chdir(tmp_path)

    here = load(None, {}, {})

    assert (here.port, elsewhere.port) == (7, 7)
    assert elsewhere.database == file.parent / "a.sqlite3"


def test_the_environment_alone_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    config = load(None, {"HUBBUB_SERVER_DATABASE": str(tmp_path / "b.sqlite3")}, {})

    assert config.database == tmp_path / "b.sqlite3"


@pytest.mark.parametrize(
    ("text", "environment", "words"),
    [
        ("", {}, "no database is set; run hubbub-server init"),
        ("database = 5", {}, "database must be the path of a file"),
        ('database = ""', {}, "database must be the path of a file"),
        ('database = "no/such/a.sqlite3"', {}, "there is no directory"),
        ("database = ", {}, "can't be read"),
        (
            'database = "a"\nprot = 5',
            {},
            "hubbub.toml: unknown setting 'prot'; known are database, host, port",
        ),
        ('database = "a"\nport = 65536', {}, "port must be a whole number from 0 to 65535"),
        ('database = "a"\nport = "80"', {}, "port must be a whole number"),
        ('database = "a"\nport = true', {}, "port must be a whole number"),
        ('database = "a"\nport = 80.0', {}, "port must be a whole number"),
        ('database = "a"\nthreads = 0', {}, "threads must be a whole number from 1 to 256"),
        ('database = "a"\nhost = ""', {}, "host must be an address"),
        ('database = "a"\nhost = 5', {}, "host must be an address"),
        ('database = "a"\nlargest_body = 100000000', {}, "largest_inflated must be at least largest_body"),
        ('database = "a"', {"HUBBUB_SERVER_PORT": "eighty"}, "HUBBUB_SERVER_PORT must be a whole number"),
        ('database = "a"', {"HUBBUB_SERVER_PROT": "80"}, "the environment: unknown setting 'prot'"),
    ],
)
def test_a_wrong_setting_is_said_before_anything_starts(
    tmp_path: Path, text: str, environment: dict[str, str], words: str
) -> None:
    file = write(tmp_path, text)

    with pytest.raises(ConfigError, match=re.escape(words)):
        load(file, environment, {})


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file"):
        load(tmp_path / "other.toml", {}, {})


def test_the_guide_has_every_setting_with_its_default() -> None:
    page = (ROOT / "docs" / "guide-operators.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| `?([^`|]+?)`? \|", page, re.MULTILINE))
    defaults = Config(database=Path("hubbub.sqlite3"))

    assert {name: rows.get(name) for name in NAMES} == {name: str(getattr(defaults, name)) for name in NAMES}
