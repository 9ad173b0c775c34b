"""This file is ``hubbub-server estimate``."""

from pathlib import Path

import click

from hubbub.estimate import About
from hubbub_server.analysis import formats
from hubbub_server.analysis.asking import VIEWS
from hubbub_server.analysis.estimation import estimate as ask
from hubbub_server.analysis.rows import ABOUTS
from hubbub_server.catalog import Catalog
from hubbub_server.commands.opened import exit_codes, opened, settings, with_config


@click.command()
@click.argument("metric")
@click.option("--by", type=click.Choice(["period", "label", "period,label"]), help="One answer for each.")
@click.option("--from", "first", default="", help="First period, as number or date.")
@click.option("--to", "last", default="", help="Period or date after the last.")
@click.option("--label", "labels", multiple=True, help="Reports that count, by label: version:1.1.")
@click.option("--versions", multiple=True, help='Versions that are answered together: "all", or ids.')
@click.option(
    "--against",
    default="",
    help='What changed: since a period, date or span FROM/TO; "before": step by step.',
)
@click.option("--view", default="raw", type=click.Choice(VIEWS), show_default=True)
@click.option(
    "--top", type=click.IntRange(1), help="So many of the largest shares; intervals hold all at once."
)
@click.option("--any", "any_of", multiple=True, help="An option; as one row, who holds any of those named.")
@click.option("--all", "all_of", multiple=True, help="A fact of a record; as one row, of whom all are true.")
@click.option("--candidate", "candidates", multiple=True, help="A text to look for; for a metric of texts.")
@click.option("--level", default=0.95, show_default=True, help="Of the intervals.")
@click.option("--about", type=click.Choice(ABOUTS), help="Whom errors are about; default: both.")
@click.option(
    "--format", "form", default="table", type=click.Choice(list(formats.FORMATS)), show_default=True
)
@with_config
def estimate(
    file: Path | None, metric: str, by: str | None, about: About | None, form: str, **asked: str
) -> None:
    """Answer a metric, named by its id, name or app/name."""
    with exit_codes(), opened(settings(file)) as store:
        answers = ask(store.batches, Catalog(store.manifests), metric=metric, by=by or "", **asked)  # type: ignore[arg-type]
        click.echo(formats.FORMATS[form](answers, about), nl=False)
