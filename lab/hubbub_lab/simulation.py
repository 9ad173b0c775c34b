"""This file runs metrics over populations, through the very mechanisms and answers of the real thing."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from hubbub import registry
from hubbub.coins import SimulationCoins
from hubbub.errors import DomainError
from hubbub.grid import Grid
from hubbub.manifest import Manifest
from hubbub.mechanism import Mechanism
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_lab.crowds import KINDS
from hubbub_lab.population import Population, given, inputs_of
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.analysis.answers import Answer, answer
from hubbub_server.analysis.lines import figure, span
from hubbub_server.analysis.rows import Row

Mode = Literal["aggregate", "per-user"]

CHUNK = 1 << 20  # bytes of reports held at once, so that memory stays flat
MOST_PEOPLE = 10**12
MOST_ONE_BY_ONE = 10**9
COMMON = 10  # of the texts that people hold, so many are asked for


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row of an answer beside the truth; None where there is none, as for one person's variance."""

    truth: float | None
    row: Row

    @property
    def error(self) -> float | None:
        """How far the estimate lies above the truth."""
        value, truth = self.row.value, self.truth
        return None if value is None or truth is None else value - truth

    @property
    def standard_errors(self) -> float | None:
        """The error in standard errors about the respondents."""
        stderr = self.row.respondents.stderr
        return self.error / stderr if self.error is not None and stderr else None

    @property
    def holds(self) -> bool | None:
        """Whether the interval about the respondents holds the truth."""
        truth, interval = self.truth, self.row.respondents.interval
        return None if truth is None or interval is None else interval[0] <= truth <= interval[1]


@dataclass(frozen=True, slots=True)
class Result:
    """A metric's answer beside the truth.

    asked, mode: how its tally was to come about, and how it did.
    """

    metric: Metric
    asked: Mode
    mode: Mode
    answer: Answer
    comparisons: tuple[Comparison, ...]

    @property
    def truth(self) -> dict[str, float | None]:
        """The true value of each row."""
        return {each.row.name: each.truth for each in self.comparisons}

    def __str__(self) -> str:
        return "\n".join(f"{self.metric.name} {self._sentence(each)}" for each in self.comparisons)

    def _sentence(self, each: Comparison) -> str:
        about = each.row.respondents
        value, truth = (
            figure(number, about.stderr, each.row.unit) for number in (each.row.value, each.truth)
        )
        return (
            f"{each.row.name}: {value} ({span(about.interval, about.stderr, each.row.unit)}), truth {truth}"
        )

    @property
    def note(self) -> str:
        """What to know about the way, or nothing."""
        if self.mode == self.asked:
            return ""
        return f"{self.metric.name} was simulated {self.mode}: its mechanism has no law for everybody at once"

    def document(self) -> dict[str, Any]:
        """Return plain data that JSON can carry."""
        rows = [
            {
                **comparison.row.document(),
                "truth": comparison.truth,
                "error": comparison.error,
                "standard_errors": comparison.standard_errors,
                "holds": comparison.holds,
            }
            for comparison in self.comparisons
        ]
        return {**self.answer.document(), "mode": self.mode, "note": self.note, "rows": rows}


@runtime_checkable
class _Rounding(Protocol):
    """A mechanism that rounds numbers at random to the points of a grid."""

    @property
    def grid(self) -> Grid: ...


def simulate(
    manifest: Manifest,
    people: int = 1_000_000,
    *,
    seed: int = 7,
    mode: Mode = "aggregate",
    population: Mapping[str, object] | None = None,
    level: float = 0.95,
) -> list[Result]:
    """Ask every metric of everybody once and answer it.

    mode: "aggregate" draws the tally from its exact law, where the mechanism knows one; "per-user" flips all
    coins of every person. population: a row of true answers for some metrics; for the others, so many
    ``people`` are made up. The same seed and version give the same results.

    Raises DomainError.
    """
    if mode not in ("aggregate", "per-user"):
        raise DomainError(f"mode must be aggregate or per-user, got {str(mode)[:64]!r}")
    if not 1 <= people <= MOST_PEOPLE:
        raise DomainError(f"people must be from 1 to 10**12, got {people}")
    answers = {manifest[name].name: values for name, values in (population or {}).items()}
    return [
        _ask(metric, people, answers.get(metric.name), seed=seed, mode=mode, level=level)
        for metric in manifest.metrics
    ]


def _ask(metric: Metric, people: int, answers: object, *, seed: int, mode: Mode, level: float) -> Result:
    mechanism = registry.build(metric)
    crowd = (
        KINDS[metric.domain.kind].made_up(metric, people, _generator(seed, metric))
        if answers is None
        else given(metric, answers)
    )
    coins = seeded_coins(_seed(seed, "coins", metric))
    tally = _aggregate(metric, mechanism, crowd, coins) if mode == "aggregate" else None
    used: Mode = "per-user" if tally is None else "aggregate"
    truth = KINDS[metric.domain.kind].truth(metric, crowd)
    is_text = metric.domain.kind == "text"
    common = sorted(truth, key=lambda text: -(truth[text] or 0))[:COMMON] if is_text else ()
    found = answer(
        metric,
        _per_user(mechanism, crowd, coins) if tally is None else tally,
        level=level,
        candidates=common,
    )
    unheld = 0.0 if is_text else None  # the truth of a text that nobody holds, but a mechanism found
    comparisons = tuple(Comparison(truth.get(row.name, unheld), row) for row in found.rows)
    return Result(metric, mode, used, found, comparisons)


def _aggregate(
    metric: Metric, mechanism: Mechanism, crowd: Population, coins: SimulationCoins
) -> Tally | None:
    counts = np.zeros(inputs_of(metric, mechanism), dtype=np.int64)
    if not counts.size:
        return None
    if isinstance(mechanism, _Rounding):
        counts = mechanism.grid.crowd(crowd.values, crowd.counts, coins)
    else:  # all who hold a value have one input
        np.add.at(counts, mechanism.inputs(crowd.values, coins), crowd.counts)
    return mechanism.simulate(counts, coins)


def _per_user(mechanism: Mechanism, crowd: Population, coins: SimulationCoins) -> Tally:
    if crowd.n > MOST_ONE_BY_ONE:
        raise DomainError(f"{mechanism.kind} is simulated person by person; ask for 10**9 people at most")
    people = max(1, CHUNK // mechanism.layout.itemsize)
    tallies = (mechanism.tally(mechanism.perturb(values, coins)) for values in crowd.chunks(people))
    total = next(tallies)
    for tally in tallies:
        total += tally
    return total


def _generator(seed: int, metric: Metric) -> np.random.Generator:
    return np.random.default_rng(_seed(seed, "truth", metric))


def _seed(seed: int, purpose: str, metric: Metric) -> int:
    """Give truth and coins of each metric seeds of their own, so that no metric moves another's."""
    return int.from_bytes(hashlib.sha256(f"{seed} {purpose} {metric.name}".encode()).digest()[:16])
