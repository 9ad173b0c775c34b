"""This file is ``hubbub-server``: what an operator does, one command each."""

import click

from hubbub_server.commands.asking import estimate
from hubbub_server.commands.care import backup, check, compact, doctor, restore
from hubbub_server.commands.exporting import export
from hubbub_server.commands.keys import keys
from hubbub_server.commands.metrics import metrics
from hubbub_server.commands.openapi import openapi
from hubbub_server.commands.publishing import publish
from hubbub_server.commands.running import init, serve
from hubbub_server.commands.suspicion import suspicion


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    commands=[
        init,
        serve,
        publish,
        keys,
        metrics,
        estimate,
        suspicion,
        export,
        check,
        doctor,
        backup,
        restore,
        compact,
        openapi,
    ],
)
@click.version_option(package_name="hubbub")
def command() -> None:
    """Collect noisy reports and answer questions about the crowd."""
