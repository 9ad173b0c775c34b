"""This file holds populations: what everybody would answer if asked outright, made up or given."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.domain import Number
from hubbub.errors import DomainError
from hubbub.mechanism import Mechanism, Values
from hubbub.metric import Metric
from hubbub_lab.seeded_coins import seeded_coins

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """People by what they hold.

    values: as a mechanism takes them, category indices or numbers, shape (groups,). counts: how many people
    hold each, shape (groups,).
    """

    values: Values
    counts: Ints

    @property
    def n(self) -> int:
        """How many people there are."""
        return int(self.counts.sum())

    def chunks(self, people: int) -> Iterator[Values]:
        """Hand out everybody's values, so many people at a time."""
        ends = np.cumsum(self.counts)
        for start in range(0, self.n, people):
            stop = min(start + people, self.n)
            first, last = np.searchsorted(ends, [start, stop - 1], side="right")
            groups = slice(first, last + 1)
            before = ends[groups] - self.counts[groups]
            yield np.repeat(self.values[groups], np.minimum(ends[groups], stop) - np.maximum(before, start))

    def truth(self, metric: Metric) -> dict[str, float | None]:
        """Return the true value of each row of an answer; None for a lone person's variance."""
        if isinstance(metric.domain, Number):
            values = np.clip(self.values, float(metric.domain.low), float(metric.domain.high))
            mean = float(self.counts @ values) / self.n
            squares = float(self.counts @ (values - mean) ** 2)
            spread = squares / (self.n - 1) if self.n > 1 else None
            return {"mean": mean, "sum": mean * self.n, "variance": spread}
        held = np.zeros(len(metric.domain.names), dtype=np.int64)
        np.add.at(held, self.values, self.counts)
        return dict(zip(metric.domain.names, (held / self.n).tolist(), strict=True))


def given(metric: Metric, values: object) -> Population:
    """Take a population from an array of answers: booleans, options or numbers.

    Raises DomainError if there is none, or one that the metric can't take.
    """
    answers = np.asarray(values)
    if answers.ndim != 1 or not answers.size:
        raise DomainError(f'the population of "{metric.name}" must be a row of one answer a person')
    if isinstance(metric.domain, Number):
        numbers = np.array([metric.domain.encode(answer) for answer in answers.tolist()])
        return Population(numbers, np.ones(numbers.size, dtype=np.int64))
    names, counts = np.unique(answers, return_counts=True)
    indices = np.array([metric.domain.encode(name) for name in names.tolist()])
    return Population(indices, counts.astype(np.int64))


def made_up(metric: Metric, mechanism: Mechanism, people: int, *, seed: int) -> Population:
    """Draw a believable population: a minority that says yes, a few common options, numbers with a hump.

    Numbers lie on the mechanism's grid, so that a billion people fit into its inputs.
    """
    generator = np.random.default_rng(seed)
    size = inputs_of(metric, mechanism)
    values: Values = np.arange(size)
    if isinstance(metric.domain, Number):
        position = (values + 0.5) / size
        values = np.linspace(float(metric.domain.low), float(metric.domain.high), size)
        weights = position ** generator.uniform(1, 4) * (1 - position) ** generator.uniform(3, 9)
    elif metric.domain.kind == "boolean":
        share = generator.beta(3, 6)
        weights = np.array([1 - share, share])
    else:
        weights = generator.permutation((values + 1.0) ** -generator.uniform(0.7, 1.4))
    return Population(values, generator.multinomial(people, weights / weights.sum()))


def inputs_of(metric: Metric, mechanism: Mechanism) -> int:
    """Return how many inputs the mechanism tells apart: categories, or points of its grid."""
    domain = metric.domain
    last = float(domain.high) if isinstance(domain, Number) else len(domain.names) - 1
    return int(mechanism.inputs(np.array([last]), seeded_coins(0))[0]) + 1
