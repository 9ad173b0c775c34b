"""This file sets estimates beside the truth, which only a demo knows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hubbub.metric import Metric
from hubbub.table import rounded, table


@dataclass(frozen=True, slots=True)
class Result:
    """One quantity as it is and as it was estimated.

    interval: about these respondents, at 95 %.
    """

    name: str
    route: str
    reports: int
    truth: float
    estimate: float
    stderr: float
    interval: tuple[float, float]
    epsilon: str

    @property
    def holds(self) -> bool:
        """Whether the interval holds the truth."""
        return self.interval[0] <= self.truth <= self.interval[1]

    @property
    def errors_off(self) -> float:
        """How many standard errors the estimate is off."""
        return (self.estimate - self.truth) / self.stderr


def results_of(
    metric: Metric, route: str, answer: Mapping[str, Any], truth: Mapping[str, float]
) -> Iterator[Result]:
    """Pair the rows of an answer with what is true."""
    for row in answer["rows"]:
        if row["name"] in truth:
            about = row["respondents"]
            yield Result(
                name=f"{metric.name}: {row['name']}",
                route=route,
                reports=answer["n"],
                truth=truth[row["name"]],
                estimate=row["value"],
                stderr=about["stderr"],
                interval=(about["interval"][0], about["interval"][1]),
                epsilon=answer["epsilon"],
            )


def show_results(results: Sequence[Result]) -> None:
    """Print one table and what to make of it."""
    heads = ("metric", "route", "reports", "truth", "estimate", "95 % interval", "epsilon", "holds the truth")
    print(table(heads, [_line(result) for result in results], left=2))
    missed = sum(not result.holds for result in results)
    print(f"\n{missed} of {len(results)} intervals miss the truth. About one in twenty does, by design:")
    print("a 95 % interval that never missed would be wider than it needs to be.")
    print(
        "A share below 0 or above 1 is what the noise left: cut off, it would shift what is added up from it."
    )


def _line(result: Result) -> tuple[str, ...]:
    low, high = (rounded(end, result.stderr) for end in result.interval)
    return (
        result.name,
        result.route,
        f"{result.reports:,}",
        rounded(result.truth, result.stderr),
        rounded(result.estimate, result.stderr),
        f"{low} to {high}",
        result.epsilon,
        "yes" if result.holds else "no",
    )
