"""This file makes up people to whom options are useful in different degrees, a few options to most."""

import numpy as np

from hubbub import registry
from hubbub.mechanisms.exponential import Exponential
from hubbub.metric import Metric
from hubbub_lab.population import Population
from hubbub_lab.seeded_coins import seeded_coins

MOST_KINDS = 1_000  # different people, so that a large crowd fits into memory


def made_up(metric: Metric, people: int, generator: np.random.Generator) -> Population:
    """Draw a believable population."""
    kinds, k = min(people, MOST_KINDS), len(metric.domain.names)
    utilities = generator.beta(0.3 + 3 * generator.random(k), 1.5, size=(kinds, k))
    return Population(utilities, generator.multinomial(people, np.full(kinds, 1 / kinds)))


def truth(metric: Metric, crowd: Population) -> dict[str, float | None]:
    """Return the mean chance of each option to be picked: what picks tell, and not how useful it is."""
    mechanism = registry.build(metric)
    assert isinstance(mechanism, Exponential)  # noqa: S101 - the only one for this kind
    weights = np.array(mechanism.weights, dtype=float)[mechanism.inputs(crowd.values, seeded_coins(0))]
    chances = crowd.counts @ (weights / weights.sum(axis=1, keepdims=True)) / crowd.n
    return dict(zip(metric.domain.names, chances.tolist(), strict=True))
