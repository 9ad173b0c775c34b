"""This file makes up people who hold a number each, with a hump where most of them are."""

import numpy as np

from hubbub.domains import Number
from hubbub.mechanism import Mechanism
from hubbub.metric import Metric
from hubbub_lab.population import Population, inputs_of


def made_up(metric: Metric, mechanism: Mechanism, people: int, generator: np.random.Generator) -> Population:
    """Draw a believable population on the mechanism's grid, so that a billion people fit into its inputs."""
    low, high = _ends(metric)
    size = inputs_of(metric, mechanism)
    position = (np.arange(size) + 0.5) / size
    weights = position ** generator.uniform(1, 4) * (1 - position) ** generator.uniform(3, 9)
    return Population(np.linspace(low, high, size), generator.multinomial(people, weights / weights.sum()))


def truth(metric: Metric, crowd: Population) -> dict[str, float | None]:
    """Return the mean, the sum and the sample variance."""
    values = np.clip(crowd.values, *_ends(metric))
    mean = float(crowd.counts @ values) / crowd.n
    squares = float(crowd.counts @ (values - mean) ** 2)
    spread = squares / (crowd.n - 1) if crowd.n > 1 else None
    return {"mean": mean, "sum": mean * crowd.n, "variance": spread}


def _ends(metric: Metric) -> tuple[float, float]:
    assert isinstance(metric.domain, Number)  # noqa: S101 - it is this file's kind
    return float(metric.domain.low), float(metric.domain.high)
