"""This file turns errors into one line on stderr and an exit code: 3 if a part is missing, else 1."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from hubbub.errors import HubbubError, MissingExtraError


@contextmanager
def exit_codes() -> Iterator[None]:
    """End a command that fails."""
    try:
        yield
    except HubbubError as error:
        click.echo(f"hubbub: {error}", err=True)
        sys.exit(3 if isinstance(error, MissingExtraError) else 1)
