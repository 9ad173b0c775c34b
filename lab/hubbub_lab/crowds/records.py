"""This file makes up people with a record each, its attributes by the crowds of their own kinds."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

import numpy as np

from hubbub.domains.record import Record
from hubbub.marginals import MOST_LISTED, table_rows
from hubbub.metric import Metric
from hubbub_lab.crowds import categories, numbers
from hubbub_lab.crowds.crowd import Crowd
from hubbub_lab.population import Population

MOST_RECORDS = 1_000  # different ones, so that a large crowd fits into memory
_CROWDS: Mapping[str, Crowd] = {"boolean": categories, "choice": categories, "number": numbers}


def made_up(metric: Metric, people: int, generator: np.random.Generator) -> Population:
    """Draw a believable population."""
    records, columns = min(people, MOST_RECORDS), []
    for _, asked in _attributes(metric):
        crowd = _CROWDS[asked.domain.kind].made_up(asked, records, generator)
        columns.append(generator.permutation(np.repeat(crowd.values, crowd.counts)))
    return Population(np.stack(columns, axis=1), generator.multinomial(people, np.full(records, 1 / records)))


def truth(metric: Metric, crowd: Population) -> dict[str, float | None]:
    """Return the truth of each attribute and of each cell, if they are few, under their titles."""
    true: dict[str, float | None] = {}
    for at, (name, asked) in enumerate(_attributes(metric)):
        column = crowd.values[:, at]
        is_number = asked.domain.kind == "number"
        held = Population(column if is_number else column.astype(np.int64), crowd.counts)
        between = ": " if is_number else " = "
        found = _CROWDS[asked.domain.kind].truth(asked, held)
        true |= {f"{name}{between}{title}": value for title, value in found.items()}
    return true | _cells(metric, crowd)


def _cells(metric: Metric, crowd: Population) -> dict[str, float | None]:
    kinds, sizes = zip(
        *((asked.domain.kind, len(asked.domain.names)) for _, asked in _attributes(metric)), strict=True
    )
    if "number" in kinds or prod(sizes) > MOST_LISTED:
        return {}
    cells = np.ravel_multi_index(tuple(crowd.values.T.astype(np.int64)), sizes)
    shares = np.bincount(cells, crowd.counts, prod(sizes)) / crowd.counts.sum()
    names = (row.name for row in table_rows(sizes)[sum(sizes) :])
    return {str(metric.domain.title(name)): share for name, share in zip(names, shares.tolist(), strict=True)}


def _attributes(metric: Metric) -> Iterator[tuple[str, Metric]]:
    """Return each attribute as a metric of its own."""
    assert isinstance(metric.domain, Record)  # noqa: S101 - it is this file's kind
    for name, domain in metric.domain.attributes:
        yield name, replace(metric, domain=domain, parameters=())
