"""This file is ``hubbub-server compact``, ``backup``, ``restore``, ``check`` and ``doctor``."""

import os
import time
from pathlib import Path

import click

from hubbub.errors import StorageError
from hubbub_server.catalog import Catalog
from hubbub_server.commands.opened import exit_codes, opened, settings, with_config
from hubbub_server.config import load
from hubbub_server.doctor import examine
from hubbub_server.keys import day_of
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.records import Fault
from hubbub_server.store.sqlite.restoring import copied, put_in_place
from hubbub_server.store.sqlite.undone import undone


@click.command()
@with_config
def compact(file: Path | None) -> None:
    """Write the database anew: smaller, and in an order that tells nothing about arrival.

    Batches that come meanwhile wait, or are told to come again. It takes the room of two more copies.
    """
    with exit_codes(), opened(settings(file)) as store:
        before = store.upkeep.usage().taken
        store.upkeep.compact()
        click.echo(f"{before:,} bytes became {store.upkeep.usage().taken:,}")


@click.command()
@click.argument("copy", type=click.Path(path_type=Path))
@with_config
def backup(file: Path | None, copy: Path) -> None:
    """Write a copy of the whole database, as of one moment, while the collector runs."""
    with exit_codes(), opened(settings(file)) as store:
        store.upkeep.backup(copy)
        click.echo(f"wrote {copy}, {copy.stat().st_size:,} bytes; {file or 'hubbub.toml'} is not in it")


@click.command()
@click.argument("copy", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@with_config
def restore(file: Path | None, copy: Path) -> None:
    """Put a backup in the place of the database, which is kept beside it under another name.

    Stop the collector first. What was taken in after the backup is not in it, and no device sends it again;
    what was done to keys and manifests since is undone. At the end it says all that is.
    """
    with exit_codes():
        database = load(file, os.environ, {}).database
        if isinstance(database, str):
            raise StorageError(
                "PostgreSQL is restored by its own programs: createdb, then "
                f"pg_restore --no-owner --dbname=URL {copy}, then hubbub-server check"
            )
        database = database.resolve()  # the file, and not a link to it
        with copied(copy, database) as ready:
            try:
                faults = _faults(ready)
            except StorageError as error:  # which is about a file that is gone by the time it is read
                told = str(error).replace(str(ready), str(copy))
                raise StorageError(f"{copy} was not restored: {told}") from None
            if faults:
                raise StorageError(f"{copy} is damaged and was not restored: {faults[0].fault}")
            changes = list(undone(database, ready, day_of(time.time())))
            aside = put_in_place(ready, database)
        click.echo(f"{database} is as {copy} was" + (f"; the one before is {aside}" if aside else ""))
        for line in changes or ["nothing that was done since is undone"]:
            click.echo(line)


@click.command()
@with_config
def check(file: Path | None) -> None:
    """Look for damage, and compare every tally with the sum of its reports; 1 if anything is wrong."""
    with exit_codes(), opened(settings(file)) as store:
        faults = 0
        for fault in store.upkeep.check(Catalog(store.manifests).add_up):
            click.echo(f"{fault.place}: {fault.fault}")
            faults += 1
        if faults:
            raise StorageError(f"{faults:,} faults; restore a backup, or ask for help")
        click.echo("the database is whole, and every tally is the sum of its reports")


@click.command()
@with_config
def doctor(file: Path | None) -> None:
    """Look at all that a collector depends on; 1 if something needs care."""
    with exit_codes():
        needs_care = False
        for remark in examine(settings(file)):
            click.echo(remark.line)
            needs_care |= remark.needs_care
        if needs_care:
            raise StorageError("something needs care; see above")


def _faults(path: Path) -> list[Fault]:
    """Check a database, brought up to date first, and leave no side files."""
    store = open_sqlite(path)
    try:
        return list(store.upkeep.check(Catalog(store.manifests).add_up))
    finally:
        store.close()
