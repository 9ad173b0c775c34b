"""This file is ``hubbub-server metrics``."""

from pathlib import Path

import click

from hubbub.table import table
from hubbub_server.analysis.spans import EVER
from hubbub_server.catalog import Catalog
from hubbub_server.commands.opened import exit_codes, opened, settings, with_config

_HEADS = ("metric", "id", "kind", "mechanism", "epsilon", "serial", "reports")


@click.command()
@with_config
def metrics(file: Path | None) -> None:
    """List every version of every metric, newest first, and how many reports each has."""
    with exit_codes(), opened(settings(file)) as store:
        catalog = Catalog(store.manifests)
        rows = []
        for stored in store.manifests.metrics():
            question = catalog.get(stored.id)
            assert question  # noqa: S101 - a metric is never deleted
            metric = question.metric
            n = sum(tally.n for *_, tally in store.batches.tallies(metric.id, EVER))
            name, id_, kind = f"{metric.app}/{metric.name}", metric.id.hex()[:12], metric.domain.kind
            rows.append(
                (name, id_, kind, metric.mechanism, str(metric.epsilon), str(stored.serial), f"{n:,}")
            )
        click.echo(table(_HEADS, rows, left=4) if rows else "no metric is published")
