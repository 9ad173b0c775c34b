"""This file sets the planner's choices for a mean on [-1, 1] against optimal tables and closed forms."""

import math
from collections.abc import Mapping
from decimal import Decimal
from functools import partial

from benchmarks.accuracy.tasks import Outcome, Task, rows_of
from hubbub.candidates import Candidate
from hubbub.domains.number import Number
from hubbub.planning import best

FILE = "means.json"
BETWEEN = ("0.1", "0.3", "0.61", "0.9", "1.1", "1.7", "2.3", "3.3", "4.9", "5.7", "7.9", "10", "13", "20")


def tasks() -> list[Task]:
    """Return a task for each epsilon with a table, and for some between, below and above."""
    tables = {row["epsilon"]: row["worst_nvar"] for row in rows_of(FILE)}
    return [
        *(
            Task(f"means, epsilon {epsilon}, a table's", partial(at_a_table, epsilon, tables[epsilon]))
            for epsilon in tables
        ),
        *(
            Task(f"means, epsilon {epsilon}, no table's", partial(elsewhere, epsilon, tables))
            for epsilon in BETWEEN
        ),
    ]


def at_a_table(epsilon: str, variance: float) -> Outcome:
    """Compare with the optimal table within 0.5 %, which has less error than all closed forms."""
    choice = _choice(epsilon)
    rivals = closed_forms(float(epsilon))
    return Outcome(
        max(choice.error**2 / variance, 1.005 * choice.error**2 / min(rivals.values())),
        1.005,
        _words(choice, {"the optimal table": variance, **rivals}),
    )


def elsewhere(epsilon: str, tables: Mapping[str, float]) -> Outcome:
    """Compare within 0.5 % with the least of all closed forms and the next smaller table."""
    choice = _choice(epsilon)
    smaller = [variance for made, variance in tables.items() if float(made) < float(epsilon)]
    rivals = closed_forms(float(epsilon)) | ({"the next table": min(smaller)} if smaller else {})
    return Outcome(choice.error**2 / min(rivals.values()), 1.005, _words(choice, rivals))


def closed_forms(epsilon: float) -> dict[str, float]:
    """Return the worst-case variance of one report on [-1, 1] by its published formula.

    >>> {name: round(variance, 4) for name, variance in closed_forms(2.0).items()}
    {'Laplace': 2.0, 'Duchi': 1.7241, 'piecewise': 1.2276, 'hybrid': 1.0423}
    """
    e, s = math.exp(epsilon), math.exp(epsilon / 2)
    duchi = ((e + 1) / (e - 1)) ** 2
    hybrid = (s + 3) / (3 * s * (s - 1)) + (e + 1) ** 2 / (s * (e - 1) ** 2)
    return {
        "Laplace": 8 / epsilon**2,
        "Duchi": duchi,
        "piecewise": 1 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2),
        "hybrid": duchi if epsilon <= 0.60935 else hybrid,  # which draws no piecewise report there
    }


def _choice(epsilon: str) -> Candidate:
    return best(Number(Decimal(-1), Decimal(1)), epsilon)


def _words(choice: Candidate, rivals: Mapping[str, float]) -> str:
    others = ", ".join(f"{name} {variance:.5g}" for name, variance in rivals.items())
    ours = f"{choice.kind} at epsilon {choice.epsilon}, {choice.bits} bits, {choice.error**2:.5g}"
    return f"{ours} against {others}"
