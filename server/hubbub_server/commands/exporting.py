"""This file is ``hubbub-server export``."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click

from hubbub.errors import RefusedError
from hubbub_server.analysis.versions import left_out
from hubbub_server.catalog import Catalog
from hubbub_server.commands.opened import exit_codes, opened, settings, with_config
from hubbub_server.exporting.cells import export as find
from hubbub_server.exporting.writers import FORMATS


@click.command()
@click.argument("metric")
@click.option("--from", "first", default="", help="First period, as number or date.")
@click.option("--to", "last", default="", help="Period or date after the last.")
@click.option("--label", "labels", multiple=True, help="Reports that count, by label: version:1.1.")
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), help="Default: as the file's name ends, or csv."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    default="-",
    help="A file, put in place once it is complete; default: standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@with_config
def export(
    file: Path | None, metric: str, form: str | None, output: Path, *, force: bool, **asked: Any
) -> None:
    """Write the noisy reports of a metric that are still kept, shuffled, for an analysis of your own."""
    with exit_codes(), opened(settings(file)) as store:
        ending = output.suffix[1:].lower()
        writer = FORMATS[form or (ending if ending in FORMATS else "csv")]
        catalog = Catalog(store.manifests)
        found = find(store.batches, catalog, metric=metric, **asked)
        for advice in left_out(store.batches, catalog, [found.question]):
            click.echo(f"note: {advice}", err=True)
        with _written(output, force=force) as stream:
            for part in writer.write(found):
                stream.write(part)


@contextmanager
def _written(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Lend a file that only its owner can read, and that is there only once it is complete."""
    if str(path) == "-":
        yield sys.stdout.buffer
        return
    if path.exists() and not force:
        raise RefusedError("exists", f"{path} exists already; --force overwrites it")
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
            yield stream
        unfinished.replace(path)
    except OSError as error:  # a disk that is full does not say of which file
        error.filename = error.filename or str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)
