"""This file lists how a question could be answered: every mechanism for it, its error, and what it takes."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from hubbub import registry
from hubbub.domain import Domain
from hubbub.epsilon import LOWEST, Epsilon, EpsilonLike, decimal_text
from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub.parameter import Parameter, Setting, Word

if TYPE_CHECKING:
    from hubbub.estimate import Unit
    from hubbub.mechanism import Loss, Mechanism

BITS = 512  # of a report: 64 bytes, which padding hides among other traffic
CELLS = 65_536  # of a tally: what a collector adds up while it answers a device


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to answer a question.

    kind: of the mechanism. metric: the question with it, at a smaller epsilon where the mechanism is not made
    for the one asked; still open where it is not made at all. why_not: why it can't be chosen, or "".
    error: the standard error about the respondents that one report makes, in ``unit``: of a share, in the
    mean square over all categories; of a number, for the value in its range that is worst. bits: of a report.
    cells: of a tally. is_unbiased: whether all that it estimates is.
    """

    kind: str
    metric: Metric
    why_not: str
    unit: "Unit" = "share"
    error: float = math.inf
    bits: int = 0
    cells: int = 0
    loss: "Loss | None" = None
    is_unbiased: bool = True

    def __str__(self) -> str:
        settings = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"{self.kind} ({settings})" if settings else self.kind

    @property
    def parameters(self) -> Mapping[str, Setting]:
        """The mechanism's parameters, all of them."""
        return dict(self.metric.parameters)

    @property
    def lines(self) -> tuple[str, ...]:
        """What to write into a manifest: the mechanism, and its parameters if it has any."""
        settings = ", ".join(f"{name} = {json.dumps(value)}" for name, value in self.metric.parameters)
        return (f'mechanism = "{self.kind}"', *([f"parameters = {{ {settings} }}"] if settings else []))

    @property
    def epsilon(self) -> Epsilon:
        """What a report costs."""
        return self.metric.epsilon

    @property
    def is_built(self) -> bool:
        """Whether there is such a mechanism at all, so that its figures mean something."""
        return self.metric.is_resolved


def candidates(
    asked: Metric | Domain,
    epsilon: EpsilonLike | None = None,
    *,
    bits: int = BITS,
    cells: int = CELLS,
    longitudinal: bool = False,
    given: Mapping[str, object] | None = None,
) -> tuple[Candidate, ...]:
    """Return every mechanism of the registry that answers a question, in its order.

    One that is not unbiased can be chosen only where no exact one is. One that fails its epsilon with a
    probability delta can be chosen only for a metric that declares one.

    epsilon: may be left out for a metric, which has one. bits: the most that a report may have. cells: the
    most that a tally may have. longitudinal: whether the question is asked again and again, so that a device
    keeps a permanent answer. given: parameters that are settled, of those mechanisms that have them.

    >>> from hubbub.domains.boolean import Boolean
    >>> [(each.kind, each.why_not) for each in candidates(Boolean(), "1") if not each.why_not]
    [('randomized_response', '')]
    """
    metric = _open(asked, epsilon)
    found = [
        _candidate(metric, entry, parameters, bits=bits, cells=cells)
        for entry in registry.ENTRIES
        if metric.domain.kind in entry.domains and entry.remembers == longitudinal
        for parameters in _variants(entry, given or {})
    ]
    is_fair = any(each.loss and each.is_unbiased for each in found)
    return tuple(
        replace(each, why_not="is not unbiased")
        if is_fair and not (each.is_unbiased or each.why_not)
        else each
        for each in found
    )


def _open(asked: Metric | Domain, epsilon: EpsilonLike | None) -> Metric:
    """Return the question as a metric that leaves its mechanism open."""
    if isinstance(asked, Metric):
        price = asked.epsilon if epsilon is None else Epsilon.parse(epsilon)
        return replace(asked, epsilon=price, mechanism=registry.UNRESOLVED, parameters=())
    if epsilon is None:
        raise DomainError("give an epsilon beside a domain; only a metric has one of its own")
    return Metric(name="planned", domain=asked, epsilon=Epsilon.parse(epsilon), mechanism=registry.UNRESOLVED)


