"""This file is ``hubbub-server publish``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from hubbub.errors import ManifestError
from hubbub.lint import lint
from hubbub.manifest import Manifest
from hubbub_server.commands.opened import exit_codes, opened, settings, with_config
from hubbub_server.publication import publish as put_in_force
from hubbub_server.publication import publish_signed


@click.command()
@click.argument("manifest", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@with_config
def publish(file: Path | None, manifest: Path) -> None:
    """Put the metrics of a manifest in force; a signed one is also handed to devices that ask.

    What hubbub lint finds wrong with one that is not signed is printed, and refuses nothing.
    """
    with exit_codes(), opened(settings(file)) as store:
        text = _text(manifest)
        if text.startswith("{"):
            published = publish_signed(store.manifests, text.encode())
        else:
            published = put_in_force(store.manifests, Manifest.from_toml(text, where=str(manifest)))
            _warn(text, manifest)
        for line in published.changes:
            click.echo(line)
        if published.dropped:
            names = ", ".join(published.dropped)
            click.echo(f"dropped, but still taken from devices whose app has an older manifest: {names}")
        click.echo(f"{published.app} serial {published.serial} is in force")


def _warn(text: str, path: Path) -> None:
    for finding in lint(text, where=str(path), today=datetime.now(UTC).date()).findings:
        if finding.severity != "note":
            click.echo(str(finding), err=True)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"can't be read: {error}", where=str(path)) from None
