"""This file gives every command its settings, its store, and its exit codes.

Exit codes: 0 done, 1 refused or failed, 2 wrong use or settings, 3 parts missing.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from hubbub.errors import ConfigError, HubbubError, MissingExtraError, RefusedError
from hubbub_server.config import FILE, Config, load
from hubbub_server.store.opening import is_set_up, open_store
from hubbub_server.store.protocol import Store

with_config = click.option(
    "--config", "file", type=click.Path(path_type=Path), help="hubbub.toml; default: in this directory."
)


def settings(file: Path | None, **flags: object) -> Config:
    """Return the settings of a collector that was set up.

    Raises ConfigError if there is no database, since a new one would have no keys.
    """
    config = load(file, os.environ, flags)
    if not is_set_up(config.database):
        raise ConfigError(_nothing_in(config.database))
    return config


def _nothing_in(database: Path | str) -> str:
    if isinstance(database, Path):
        found, by = f"there is no database {database}, or nothing in it", "hubbub-server restore FILE"
    else:  # whose URL may hold a password
        found, by = "nothing of hubbub is in the PostgreSQL database that is set", "pg_restore"
    return (
        f"{found}; correct the setting, or put a backup there by {by}; "
        f"for a new collector, run hubbub-server init where there is no {FILE}"
    )


@contextmanager
def opened(config: Config) -> Iterator[Store]:
    """Lend the store of a configuration."""
    store = open_store(config.database)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn errors into one line on stderr and an exit code."""
    try:
        yield
    except HubbubError as error:
        click.echo(f"hubbub-server: {error}", err=True)
        if isinstance(error, RefusedError):
            for line in error.details.get("differences", ()):  # type: ignore[attr-defined]
                click.echo(line, err=True)
        sys.exit(2 if isinstance(error, ConfigError) else 3 if isinstance(error, MissingExtraError) else 1)
    except BrokenPipeError:  # whoever read the output had enough
        raise
    except OSError as error:
        click.echo(f"hubbub-server: {error.filename or 'failed'}: {error.strerror}", err=True)
        sys.exit(1)
