"""This file is ``hubbub-server keys``."""

import time
from collections.abc import Sequence
from pathlib import Path

import click

from hubbub.errors import RefusedError
from hubbub.table import table
from hubbub_server.commands.opened import exit_codes, opened, settings, with_config
from hubbub_server.keys import KINDS, LONGEST_ROTATION, ROTATION, add_key, day_of, number_of, rotate_key
from hubbub_server.store.records import StoredKey


@click.group()
def keys() -> None:
    """Add, list, rotate and revoke access keys."""


@keys.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--note", default="", help="What the key is for.")
@with_config
def add(file: Path | None, kind: str, note: str) -> None:
    """Make a key and print it, once."""
    with exit_codes(), opened(settings(file)) as store:
        click.echo(add_key(store.keys, kind, note=note))


@keys.command("list")
@with_config
def show(file: Path | None) -> None:
    """List the keys: number, kind, days of last use, expiry and revocation, note."""
    with exit_codes(), opened(settings(file)) as store:
        click.echo(_table(store.keys.all()))


@keys.command()
@click.argument("number")
@with_config
def revoke(file: Path | None, number: str) -> None:
    """Take a key out of use, at once."""
    with exit_codes(), opened(settings(file)) as store:
        public = number_of(number)
        if not store.keys.revoke(public, day_of(time.time())):
            raise RefusedError("not_found", "there is no key of this number in use; see keys list")
        click.echo(f"{public} is revoked")


@keys.command()
@click.argument("number")
@click.option(
    "--days",
    type=click.IntRange(0, LONGEST_ROTATION),
    default=ROTATION,
    show_default=True,
    help="How long the old key stays in use.",
)
@with_config
def rotate(file: Path | None, number: str, days: int) -> None:
    """Make a key in place of another, and print it, once."""
    with exit_codes(), opened(settings(file)) as store:
        public = number_of(number)
        key, expires = rotate_key(store.keys, public, days=days, now=time.time())
        click.echo(key)
        click.echo(f"{public} is out of use from {expires} on", err=True)


def _table(stored: Sequence[StoredKey]) -> str:
    heads = ("number", "kind", "last used", "expires", "revoked", "note")
    rows = [
        (key.number, key.kind, key.last_used or "-", key.expires or "-", key.revoked or "-", key.note)
        for key in stored
    ]
    return table(heads, rows, left=len(heads))
