"""This file is ``hubbub``: lint a manifest, plan it, sign it, try it on made-up people, audit the mechanisms.

Exit codes: 0 done, 1 a check failed, 2 wrong use, 3 parts missing.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import click

from hubbub.candidates import BITS, CELLS
from hubbub.errors import ManifestError
from hubbub.lint import lint as judge
from hubbub.manifest import Manifest
from hubbub.table import table
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.accounts import account, account_lines
from hubbub_lab.audit import audited_metrics, audits
from hubbub_lab.black_box import black_box
from hubbub_lab.costs import Cost, cost
from hubbub_lab.exit_codes import exit_codes
from hubbub_lab.plan import Plan, asked_by, plans, resolved, unanswered
from hubbub_lab.plan_lines import plan_lines
from hubbub_lab.rappor_import import rappor_document, rappor_lines
from hubbub_lab.rappor_import import read as read_rappor
from hubbub_lab.rewriting import written
from hubbub_lab.signing import keypair, sign_file
from hubbub_lab.simulation import Mode
from hubbub_lab.simulation import simulate as run
from hubbub_lab.tables import VERDICTS, audit_lines, lint_lines, simulation_lines

CSV = click.Path(path_type=Path, exists=True, dir_okay=False)
MANIFEST = click.argument("file", type=CSV)
PEOPLE = click.IntRange(1, 10**12)
MODES: dict[Mode, str] = {
    "aggregate": "aggregate: each sum is drawn from its exact law",
    "per-user": "per-user: every coin of every person is flipped",
}
FORMAT = click.option(
    "--format", "form", default="table", type=click.Choice(["table", "json"]), show_default=True
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hubbub")
def command() -> None:
    """Check metrics and mechanisms before anybody is asked."""


command.add_command(keypair)
command.add_command(sign_file)


@command.command()
@MANIFEST
def lint(file: Path) -> None:
    """Say what is wrong, missing or risky in a manifest, and what it costs a device."""
    with exit_codes():
        found = judge(_text(file), where=str(file), today=datetime.now(UTC).date())
        click.echo(lint_lines(found))
        sys.exit(int(found.has_errors))


@command.command()
@MANIFEST
@click.option("--reports", type=PEOPLE, default=10_000, show_default=True, help="How many to expect.")
@click.option(
    "--error",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="The standard error to reach, as a part of all people or of the range.",
)
@click.option(
    "--bits", type=click.IntRange(1), default=BITS, show_default=True, help="The most a report may have."
)
@click.option(
    "--cells", type=click.IntRange(1), default=CELLS, show_default=True, help="The most a tally may have."
)
@click.option("--shuffle", type=click.IntRange(2, 10**7), help="How many reports somebody shuffles.")
@click.option("--time", "timed", is_flag=True, help="Also take the times of each candidate, on this machine.")
@click.option("--write", is_flag=True, help='Put the choices in the place of each mechanism = "best".')
@FORMAT
def plan(
    file: Path,
    *,
    reports: int,
    error: float,
    bits: int,
    cells: int,
    shuffle: int | None,
    timed: bool,
    write: bool,
    form: str,
) -> None:
    """Choose the mechanism with the least error for every metric, and say what it takes."""
    with exit_codes():
        text = _text(file)
        found = plans(Manifest.from_toml(text, where=str(file)), bits=bits, cells=cells)
        accounts = [account(metric, shuffle=shuffle) for metric in asked_by(found)]
        if form == "json":
            metrics = [each.document(reports, error) for each in found]
            document = {"hubbub": version("hubbub"), "reports": reports, "error": error, "metrics": metrics}
            document["accounts"] = [each.document() for each in accounts]
            click.echo(json.dumps(document, indent=2, allow_nan=False))
        else:
            costs = _timed(found) if timed else None
            click.echo(plan_lines(found, reports=reports, error=error, costs=costs))
            click.echo(f"\n{account_lines(accounts, shuffle=shuffle)}" * bool(accounts))
        if write:
            _write(file, text, found)
        sys.exit(int(bool(unanswered(found))))


@command.command()
@MANIFEST
@click.option("--people", type=PEOPLE, default=1_000_000, show_default=True, help="How many there are.")
@click.option("--seed", default=7, show_default=True, help="One seed, one result.")
@click.option(
    "--mode",
    default="aggregate",
    type=click.Choice(list(MODES)),
    show_default=True,
    help="Draw sums from their law, or flip every coin of every person.",
)
@click.option("--metric", "names", multiple=True, help="Ask only this one, and others that are named so.")
@FORMAT
def simulate(file: Path, *, people: int, seed: int, mode: Mode, names: tuple[str, ...], form: str) -> None:
    """Ask a made-up population, and set the answers beside the truth."""
    with exit_codes():
        manifest = Manifest.from_toml(_text(file), where=str(file))
        if names:
            manifest = replace(manifest, metrics=tuple(manifest[name] for name in dict.fromkeys(names)))
        results = run(manifest, people, seed=seed, mode=mode)
        facts = {"hubbub": version("hubbub"), "numpy": version("numpy"), "seed": seed, "people": people}
        if form == "json":
            document = {**facts, "metrics": [result.document() for result in results]}
            click.echo(json.dumps(document, indent=2, allow_nan=False))
            return
        click.echo(
            f"{people:,} people made up from seed {seed} by hubbub {facts['hubbub']} ({MODES[mode]})\n"
        )
        click.echo(simulation_lines(results))


@command.command()
@click.option("--black-box", "outside", is_flag=True, help="Also attack the bytes that leave a device.")
@click.option(
    "--reports",
    type=click.IntRange(2, 10**12),
    default=1_000_000,
    show_default=True,
    help="Of each end, for the black box.",
)
def audit(*, outside: bool, reports: int) -> None:
    """Hold every mechanism's privacy loss against its claim, by proof and by attack."""
    with exit_codes():
        found = list(audits())
        click.echo(
            "The worst loss of one report, enclosed; listed: found again by going through all reports.\n"
        )
        click.echo(audit_lines(found))
        fine = not any(each.faults for each in found)
        if outside:
            click.echo(
                f"\nepsilon at least, as {reports:,} reports a side show, wrong once in ten million:\n"
            )
            fine &= _attack(reports)
        sys.exit(int(not fine))


