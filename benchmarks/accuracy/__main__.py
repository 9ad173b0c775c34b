"""This file is the command ``python -m benchmarks.accuracy``: compare errors, and print a line a task."""

import sys
from importlib import import_module
from pkgutil import iter_modules

import click

from benchmarks.accuracy.tasks import HERE, Task
from benchmarks.goals import NotMeasuredError
from benchmarks.rivals import RivalError

HEADING = f"{'ratio':>9} {'at most':>9}  {'':12} what"


@click.command()
@click.argument("words", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="List the tasks and run none.")
def main(words: tuple[str, ...], *, only_list: bool) -> None:
    """Run every task whose name has all WORDS in it, or every task; exit with 1 if one missed its limit."""
    tasks = [task for task in every_task() if all(word in task.name for word in words)]
    if only_list:
        click.echo("\n".join(task.name for task in tasks))
        return
    click.echo(HEADING)
    missed = sum(report(task) for task in tasks)
    click.echo(f"{len(tasks)} tasks, {missed} missed")
    sys.exit(1 if missed else 0)


def every_task() -> list[Task]:
    """Return the tasks of every file of this package that has some."""
    names = sorted(module.name for module in iter_modules([str(HERE)]) if module.name != "__main__")
    parts = [import_module(f"benchmarks.accuracy.{name}") for name in names]
    return [task for part in parts if hasattr(part, "tasks") for task in part.tasks()]


def report(task: Task) -> bool:
    """Run a task and print its line; tell whether it missed its limit, or failed."""
    try:
        outcome = task.run()
    except (NotMeasuredError, RivalError) as error:
        click.echo(f"{'-':>9} {'-':>9}  {'not measured':12} {task.name}\n{'':34}{error}")
        return False
    except Exception as error:  # the other tasks are worth running all the same
        click.echo(f"{'-':>9} {'-':>9}  {'FAILED':12} {task.name}\n{'':34}{type(error).__name__}: {error}")
        return True
    verdict = "met" if outcome.is_met else "MISSED"
    click.echo(f"{outcome.ratio:9.4f} {outcome.limit:9g}  {verdict:12} {task.name}\n{'':34}{outcome.details}")
    return not outcome.is_met


if __name__ == "__main__":
    main()
