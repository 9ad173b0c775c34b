"""This file sets the planner's choices for k categories against the least error that any mechanism has."""

from functools import partial
from typing import Any

from benchmarks.accuracy.tasks import Outcome, Task, rows_of
from hubbub.domains.choice import Choice
from hubbub.planning import best

FILE = "frequencies.json"
SHORT = 512  # bits of a report


def tasks() -> list[Task]:
    """Return a task for every epsilon and number of categories in the table."""
    return [
        Task(f"shares, epsilon {row['epsilon']}, k = {row['k']}", partial(compare, row))
        for row in rows_of(FILE)
    ]


def compare(row: dict[str, Any]) -> Outcome:
    """Compare total mean squared errors.

    Within 0.1 % where the best mechanism's report is short, else within 3 %.
    """
    k = row["k"]
    choice = best(Choice(tuple(map(str, range(k)))), row["epsilon"])
    ours = k * choice.error**2
    limit = 1.001 if row["bits"] <= SHORT else 1.03
    return Outcome(
        ours / row["total_mse_n"],
        limit,
        f"{choice.kind}, {choice.bits} bits, {ours:.5g} against {row['total_mse_n']:.5g}, "
        f"{row['best']}, {row['bits']} bits",
    )
