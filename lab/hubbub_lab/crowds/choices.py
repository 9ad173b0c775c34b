"""This file makes up people who pick some options each, a few of them popular."""

import numpy as np

from hubbub.domains.choices import Choices
from hubbub.metric import Metric
from hubbub_lab.population import Population

MOST_SETS = 1_000  # different ones, so that a large crowd fits into memory


def made_up(metric: Metric, people: int, generator: np.random.Generator) -> Population:
    """Draw a believable population in which nobody picks more than the most."""
    domain = metric.domain
    assert isinstance(domain, Choices)  # noqa: S101 - it is this file's kind
    sets = min(people, MOST_SETS)
    liking = generator.permutation((np.arange(len(domain.options)) + 1.0) ** -1)
    order = np.argsort(generator.exponential(size=(sets, liking.size)) / liking, axis=1)
    picks = np.arange(liking.size) < generator.integers(0, domain.most + 1, size=(sets, 1))
    held = np.zeros(order.shape, dtype=np.int64)
    np.put_along_axis(held, order, picks, axis=1)
    return Population(held, generator.multinomial(people, np.full(sets, 1 / sets)))


def truth(metric: Metric, crowd: Population) -> dict[str, float | None]:
    """Return the share of people who picked each option."""
    return dict(zip(metric.domain.names, (crowd.counts @ crowd.values / crowd.n).tolist(), strict=True))
