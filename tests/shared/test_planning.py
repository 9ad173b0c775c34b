"""This file checks that planned reports give the planned error, and that no known mechanism has less of it.

The reference values were computed with 50-digit arithmetic.
"""

import json
import math
from pathlib import Path

import pytest

from benchmarks.accuracy import frequencies, means
from benchmarks.accuracy.tasks import Task
from hubbub import registry
from hubbub.errors import DomainError
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.planning import required_reports

MECHANISMS = [
    OptimizedUnary("1", 16),
    RandomizedResponse("0.1", 2),
    RandomizedResponse("8", 64),
    Laplace("1", "0", "10"),
]
TASKS = [
    pytest.param(task, marks=pytest.mark.torture if "k = 65536" in task.name else (), id=task.name)
    for task in (*frequencies.tasks(), *means.tasks())
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@pytest.mark.parametrize("stderr", [0.2, 0.01, 1e-4])
@pytest.mark.parametrize("frequency", [0.0, 0.5])
def test_the_reports_required_are_just_enough(mechanism: Mechanism, stderr: float, frequency: float) -> None:
    needed = required_reports(mechanism, stderr, frequency=frequency)

    assert mechanism.stderr(needed, frequency=frequency) <= stderr * (1 + 1e-12)
    assert needed == 1 or mechanism.stderr(needed - 1, frequency=frequency) > stderr


@pytest.mark.parametrize("stderr", [0.0, -0.1, math.inf, math.nan])
def test_an_error_that_cannot_be_planned_for_is_refused(stderr: float) -> None:
    with pytest.raises(DomainError, match="positive and finite"):
        required_reports(MECHANISMS[0], stderr)


def test_a_frequency_that_is_none_is_refused() -> None:
    with pytest.raises(DomainError, match="from 0 to 1"):
        required_reports(MECHANISMS[0], 0.1, frequency=1.5)


@pytest.mark.parametrize("task", TASKS)
def test_the_choice_has_as_little_error_as_the_best_that_is_known(task: Task) -> None:
    outcome = task.run()

    assert outcome.is_met, outcome.details


@pytest.mark.parametrize(
    "row",
    json.loads((Path(__file__).parents[1] / "vectors" / "reference_totals.json").read_text())["rows"],
    ids=str,
)
def test_total_errors_are_the_reference_ones(row: dict[str, object]) -> None:
    k = int(row["d"])  # type: ignore[call-overload]
    mechanism = registry.make(str(row["mechanism"]), str(row["eps"]), k=k)

    total = k * mechanism.stderr(1, frequency=1 / k) ** 2

    assert total == pytest.approx(row["total_mse_n"], rel=1e-12)
