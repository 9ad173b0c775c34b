"""This file is ``hubbub-server metrics``."""

from pathlib import Path

import click

from hubbub.table import table
from hubbub_server.analysis.spans import EVER
from hubbub_server.catalog import Catalog
from hubbub_server.commands.opened import exit_codes, opened, settings, with_config

_HEADS = ("metric", "id", "kind", "mechanism", "epsilon", "serial", "in force", "reports")


@click.command()
@with_config
def metrics(file: Path | None) -> None:
    """List every version of every metric, newest first, and how many reports each has.

    One that the app's newest manifest lacks was replaced by another version, or dropped; devices whose app
    has an older manifest still send it, and it counts.
    """
    with exit_codes(), opened(settings(file)) as store:
        catalog, every = Catalog(store.manifests), store.manifests.metrics()
        newest = {app: store.manifests.latest(app) or (0, "") for app in {stored.app for stored in every}}
        asked = {(each.app, each.name) for each in every if each.serial == newest[each.app][0]}
        rows = []
        for stored in every:
            question = catalog.get(stored.id)
            assert question  # noqa: S101 - a metric is never deleted
            metric = question.metric
            n = sum(tally.n for *_, tally in store.batches.tallies(metric.id, EVER))
            name, id_, kind = f"{metric.app}/{metric.name}", metric.id.hex()[:12], metric.domain.kind
            is_newest = stored.serial == newest[stored.app][0]
            state = "yes" if is_newest else "replaced" if (stored.app, stored.name) in asked else "dropped"
            numbers = (str(metric.epsilon), str(stored.serial), state, f"{n:,}")
            rows.append((name, id_, kind, metric.mechanism, *numbers))
        click.echo(table(_HEADS, rows, left=4) if rows else "no metric is published")
