"""This file reads the collector's settings: flags over HUBBUB_SERVER_* over hubbub.toml over defaults.

All are checked before anything starts, and an unknown one is an error.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hubbub.errors import ConfigError

PREFIX = "HUBBUB_SERVER_"
FILE = "hubbub.toml"
MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings.

    database: the SQLite file. largest_body, largest_inflated: bytes of a request, as sent and inflated.
    most_waiting: batches that may wait for the writer before 503 is answered.
    """

    database: Path
    host: str = "127.0.0.1"
    port: int = 8750
    threads: int = 32
    connections: int = 1000
    largest_body: int = 16 * MIB
    largest_inflated: int = 64 * MIB
    most_waiting: int = 1000

    def __post_init__(self) -> None:
        if not isinstance(self.host, str) or not self.host or self.host != self.host.strip():
            raise ConfigError('host must be an address to listen on, like "127.0.0.1"')
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ConfigError(f"{name} must be a whole number from {least} to {most}")
        if self.largest_inflated < self.largest_body:
            raise ConfigError("largest_inflated must be at least largest_body")
        if not self.database.parent.is_dir():
            raise ConfigError(f"database: there is no directory {self.database.parent}")


_RANGES = {
    "port": (0, 65535),
    "threads": (1, 256),
    "connections": (1, 100_000),
    "largest_body": (1024, 1024 * MIB),
    "largest_inflated": (1024, 4096 * MIB),
    "most_waiting": (1, 100_000),
}
NAMES = tuple(field.name for field in fields(Config))


def load(file: Path | None, environment: Mapping[str, str], flags: Mapping[str, object]) -> Config:
    """Put the settings together; a relative database path counts from the directory of the file.

    file: hubbub.toml, or None for the one named by HUBBUB_SERVER_CONFIG or in this directory, if any.
    flags: None stands for a flag not given.

    Raises ConfigError, naming the place of the fault.
    """
    named = file or (Path(environment[PREFIX + "CONFIG"]) if PREFIX + "CONFIG" in environment else None)
    path = named or Path(FILE)
    settings = _from_file(path, required=named is not None)
    settings |= _from_environment(environment)
    settings |= {name: value for name, value in flags.items() if value is not None}
    if "database" not in settings:
        raise ConfigError("no database is set; run hubbub-server init, or set HUBBUB_SERVER_DATABASE")
    if not isinstance(settings["database"], str | Path) or not str(settings["database"]):
        raise ConfigError("database must be the path of a file")
    settings["database"] = path.parent / settings["database"]
    return Config(**settings)


def _from_file(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if required:
            raise ConfigError(f"there is no file {path}") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} can't be read: {error}") from None
    _refuse_unknown(document, str(path))
    return document


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    given = {
        name.removeprefix(PREFIX).lower(): text
        for name, text in environment.items()
        if name.startswith(PREFIX) and name != PREFIX + "CONFIG"
    }
    _refuse_unknown(given, "the environment")
    return {name: _whole(name, text) if name in _RANGES else text for name, text in given.items()}


def _refuse_unknown(settings: Mapping[str, object], where: str) -> None:
    for name in settings:
        if name not in NAMES:
            raise ConfigError(f"{where}: unknown setting {name!r}; known are {', '.join(NAMES)}")


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConfigError(f"{PREFIX}{name.upper()} must be a whole number") from None
