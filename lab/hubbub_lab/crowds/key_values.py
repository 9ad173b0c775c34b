"""This file makes up people who have some keys each, with a number for each key."""

import numpy as np

from hubbub.domains.key_value import KeyValue
from hubbub.metric import Metric
from hubbub_lab.population import Population

MOST_KINDS = 1_000  # different people, so that a large crowd fits into memory


def made_up(metric: Metric, people: int, generator: np.random.Generator) -> Population:
    """Draw a believable population in which nobody has more keys than the most."""
    domain = _domain(metric)
    kinds, k = min(people, MOST_KINDS), len(domain.listed)
    liking = generator.permutation((np.arange(k) + 1.0) ** -1)
    ranks = np.argsort(np.argsort(generator.exponential(size=(kinds, k)) / liking, axis=1), axis=1)
    is_held = ranks < generator.integers(0, domain.most + 1, size=(kinds, 1))
    low, high = float(domain.number.low), float(domain.number.high)
    numbers = low + (high - low) * generator.beta(2 * generator.random(k) + 0.5, 2, size=(kinds, k))
    return Population(
        np.where(is_held, numbers, np.nan), generator.multinomial(people, np.full(kinds, 1 / kinds))
    )


def truth(metric: Metric, crowd: Population) -> dict[str, float | None]:
    """Return the share of people with each key, and the mean number of those; None where nobody has it."""
    domain = _domain(metric)
    is_held = ~np.isnan(crowd.values)
    numbers = np.clip(np.where(is_held, crowd.values, 0), float(domain.number.low), float(domain.number.high))
    holders = crowd.counts @ is_held
    sums = crowd.counts @ np.where(is_held, numbers, 0)
    shares = dict(zip(domain.listed, (holders / crowd.n).tolist(), strict=True))
    means = {
        f"{key}: mean": total / held if held else None
        for key, total, held in zip(domain.listed, sums.tolist(), holders.tolist(), strict=True)
    }
    return {**shares, **means}


def _domain(metric: Metric) -> KeyValue:
    assert isinstance(metric.domain, KeyValue)  # noqa: S101 - it is this file's kind
    return metric.domain
