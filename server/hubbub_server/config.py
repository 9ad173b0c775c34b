"""This file reads the collector's settings: flags over HUBBUB_SERVER_* over hubbub.toml over defaults.

All are checked before anything starts, and an unknown one is an error.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from hubbub.errors import ConfigError
from hubbub.period import DAY, GRACE, LENGTHS
from hubbub_server.settings import Address, Location, OneOf, Origins, Rule, Whole, is_url

PREFIX = "HUBBUB_SERVER_"
FILE = "hubbub.toml"
MIB = 2**20
LEAST_KEPT = max(LENGTHS) + 2 * GRACE // DAY  # days; before that a batch may still be withdrawn, see its test


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings: the type of each names its rule and what it means, as the guide has it."""

    database: Annotated[
        Path | str,
        Location(),
        "the SQLite file, counted from the directory of `hubbub.toml`, on a local disk; "
        "or the URL of a PostgreSQL database, `postgresql://...`",
    ] = field(repr=False)  # a URL may hold a password
    host: Annotated[str, Address(), "address to listen on"] = "127.0.0.1"
    port: Annotated[int, Whole(0, 65535), "port to listen on; 0 takes any that is free"] = 8750
    operations_host: Annotated[str, Address(), "address to listen on for operations"] = "127.0.0.1"
    operations_port: Annotated[
        int | None,
        Whole(0, 65535, or_none=True),
        "a port, another than `port`, that only operations answer on; without it they are on `port`, "
        "below `/operations`",
    ] = None
    cors_origins: Annotated[
        tuple[str, ...], Origins(), "origins of web pages that may send batches; with commas between them"
    ] = ()
    threads: Annotated[int, Whole(1, 256), "requests worked on at once"] = 32
    connections: Annotated[
        int, Whole(1, 100_000), "connections held at once, each with up to two open files; more must wait"
    ] = 1000
    largest_body: Annotated[int, Whole(1024, 1024 * MIB), "bytes of a request as sent"] = 16 * MIB
    largest_inflated: Annotated[
        int, Whole(1024, 4096 * MIB), "bytes of a request once inflated; no less than `largest_body`"
    ] = 64 * MIB
    most_waiting: Annotated[
        int,
        Whole(1, 100_000),
        "batches that may wait for the disk before 503 is answered; below `threads`, or it has no effect",
    ] = 1000
    requests_per_minute: Annotated[
        int, Whole(0, 10**9), "requests that an ingest key may make in a minute; 0 for any number"
    ] = 0
    reports_per_day: Annotated[
        int, Whole(0, 10**12), "reports that an ingest key may send in a day, retries too; 0 for any number"
    ] = 0
    keep_raw_days: Annotated[
        int,
        Whole(LEAST_KEPT, 36_500, or_zero=True),
        "days after its end for which a period's raw reports are kept; 0 for good",
    ] = 90
    least_room: Annotated[
        int,
        Whole(0, 2**50),
        "bytes that must be free on the disk for `/operations/readyz` to say that all is well",
    ] = 64 * MIB
    log: Annotated[str, OneOf(("text", "json")), "how lines of the log are written"] = "text"
    log_level: Annotated[str, OneOf(("info", "warning", "error")), "the least that is worth a line"] = "info"

    def __post_init__(self) -> None:
        for setting in SETTINGS.values():
            if not setting.rule.allows(getattr(self, setting.name)):
                raise ConfigError(f"{setting.name} must be {setting.rule.words}")
        if self.largest_inflated < self.largest_body:
            raise ConfigError("largest_inflated must be at least largest_body")
        if self.port and self.port == self.operations_port:
            raise ConfigError(f"operations_port must be another than port, {self.port}")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, what it may be, and what it means."""

    name: str
    rule: Rule
    meaning: str

    @property
    def flag(self) -> str:
        """Its flag on the command line."""
        return f"--{self.name.replace('_', '-')}"


SETTINGS: Mapping[str, Setting] = {
    name: Setting(name, *hint.__metadata__)
    for name, hint in get_type_hints(Config, include_extras=True).items()
}


Given = dict[str, tuple[str, Any]]  # by name: where it was given, and what


def load(file: Path | None, environment: Mapping[str, str], flags: Mapping[str, object]) -> Config:
    """Put the settings together; a relative database path counts from the directory of the file.

    file: hubbub.toml, or None for the one named by HUBBUB_SERVER_CONFIG or in this directory, if any.
    flags: texts or values; None stands for a flag not given.

    Raises ConfigError, naming the place of the fault.
    """
    named = file or (Path(environment[PREFIX + "CONFIG"]) if PREFIX + "CONFIG" in environment else None)
    path = named or Path(FILE)
    given = _from_file(path, required=named is not None) | _from_environment(environment) | _from_flags(flags)
    where, database = given.get("database", ("", None))
    if database is None:
        raise ConfigError(_no_database(path))
    if isinstance(database, str | Path) and database != "" and not is_url(database):
        given["database"] = where, path.parent / database
    for name, (where, value) in given.items():
        if not SETTINGS[name].rule.allows(value):
            raise ConfigError(f"{where} must be {SETTINGS[name].rule.words}")
    return Config(**{name: value for name, (_, value) in given.items()})


def _no_database(path: Path) -> str:
    variable = f"{PREFIX}DATABASE"
    if path.exists():
        return f"{path} sets no database, nor does {variable} or {variable}_FILE; set it as it was for init"
    return (
        f"there is no {path.absolute()}, and {variable} is not set; name the settings of your collector by "
        f"--config FILE or {PREFIX}CONFIG, or run hubbub-server init to make a new one"
    )


def _from_file(path: Path, *, required: bool) -> Given:
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if required:
            raise ConfigError(f"there is no file {path}") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} can't be read: {error}") from None
    _refuse_unknown(document, str(path))
    return {
        name: (name, tuple(value) if isinstance(value, list) else value) for name, value in document.items()
    }


def _from_environment(environment: Mapping[str, str]) -> Given:
    """Read the variables; one that ends in _FILE names a file that holds the setting, as secrets do."""
    texts: dict[str, str] = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or variable == PREFIX + "CONFIG":
            continue
        name = variable.removeprefix(PREFIX).lower()
        is_file = name.removesuffix("_file") in SETTINGS.keys() - {name}
        plain = name.removesuffix("_file") if is_file else name
        if plain in texts:
            raise ConfigError(f"{PREFIX}{plain.upper()} is set twice, once by a file")
        texts[plain] = _held(variable, Path(text)) if is_file else text
    _refuse_unknown(texts, "the environment")
    return {name: (PREFIX + name.upper(), SETTINGS[name].rule.read(text)) for name, text in texts.items()}


def _from_flags(flags: Mapping[str, object]) -> Given:
    return {
        name: (SETTINGS[name].flag, SETTINGS[name].rule.read(value) if isinstance(value, str) else value)
        for name, value in flags.items()
        if value is not None
    }


def _held(variable: str, path: Path) -> str:
    try:
        return path.read_text("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"{variable} names a file that can't be read") from None


def _refuse_unknown(settings: Mapping[str, object], where: str) -> None:
    for name in settings:
        if name not in SETTINGS:
            raise ConfigError(f"{where}: unknown setting {name!r}; known are {', '.join(SETTINGS)}")