def _variants(entry: registry.Entry, given: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Return parameters to try: those given, each word of the others, and else their defaults."""
    names = [parameter.name for parameter in entry.parameters]
    for chosen in product(*(_settings(parameter, given) for parameter in entry.parameters)):
        yield dict(zip(names, chosen, strict=True))


def _settings(parameter: Parameter, given: Mapping[str, object]) -> Sequence[object]:
    if parameter.name in given:
        return [given[parameter.name]]
    return parameter.words if isinstance(parameter, Word) else [parameter.default]


def _candidate(
    metric: Metric, entry: registry.Entry, given: Mapping[str, object], *, bits: int, cells: int
) -> Candidate:
    if entry.approximates and not metric.delta.atto:
        agreed = f'mechanism = "{entry.kind}" and delta = "1e-9"'
        why_not = f"fails its epsilon with a probability delta; to agree to one, write {agreed}"
        return Candidate(entry.kind, metric, why_not)
    if metric.delta.atto and not entry.approximates:
        return Candidate(entry.kind, metric, "never fails its epsilon, so that delta must be left out")
    missing = [name for name, setting in given.items() if setting is None]
    if missing:
        half = f'parameters = {{ {missing[0]} = "{decimal_text(metric.epsilon.micro // 2)}" }}'
        why_not = f'leaves {missing[0]} to you; try half of epsilon: mechanism = "{entry.kind}" and {half}'
        return Candidate(entry.kind, metric, why_not)
    try:
        parameters = registry.complete(entry.kind, metric.domain.kind, given)
        named, mechanism = _built(replace(metric, mechanism=entry.kind, parameters=parameters), entry.spacing)
    except DomainError as error:
        return Candidate(entry.kind, metric, str(error))
    return _judged(named, mechanism, bits, cells)


def _built(metric: Metric, spacing: int) -> "tuple[Metric, Mechanism]":
    """Build a mechanism, at the next smaller epsilon that it is made for if need be.

    Whatever a smaller epsilon allows, a larger one does too.

    Raises DomainError, that of the epsilon asked.
    """
    try:
        return metric, registry.build(metric)
    except DomainError as error:
        refusal = error
    highest = metric.epsilon.micro // spacing * spacing
    for micro in range(highest, LOWEST, -spacing) if spacing > 1 else ():
        smaller = replace(metric, epsilon=Epsilon(micro))
        try:
            return smaller, registry.build(smaller)
        except DomainError:
            continue
    raise refusal


def _judged(metric: Metric, mechanism: "Mechanism", most_bits: int, most_cells: int) -> Candidate:
    import numpy as np  # noqa: PLC0415 - a linter that compares nothing starts without it

    loss = mechanism.loss() if mechanism.exact else None
    bits = 8 * mechanism.layout.itemsize
    cells = mechanism.tally(np.zeros(0, dtype=mechanism.layout)).cells.size
    rows = mechanism.rows  # made anew each time, one for each of thousands of categories
    facts = (
        (not mechanism.exact, "is not exact: its epsilon holds for real numbers, not for floats"),
        (bits > most_bits, f"has reports of {bits:,} bits, over {most_bits:,}"),
        (cells > most_cells, f"has tallies of {cells:,} cells, over {most_cells:,}"),
    )
    return Candidate(
        mechanism.kind,
        metric,
        next((words for holds, words in facts if holds), ""),
        rows[0].unit if rows else "share",
        mechanism.stderr(1, frequency=_even_share(metric.domain)),
        bits,
        cells,
        loss,
        mechanism.unbiased,
    )


def _even_share(domain: Domain) -> float:
    """Return the share that each category has if all have the same; of several facts, of the one with fewest.

    The variance of a share is linear in it and shares add up to 1, so that this gives the mean square error
    over all categories whatever their shares are.
    """
    told = domain.arguments
    sizes = [inner.arguments.get("k", 2) for _, inner in told.get("attributes", ())] or [told.get("k", 0)]
    return told.get("most", 1) / min(sizes) if min(sizes) else 0.0
