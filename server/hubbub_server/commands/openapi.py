"""This file is ``hubbub-server openapi``."""

import click
import msgspec

from hubbub_server.api.openapi import description


@click.command()
def openapi() -> None:
    """Print the description of all routes, as OpenAPI 3.1, for programs that make clients."""
    click.echo(msgspec.json.format(description(), indent=2).decode())
