"""This file is ``hubbub-server``: set up, run, publish, keys, and estimates on the operator's machine.

Exit codes: 0 done, 1 refused or failed, 2 wrong use or settings, 3 parts missing.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from hubbub.errors import ConfigError, HubbubError, ManifestError, RefusedError
from hubbub.manifest import Manifest
from hubbub_server import formats
from hubbub_server.answers import VIEWS
from hubbub_server.app import create_app
from hubbub_server.catalog import Catalog
from hubbub_server.config import FILE, Config, load
from hubbub_server.estimation import estimate as ask
from hubbub_server.keys import KINDS, add_key, day_of, number_of
from hubbub_server.publication import publish as put_in_force
from hubbub_server.publication import publish_signed
from hubbub_server.serving import serve as run
from hubbub_server.store.protocol import Store
from hubbub_server.store.sqlite import open_sqlite

FIRST_SETTINGS = """\
# Every setting and its meaning: docs/guide-operators.md
database = "hubbub.sqlite3"
host = "127.0.0.1"
port = 8750
"""
with_config = click.option(
    "--config", "file", type=click.Path(path_type=Path), help="hubbub.toml; default: in this directory."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hubbub")
def command() -> None:
    """Collect noisy reports and answer questions about the crowd."""


@command.command()
@click.option(
    "--dir", "directory", type=click.Path(path_type=Path), default=Path(), help="Where; default: here."
)
def init(directory: Path) -> None:
    """Write hubbub.toml and the database, and print one key of each kind, once."""
    with _exit_codes():
        settings = directory / FILE
        directory.mkdir(parents=True, exist_ok=True)
        try:
            settings.touch(0o600, exist_ok=False)
            settings.write_text(FIRST_SETTINGS, encoding="utf-8")
        except FileExistsError:
            raise RefusedError("exists", f"{settings} exists already; nothing was changed") from None
        with _store(settings, is_new=True) as store:
            keys = {kind: add_key(store.keys, kind, note="made by init") for kind in KINDS}
        click.echo(f"wrote {settings} and its database\n")
        for kind, key in keys.items():
            click.echo(f"{kind:<8} {key}")
        click.echo("\nThe keys are not shown again; keep them now.")


@command.command()
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=int, help="Port to listen on; 0 takes any that is free.")
@click.option("--threads", type=int, help="Requests worked on at once.")
@with_config
def serve(file: Path | None, **flags: object) -> None:
    """Run the collector until SIGTERM."""
    with _exit_codes():
        config = _existing(_config(file, **flags))
        app = create_app(config)
        try:
            run(app, config, ready=lambda url: click.echo(f"hubbub-server listens on {url}"))
        finally:
            app.extensions["hubbub"].close()


@command.command()
@click.argument("manifest", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@with_config
def publish(file: Path | None, manifest: Path) -> None:
    """Put the metrics of a manifest in force; a signed one is also handed to devices that ask."""
    with _exit_codes(), _store(file) as store:
        text = _text(manifest)
        if text.startswith("{"):
            published = publish_signed(store.manifests, text.encode())
        else:
            published = put_in_force(store.manifests, Manifest.from_toml(text, where=str(manifest)))
        for line in published.changes:
            click.echo(line)
        click.echo(f"{published.app} serial {published.serial} is in force")


@command.group()
def keys() -> None:
    """Add, list and revoke access keys."""


@keys.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--note", default="", help="What the key is for.")
@with_config
def add(file: Path | None, kind: str, note: str) -> None:
    """Make a key and print it, once."""
    with _exit_codes(), _store(file) as store:
        click.echo(add_key(store.keys, kind, note=note))


@keys.command("list")
@with_config
def show(file: Path | None) -> None:
    """List the keys: number, kind, last day of use, note."""
    with _exit_codes(), _store(file) as store:
        click.echo(formats.keys_table(store.keys.all()))


@keys.command()
@click.argument("number")
@with_config
def revoke(file: Path | None, number: str) -> None:
    """Take a key out of use, at once."""
    with _exit_codes(), _store(file) as store:
        public = number_of(number)
        if not store.keys.revoke(public, day_of(time.time())):
            raise RefusedError("not_found", "there is no key of this number in use; see keys list")
        click.echo(f"{public} is revoked")


@command.command()
@click.argument("metric")
@click.option("--by", type=click.Choice(["period", "label"]), help="One answer for each.")
@click.option("--from", "first", default="", help="First period, as number or date.")
@click.option("--to", "last", default="", help="Period or date after the last.")
@click.option("--view", default="raw", type=click.Choice(VIEWS), show_default=True)
@click.option(
    "--top", type=click.IntRange(1), help="So many of the largest shares; intervals hold all at once."
)
@click.option("--any", "any_of", multiple=True, help="An option; as one row, who holds any of those named.")
@click.option("--all", "all_of", multiple=True, help="A fact of a record; as one row, of whom all are true.")
@click.option("--candidate", "candidates", multiple=True, help="A text to look for; for a metric of texts.")
@click.option("--level", default=0.95, show_default=True, help="Of the intervals.")
@click.option(
    "--format", "form", default="table", type=click.Choice(list(formats.FORMATS)), show_default=True
)
@with_config
def estimate(file: Path | None, metric: str, by: str | None, form: str, **asked: str) -> None:
    """Answer a metric, named by its id, name or app/name."""
    with _exit_codes(), _store(file) as store:
        groups = ask(store.batches, Catalog(store.manifests), metric=metric, by=by or "", **asked)  # type: ignore[arg-type]
        click.echo(formats.FORMATS[form](groups).rstrip("\n"))


def _config(file: Path | None, **flags: object) -> Config:
    return load(file, os.environ, flags)


@contextmanager
def _store(file: Path | None, *, is_new: bool = False) -> Iterator[Store]:
    config = _config(file)
    store = open_sqlite(config.database if is_new else _existing(config).database)
    try:
        yield store
    finally:
        store.close()


def _existing(config: Config) -> Config:
    """Refuse a database that is not there, since a new one would have no keys."""
    if not config.database.exists():
        raise ConfigError(f"there is no database {config.database}; run init first, or correct the setting")
    return config


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"can't be read: {error}", where=str(path)) from None


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn errors into one line on stderr and an exit code."""
    try:
        yield
    except HubbubError as error:
        click.echo(f"hubbub-server: {error}", err=True)
        if isinstance(error, RefusedError):
            for line in error.details.get("differences", ()):  # type: ignore[attr-defined]
                click.echo(line, err=True)
        sys.exit(2 if isinstance(error, ConfigError) else 1)
    except BrokenPipeError:  # whoever read the output had enough
        raise
    except OSError as error:
        click.echo(f"hubbub-server: {error.filename or 'failed'}: {error.strerror}", err=True)
        sys.exit(1)
