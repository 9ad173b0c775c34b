"""This file makes up people who hold a number each, with a hump where most of them are."""

import numpy as np
from numpy.typing import NDArray

from hubbub.buckets import QUANTILES, Buckets
from hubbub.domains.number import Number
from hubbub.metric import Metric
from hubbub_lab.population import Population

Floats = NDArray[np.float64]

NUMBERS = 1_001  # different ones, so that a billion people fit into memory


def made_up(metric: Metric, people: int, generator: np.random.Generator) -> Population:
    """Draw a believable population."""
    domain = _domain(metric)
    position = (np.arange(NUMBERS) + 0.5) / NUMBERS
    weights = position ** generator.uniform(1, 4) * (1 - position) ** generator.uniform(3, 9)
    values = np.linspace(float(domain.low), float(domain.high), NUMBERS)
    return Population(values, generator.multinomial(people, weights / weights.sum()))


def truth(metric: Metric, crowd: Population) -> dict[str, float | None]:
    """Return the mean, the sum and the sample variance; quantiles and bins where there are buckets."""
    domain = _domain(metric)
    values = np.clip(crowd.values, float(domain.low), float(domain.high))
    mean = float(crowd.counts @ values) / crowd.n
    squares = float(crowd.counts @ (values - mean) ** 2)
    spread = squares / (crowd.n - 1) if crowd.n > 1 else None
    moments = {"mean": mean, "sum": mean * crowd.n, "variance": spread}
    count = dict(metric.parameters).get("buckets")
    if not isinstance(count, int):
        return moments
    return moments | _distribution(Buckets(domain.low, domain.high, count), values, crowd)


def _distribution(buckets: Buckets, values: Floats, crowd: Population) -> dict[str, float | None]:
    held = np.bincount(buckets.index(values), crowd.counts, minlength=buckets.count)
    _, *bins = buckets.weights @ (held / crowd.n)
    order = np.argsort(values)
    below = np.cumsum(crowd.counts[order])
    quantiles = [values[order][np.searchsorted(below, level * crowd.n)] for level in QUANTILES]
    names = [row.name for row in buckets.rows[1:]]
    return dict(zip(names, map(float, [*quantiles, *bins]), strict=True))


def _domain(metric: Metric) -> Number:
    assert isinstance(metric.domain, Number)  # noqa: S101 - it is this file's kind
    return metric.domain
