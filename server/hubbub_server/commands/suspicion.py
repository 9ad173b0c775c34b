"""This file is ``hubbub-server suspicion``."""

import sys
from pathlib import Path

import click
import msgspec

from hubbub_server.analysis.suspicion import Inspection, Suspicion
from hubbub_server.analysis.suspicion import suspicion as look
from hubbub_server.catalog import Catalog
from hubbub_server.commands.opened import exit_codes, opened, settings, with_config


@click.command()
@click.argument("metric")
@click.option("--from", "first", default="", help="First period, as number or date.")
@click.option("--to", "last", default="", help="Period or date after the last.")
@click.option("--format", "form", default="text", type=click.Choice(["text", "json"]), show_default=True)
@with_config
def suspicion(file: Path | None, metric: str, first: str, last: str, form: str) -> None:
    """Test whether reports of a metric obey the laws of honest ones; exit code 1 if some do not."""
    with exit_codes(), opened(settings(file)) as store:
        found = look(store.batches, Catalog(store.manifests), metric=metric, first=first, last=last)
        click.echo(_json(found) if form == "json" else _text(found))
        if any(inspection.findings for inspection in found.periods):
            sys.exit(1)


def _json(found: Suspicion) -> str:
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()


def _text(found: Suspicion) -> str:
    lines = [line for each in found.periods for line in _lines(each)] or ["no reports"]
    return "\n".join([*lines, *(f"note: {each}" for each in found.advice)])


def _lines(each: Inspection) -> list[str]:
    seen = f", {each.inspected:,} of them one by one" if each.inspected else ""
    verdict = "nothing found" if each.is_tested else "no law of honest reports is known"
    heading = f"from {each.start}: {each.n:,} report{'s' * (each.n != 1)}{seen}"
    if not each.findings:
        return [f"{heading}: {verdict}"]
    return [f"{heading}:", *(f"warning: {finding.sentence}" for finding in each.findings)]