@command.command()
@click.argument("parameters", type=CSV)
@click.argument("counts", type=CSV)
@click.argument("map", type=CSV)
@FORMAT
def rappor(
    parameters: Path,
    counts: Path,
    map: Path,  # noqa: A002 - the name of the file
    form: str,
) -> None:
    """Decode a one-time collection in the CSV form of google/rappor."""
    with exit_codes():
        collection = read_rappor(parameters, counts, map)
        if form == "json":
            document = {"hubbub": version("hubbub"), **rappor_document(collection)}
            click.echo(json.dumps(document, indent=2, allow_nan=False))
        else:
            click.echo(rappor_lines(collection))


def _attack(reports: int) -> bool:
    """Print a lower bound for every mechanism; tell whether all are at most the claim."""
    rows, fine = [], True
    for domain, metric in audited_metrics(epsilons=("1", "4"), categories=(2, 8)):
        if metric.delta.atto:  # beyond which no epsilon holds
            continue
        bound = black_box(metric.of("audit"), reports=reports, coins=system_coins())
        kept = bound <= float(metric.epsilon.exact)
        fine &= kept
        rows.append((metric.mechanism, domain, str(metric.epsilon), f"{bound:.4f}", VERDICTS[kept]))
    click.echo(table(("mechanism", "domain", "claim", "at least", "within the claim"), rows, left=2))
    return fine


def _timed(found: Sequence[Plan]) -> dict[tuple[str, str], Cost]:
    return {
        (plan.metric.name, str(candidate)): cost(candidate.metric)
        for plan in found
        for candidate in plan.candidates
        if candidate.is_built
    }


def _write(file: Path, text: str, found: Sequence[Plan]) -> None:
    """Write choices into a manifest, and say so on stderr; what is named already is published, and stays."""
    choices = resolved(found)
    changed = written(text, choices, where=str(file))
    if changed != text:
        file.write_text(changed, "utf-8", newline="")
    for name, metric in choices.items():
        click.echo(f'{file}: metric "{name}" is asked by {metric.mechanism} from now on', err=True)
    if not choices:
        click.echo(f"{file}: nothing to write, no metric leaves its mechanism open", err=True)


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")  # line ends as they are
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"can't be read: {error}", where=str(file)) from None
