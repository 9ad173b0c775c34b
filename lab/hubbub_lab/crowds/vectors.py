"""This file makes up people who hold a vector each, around a common direction."""

import numpy as np

from hubbub.domains.vector import Vector
from hubbub.metric import Metric
from hubbub.vectors import shortened
from hubbub_lab.population import Population

MOST_KINDS = 1_000  # different vectors, so that a large crowd fits into memory


def made_up(metric: Metric, people: int, generator: np.random.Generator) -> Population:
    """Draw a believable population."""
    size, norm = _shape(metric)
    kinds = min(people, MOST_KINDS)
    common = generator.normal(size=size)
    held = common / np.sqrt(common @ common) + generator.normal(size=(kinds, size)) / np.sqrt(size)
    return Population(held * norm / 2, generator.multinomial(people, np.full(kinds, 1 / kinds)))


def truth(metric: Metric, crowd: Population) -> dict[str, float | None]:
    """Return the mean of each coordinate of the shortened vectors."""
    size, norm = _shape(metric)
    means = crowd.counts @ shortened(crowd.values, size, norm) * norm / crowd.n
    return {str(index): float(mean) for index, mean in enumerate(means)}


def _shape(metric: Metric) -> tuple[int, float]:
    assert isinstance(metric.domain, Vector)  # noqa: S101 - it is this file's kind
    return metric.domain.size, float(metric.domain.norm)
