"""This file is the command ``python -m benchmarks``: measure goals, print them, keep the figures."""

import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import click

from benchmarks import machine, report
from benchmarks.goals import Goal, NotMeasuredError
from benchmarks.pairs import FEWEST, alternate
from benchmarks.report import Outcome
from benchmarks.rivals import RivalError, Rivals

PARTS = ("randomizers", "tallies", "hashing", "streaming", "simulation", "imports", "device", "server")
RESULTS = Path(__file__).parent / "results"


@click.command()
@click.argument("words", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="List the goals and measure nothing.")
@click.option("--pairs", default=FEWEST, show_default=True, type=click.IntRange(min=1), help="How many.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to keep the figures.")
def main(words: tuple[str, ...], *, only_list: bool, pairs: int, path: Path | None) -> None:
    """Measure every goal whose name has all WORDS in it, or every goal.

    A run of every goal is kept in benchmarks/results. Exits with 1 if one was missed, or failed.
    """
    goals = [goal for goal in every_goal() if all(word in goal.name for word in words)]
    if only_list:
        for goal in goals:
            click.echo(f"{goal.sense} {goal.limit:g}\t{goal.name}")
        return
    facts = machine.facts()
    click.echo(", ".join(f"{name} {fact}" for name, fact in facts.items()))
    click.echo(report.HEADING)
    outcomes = []
    with Rivals() as rivals:
        for goal in goals:
            outcomes.append(measure(goal, rivals, pairs=pairs))
            click.echo(report.line(outcomes[-1]))
    missed = sum(outcome.is_missed for outcome in outcomes)
    click.echo(f"{len(outcomes)} goals, {missed} missed; peers: {rivals.versions}")
    if path or not words:
        kept = path or RESULTS / f"{datetime.now(UTC):%Y-%m-%d}-{machine.slug()}.json"
        report.save(report.document(outcomes, facts, rivals.versions), kept)
        click.echo(f"figures kept in {kept}")
    sys.exit(1 if missed else 0)


def every_goal() -> list[Goal]:
    """Return the goals of all parts, in order."""
    return [goal for part in PARTS for goal in import_module(f"benchmarks.{part}").goals()]


def measure(goal: Goal, rivals: Rivals, *, pairs: int) -> Outcome:
    """Measure one goal; what is missing is an outcome too."""
    try:
        with goal.prepare(rivals) as contest:
            measured = alternate(contest.ours, contest.theirs, pairs=pairs)
    except (NotMeasuredError, RivalError) as error:
        return Outcome(goal, reason=str(error))
    except Exception as error:  # the other goals are worth measuring all the same
        return Outcome(goal, reason=f"{type(error).__name__}: {error}", has_failed=True)
    return Outcome(goal, contest, measured)


if __name__ == "__main__":
    main()
