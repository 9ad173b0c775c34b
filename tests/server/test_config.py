"""This file proves that settings come from flags, environment, file, in this order, and are checked first."""

import re
from pathlib import Path

import pytest

from hubbub.errors import ConfigError
from hubbub.period import DAY, EPOCH, GRACE, period_at, start_of
from hubbub_server.commands.cli import command
from hubbub_server.config import LEAST_KEPT, SETTINGS, Config, load

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
        ("", {}, "hubbub.toml sets no database, nor does HUBBUB_SERVER_DATABASE"),
        ("database = 5", {}, "database must be the path of a file"),
        ('database = ""', {}, "database must be the path of a file"),
        ('database = "no/such/a.sqlite3"', {}, "in a directory that is there"),
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
        ('database = "a"\nlog = "xml"', {}, "log must be text or json"),
        ('database = "a"\nlog = ["text"]', {}, "log must be text or json"),
        ('database = "a"\ncors_origins = "*"', {}, "cors_origins must be a list of origins"),
        ('database = "a"\ncors_origins = ["https://app.example/"]', {}, "cors_origins must be a list"),
        ('database = "a"\ncors_origins = ["null"]', {}, "cors_origins must be a list of origins"),
        ('database = "a"\nkeep_raw_days = 55', {}, "keep_raw_days must be 0 or a whole number from 56"),
        ('database = "a"\noperations_port = -1', {}, "operations_port must be a whole number"),
        ('database = "a"\noperations_port = 8750', {}, "operations_port must be another than port, 8750"),
        ('database = "a"', {"HUBBUB_SERVER_PORT": "eighty"}, "HUBBUB_SERVER_PORT must be a whole number"),
        ('database = "a"', {"HUBBUB_SERVER_PORT": "1_0"}, "HUBBUB_SERVER_PORT must be a whole number"),
        ('database = "a"', {"HUBBUB_SERVER_PROT": "80"}, "the environment: unknown setting 'prot'"),
        ('database = "a"', {"HUBBUB_SERVER_PROT_FILE": "/a"}, "unknown setting 'prot_file'"),
        ('database = "a"', {"HUBBUB_SERVER_PORT_FILE": "/no/such"}, "PORT_FILE names a file that can't be"),
        (
            'database = "a"',
            {"HUBBUB_SERVER_PORT": "1", "HUBBUB_SERVER_PORT_FILE": __file__},
            "HUBBUB_SERVER_PORT is set twice, once by a file",
        ),
    ],
)
def test_a_wrong_setting_is_said_before_anything_starts(
    tmp_path: Path, text: str, environment: dict[str, str], words: str
) -> None:
    file = write(tmp_path, text)

    with pytest.raises(ConfigError, match=re.escape(words)):
        load(file, environment, {})


def test_both_ports_may_be_any_that_are_free(tmp_path: Path) -> None:
    config = load(write(tmp_path, 'database = "a"\nport = 0\noperations_port = 0'), {}, {})

    assert (config.port, config.operations_port) == (0, 0)


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file"):
        load(tmp_path / "other.toml", {}, {})


def test_a_setting_may_be_kept_in_a_file_of_its_own(tmp_path: Path) -> None:
    file, secret = write(tmp_path, 'database = "a.sqlite3"'), tmp_path / "origins"
    secret.write_text("https://app.example\n")

    config = load(file, {"HUBBUB_SERVER_CORS_ORIGINS_FILE": str(secret)}, {})

    assert config.cors_origins == ("https://app.example",)


def test_a_password_in_a_url_is_shown_nowhere(tmp_path: Path) -> None:
    file = write(tmp_path, 'database = "postgresql://hubbub:s3ntinel@db/hubbub"\nport = 7')

    config = load(file, {}, {})

    assert config.database == "postgresql://hubbub:s3ntinel@db/hubbub"
    assert "s3ntinel" not in repr(config)


def test_a_list_is_written_with_commas_where_toml_is_not(tmp_path: Path) -> None:
    file = write(tmp_path, 'database = "a.sqlite3"\ncors_origins = ["*"]')

    by_file, by_variable, by_flag = (
        load(file, environment, flags).cors_origins
        for environment, flags in (
            ({}, {}),
            ({"HUBBUB_SERVER_CORS_ORIGINS": "https://a.example, http://[::1]:3000"}, {}),
            ({}, {"cors_origins": "https://b.example"}),
        )
    )

    assert by_file == ("*",)
    assert by_variable == ("https://a.example", "http://[::1]:3000")
    assert by_flag == ("https://b.example",)


def test_a_flag_that_is_wrong_is_named_as_a_flag(tmp_path: Path) -> None:
    file = write(tmp_path, 'database = "a.sqlite3"')

    with pytest.raises(ConfigError, match=r"^--log-level must be info or warning"):
        load(file, {}, {"log_level": "loud"})


def test_every_setting_is_a_flag_of_serve() -> None:
    options = {option.name: (option.opts, option.help) for option in command.commands["serve"].params}  # type: ignore[attr-defined]

    assert {setting.name for setting in SETTINGS.values()} == options.keys() - {"file"}
    assert options["least_room"][0] == ["--least-room"]
    assert all(text for _, text in options.values())


def test_raw_reports_are_kept_as_long_as_a_batch_of_theirs_may_be_withdrawn() -> None:
    """The worst one has reports of a day, in the last second that takes them, and of 28 days just begun."""
    ends = [EPOCH + day * DAY for day in range(1000, 1028)]
    remembered = [
        (start_of(period_at(end + GRACE - 1, 28) + 1, 28) + GRACE) // DAY + 1 - end // DAY for end in ends
    ]

    assert max(remembered) == LEAST_KEPT


def test_the_guide_has_every_setting_with_its_default_and_meaning() -> None:
    page = (ROOT / "docs" / "guide-operators.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \|$", page, re.MULTILINE)
    defaults = Config(database=Path("hubbub.sqlite3"))

    assert rows == [
        (setting.name, default(getattr(defaults, setting.name)), setting.rule.words, setting.meaning)
        for setting in SETTINGS.values()
    ]


def default(value: object) -> str:
    """Write a default as the guide does."""
    return f"`{value}`" if value not in (None, ()) else "none"
