"""This file holds populations: what everybody would answer if asked outright."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.domain import Domain
from hubbub.domains.key_value import KeyValue
from hubbub.domains.number import Number
from hubbub.domains.record import Record
from hubbub.domains.selection import Selection
from hubbub.domains.text import Text
from hubbub.errors import DomainError
from hubbub.mechanism import Mechanism, Values
from hubbub.metric import Metric
from hubbub_lab.seeded_coins import seeded_coins

Ints = NDArray[np.int64]

_NUMBERED = ("boolean", "choice", "number")  # kinds of domains whose inputs are 0, 1, 2 and so on


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """People by what they hold.

    values: as a mechanism takes them, shape (groups,) or (groups, width). counts: how many people hold each,
    shape (groups,).
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
            held = np.minimum(ends[groups], stop) - np.maximum(before, start)
            yield np.repeat(self.values[groups], held, axis=0)


def given(metric: Metric, answers: object) -> Population:
    """Take a population from one answer a person, as an app would record it.

    Raises DomainError if there is none, or one that the metric can't take.
    """
    rows = answers.tolist() if isinstance(answers, np.ndarray) else answers
    if not isinstance(rows, list | tuple) or not rows:
        raise _no_row(metric)
    encode = metric.domain.encode
    if metric.domain.kind not in ("boolean", "choice"):
        return Population(np.array([encode(row) for row in rows]), np.ones(len(rows), dtype=np.int64))
    if np.ndim(rows) != 1:
        raise _no_row(metric)
    names, counts = np.unique(rows, return_counts=True)  # of which many are equal
    return Population(np.array([encode(name) for name in names.tolist()]), counts.astype(np.int64))


def _no_row(metric: Metric) -> DomainError:
    return DomainError(f'the population of "{metric.name}" must be a row of one answer a person')


def inputs_of(metric: Metric, mechanism: Mechanism) -> int:
    """Return how many inputs a mechanism tells apart; 0 where they are not numbered."""
    domain = metric.domain
    if domain.kind not in _NUMBERED:
        return 0
    last = float(domain.high) if isinstance(domain, Number) else len(domain.names) - 1
    return int(mechanism.inputs(np.array([last]), seeded_coins(0))[0]) + 1


def everybody(metric: Metric, mechanism: Mechanism) -> Values:
    """Return every input that a mechanism tells apart, one a row.

    Raises DomainError where they are too many to list.
    """
    if metric.domain.kind in _NUMBERED:
        return np.arange(inputs_of(metric, mechanism))
    return mechanism.inputs(np.array(corners(metric.domain)), seeded_coins(0))


def corners(domain: Domain) -> list[Any]:
    """List every encoded value; of numbers, those at the ends of their range, which differ the most.

    Raises DomainError where they are too many to list.
    """
    if isinstance(domain, Number):
        return [float(domain.low), float(domain.high)]
    if isinstance(domain, Text):
        return [domain.encode(text) for text in ("", "a", "b")]  # a few of very many
    if isinstance(domain, KeyValue):
        return list(product((np.nan, *corners(domain.number)), repeat=len(domain.listed)))
    if isinstance(domain, Selection):
        return list(product((0.0, 1.0), repeat=len(domain.options)))
    if isinstance(domain, Record):
        return list(product(*(corners(attribute) for _, attribute in domain.attributes)))
    return domain.every()
