"""This file lists how a question could be answered: every mechanism for it, its error, and what it takes."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from hubbub import registry
from hubbub.domain import Domain
from hubbub.epsilon import LOWEST, MICRO, Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Unit
from hubbub.metric import Metric
from hubbub.parameter import Parameter, Setting, Word

if TYPE_CHECKING:
    from hubbub.mechanism import Loss, Mechanism

BITS = 512  # of a report: 64 bytes, which padding hides among other traffic
CELLS = 65_536  # of a tally: what a collector adds up while it answers a device

_STEP = MICRO // 4  # a mechanism that is made for some epsilons only is made for every quarter


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to answer a question.

    metric: the question, its mechanism named; with a smaller epsilon where the mechanism is not made for the
    one asked. why_not: why it can't be chosen, or "". error: the standard error about the respondents that
    one report makes, in ``unit``: of a share, in the mean square over all categories; of a number, for the
    value in its range that is worst. bits: of a report. cells: of a tally.
    """

    metric: Metric
    why_not: str
    unit: Unit = "share"
    error: float = math.inf
    bits: int = 0
    cells: int = 0
    loss: "Loss | None" = None

    @property
    def kind(self) -> str:
        """The mechanism's name in a manifest."""
        return self.metric.mechanism

    @property
    def parameters(self) -> Mapping[str, Setting]:
        """The mechanism's parameters, all of them."""
        return dict(self.metric.parameters)

    @property
    def epsilon(self) -> Epsilon:
        """What a report costs."""
        return self.metric.epsilon

    @property
    def is_built(self) -> bool:
        """Whether there is such a mechanism at all, so that its figures mean something."""
        return self.error < math.inf


def candidates(
    asked: Metric | Domain,
    epsilon: EpsilonLike | None = None,
    *,
    bits: int = BITS,
    cells: int = CELLS,
    longitudinal: bool = False,
) -> tuple[Candidate, ...]:
    """Return every mechanism of the registry that answers a question, in its order.

    epsilon: may be left out for a metric, which has one. bits: the most that a report may have. cells: the
    most that a tally may have. longitudinal: whether the question is asked again and again, so that a
    permanent answer must be kept; else there must be none.

    >>> from hubbub.domains import Boolean
    >>> [(each.kind, each.why_not) for each in candidates(Boolean(), "1") if not each.why_not]
    [('randomized_response', '')]
    """
    metric = _metric(asked, epsilon)
    limits = _Limits(bits, cells, longitudinal)
    return tuple(
        _candidate(metric, entry, parameters, limits)
        for entry in registry.ENTRIES
        if metric.domain.kind in entry.domains
        for parameters in _variants(entry)
    )


@dataclass(frozen=True, slots=True)
class _Limits:
    bits: int
    cells: int
    longitudinal: bool


def _metric(asked: Metric | Domain, epsilon: EpsilonLike | None) -> Metric:
    if isinstance(asked, Metric):
        return asked if epsilon is None else replace(asked, epsilon=Epsilon.parse(epsilon))
    if epsilon is None:
        raise DomainError("give an epsilon beside a domain; only a metric has one of its own")
    return Metric(name="planned", domain=asked, epsilon=Epsilon.parse(epsilon), mechanism=registry.UNRESOLVED)


def _variants(entry: registry.Entry) -> Iterator[Mapping[str, object]]:
    """Return parameters to try: each word that there is, and else the defaults."""
    words = [_words(parameter) for parameter in entry.parameters]
    for chosen in product(*words):
        yield {name: word for name, word in chosen if word is not None}


def _words(parameter: Parameter) -> list[tuple[str, str | None]]:
    return [(parameter.name, word) for word in (parameter.words if isinstance(parameter, Word) else [None])]


def _candidate(
    metric: Metric, entry: registry.Entry, given: Mapping[str, object], limits: _Limits
) -> Candidate:
    try:
        parameters = registry.complete(entry.kind, metric.domain.kind, given)
        named = replace(metric, mechanism=entry.kind, parameters=parameters)
        named, mechanism = _built(named)
    except DomainError as error:
        return Candidate(replace(metric, mechanism=entry.kind), str(error))
    return _judged(named, mechanism, entry, limits)


def _built(metric: Metric) -> "tuple[Metric, Mechanism]":
    """Build a mechanism, at the next smaller quarter of epsilon that it is made for if need be.

    Whatever a smaller epsilon allows, a larger one does too.

    Raises DomainError, that of the epsilon asked.
    """
    try:
        return metric, registry.build(metric)
    except DomainError as error:
        refusal = error
    for micro in range((metric.epsilon.micro - 1) // _STEP * _STEP, LOWEST, -_STEP):
        smaller = replace(metric, epsilon=Epsilon(micro))
        try:
            return smaller, registry.build(smaller)
        except DomainError:
            continue
    raise refusal


def _judged(metric: Metric, mechanism: "Mechanism", entry: registry.Entry, limits: _Limits) -> Candidate:
    import numpy as np  # noqa: PLC0415 - a linter that compares nothing starts without it

    loss = mechanism.loss() if mechanism.exact else None
    bits = 8 * mechanism.layout.itemsize
    cells = mechanism.tally(np.zeros(0, dtype=mechanism.layout)).cells.size
    facts = (
        (not mechanism.exact, "is not exact: its epsilon holds for real numbers, not for floats"),
        (not mechanism.unbiased, "is not unbiased"),
        (loss and loss.delta, "fails altogether with a probability delta"),
        (entry.remembers > limits.longitudinal, "is for a question that is asked again and again"),
        (entry.remembers < limits.longitudinal, "keeps no permanent answer"),
        (bits > limits.bits, f"has reports of {bits:,} bits, over {limits.bits:,}"),
        (cells > limits.cells, f"has tallies of {cells:,} cells, over {limits.cells:,}"),
    )
    return Candidate(
        metric,
        next((words for holds, words in facts if holds), ""),
        mechanism.rows[0].unit if mechanism.rows else "share",
        mechanism.stderr(1, frequency=_even_share(metric.domain)),
        bits,
        cells,
        loss,
    )


def _even_share(domain: Domain) -> float:
    """Return the share that each category has if all have the same.

    The variance of a share is linear in it and shares add up to 1, so that this gives the mean square error
    over all categories whatever their shares are.
    """
    k = domain.arguments.get("k", 0)
    return domain.arguments.get("most", 1) / k if k else 0.0
