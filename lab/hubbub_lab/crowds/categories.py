"""This file makes up people who hold one category each: a minority that says yes, a few common options."""

import numpy as np

from hubbub.metric import Metric
from hubbub_lab.population import Population


def made_up(metric: Metric, people: int, generator: np.random.Generator) -> Population:
    """Draw a believable population."""
    values = np.arange(len(metric.domain.names))
    if metric.domain.kind == "boolean":
        share = generator.beta(3, 6)
        weights = np.array([1 - share, share])
    else:
        weights = generator.permutation((values + 1.0) ** -generator.uniform(0.7, 1.4))
    return Population(values, generator.multinomial(people, weights / weights.sum()))


def truth(metric: Metric, crowd: Population) -> dict[str, float | None]:
    """Return the share of each category."""
    names = metric.domain.names
    held = np.zeros(len(names), dtype=np.int64)
    np.add.at(held, crowd.values, crowd.counts)
    return dict(zip(names, (held / crowd.n).tolist(), strict=True))
