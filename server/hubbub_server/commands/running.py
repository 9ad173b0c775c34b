"""This file is ``hubbub-server init`` and ``serve``."""

import os
from collections.abc import Callable
from contextlib import closing
from functools import partial
from importlib.metadata import version
from pathlib import Path

import click

from hubbub.errors import ConfigError, RefusedError
from hubbub_server import logs
from hubbub_server.app import PREFIX, create_app, create_operations_app
from hubbub_server.collector import Collector
from hubbub_server.commands.opened import exit_codes, opened, settings, with_config
from hubbub_server.config import FILE, SETTINGS, load
from hubbub_server.keys import KINDS, add_key
from hubbub_server.memory import return_large_blocks
from hubbub_server.serving import Served
from hubbub_server.serving import serve as run
from hubbub_server.store.protocol import Keys

OPERATORS = 4  # threads on their own port

FIRST_SETTINGS = """\
# Every setting and its meaning: docs/guide-operators.md
host = "127.0.0.1"
port = 8750
"""
FIRST_DATABASE = 'database = "hubbub.sqlite3"\n'
DATABASE_VARIABLES = ("HUBBUB_SERVER_DATABASE", "HUBBUB_SERVER_DATABASE_FILE")


@click.command()
@click.option(
    "--dir", "directory", type=click.Path(path_type=Path), default=Path(), help="Where; default: here."
)
def init(directory: Path) -> None:
    """Write hubbub.toml and the database, and print one key of each kind, once.

    A database that has keys already is left as it is.
    """
    with exit_codes():
        file = directory / FILE
        variable = next((name for name in DATABASE_VARIABLES if name in os.environ), "")
        directory.mkdir(parents=True, exist_ok=True)
        try:
            file.touch(0o600, exist_ok=False)
        except FileExistsError:
            raise RefusedError(
                "exists",
                f"{file} exists already; nothing was changed; a database that is lost comes back by "
                f"hubbub-server restore FILE; to begin anew, move {file} away first",
            ) from None
        try:
            keys = _first_keys(file, variable)
        except BaseException:  # so that init can be tried again
            file.unlink()
            raise
        if variable:
            click.echo(f"{variable} is not written down: set it for every other command, too")
        if not keys:
            click.echo(f"wrote {file}; its database has keys already, so none were made: hubbub-server keys")
            return
        click.echo(f"wrote {file} and its database\n")
        for kind, key in keys.items():
            click.echo(f"{kind:<8} {key}")
        click.echo("\nThe keys are not shown again; keep them now.")


def _first_keys(file: Path, variable: str) -> dict[str, str]:
    """Fill the file with settings, and return a new key of each kind; none if the database has keys.

    variable: that names the database, so that its URL, which may hold a password, is not written down.
    """
    database = f"# database: set by {variable}\n" if variable else FIRST_DATABASE
    file.write_text(FIRST_SETTINGS + database, encoding="utf-8")
    with opened(load(file, os.environ, {})) as store:
        kinds = () if store.keys.all() else KINDS
        return {kind: add_key(store.keys, kind, note="made by init") for kind in kinds}


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a flag for every setting."""
    for setting in reversed(list(SETTINGS.values())):
        meaning = f"{setting.meaning[0].upper()}{setting.meaning[1:]}.".replace("`", "")
        command = click.option(setting.flag, setting.name, metavar="VALUE", help=meaning)(command)
    return command


@click.command()
@_with_settings
@with_config
def serve(file: Path | None, **flags: str | None) -> None:
    """Run the collector until SIGTERM."""
    with exit_codes():
        config = settings(file, **flags)
        return_large_blocks()
        logs.set_up(form=config.log, level=config.log_level)
        app = create_app(config)
        with closing(app.extensions["hubbub"]) as collector:
            _refuse_without_keys(collector.store.keys)
            collector.limits.join()
            collector.writer.start()  # what is due is deleted though nothing may come any more
            refused = partial(collector.stats.request, "none", "other")
            devices = Served(app, config.host, config.port, config.threads, refused)
            operations = (
                Served(
                    create_operations_app(collector),
                    config.operations_host,
                    config.operations_port,
                    OPERATORS,
                    refused,
                )
                if config.operations_port is not None
                else None
            )
            run(
                devices,
                operations,
                config,
                ready=partial(_say, is_printed=config.log == "text"),
                stopping=partial(_stop, collector),
            )
        logs.tell("stopped")


def _refuse_without_keys(keys: Keys) -> None:
    if not keys.all():
        raise ConfigError(
            "the database has no keys, so nobody could send, ask or publish; "
            "make some first: hubbub-server keys add ingest, and likewise analyst and admin"
        )


def _say(url: str, operations: str, *, is_printed: bool) -> None:
    logs.tell("started", version=version("hubbub"), url=url, operations=f"{operations or url}{PREFIX}")
    if is_printed:  # and else left to the log, so that both streams together are JSON
        click.echo(f"hubbub-server listens on {url}")
    if is_printed and operations:
        click.echo(f"operations are on {operations}{PREFIX}")


def _stop(collector: Collector) -> None:
    collector.readiness.stop()
    logs.tell("stopping")
