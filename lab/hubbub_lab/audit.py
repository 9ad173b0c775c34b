"""This file audits mechanisms from inside: the worst-case loss, enclosed exactly, against the claim.

Two computations must agree. A mechanism's own ``loss`` is a formula; on tiny domains the loss is also found
by going through every report of every person.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from hubbub import registry
from hubbub.declaration import metric_of
from hubbub.errors import DomainError
from hubbub.longitudinal import Longitudinal
from hubbub.mechanism import Loss, Mechanism, Values
from hubbub.metric import Metric
from hubbub.probability import Real
from hubbub_lab.population import everybody

EPSILONS = ("0.1", "0.5", "1", "2", "4", "8")
CATEGORIES = (2, 8, 64)
# parameters in place of the defaults, by mechanism, so that all reports can be gone through
SMALL: Mapping[str, Mapping[str, Any]] = {
    "laplace": {"steps": 4},
    "piecewise": {"steps": 4},
    "hybrid": {"steps": 4},
    "l_grr": {"first": "0.09"},
    "l_osue": {"first": "0.09"},
    "rappor": {"first": "0.09"},
    "loloha": {"first": "0.09"},
    "dbitflip": {"buckets": 2},
    "square_wave": {"buckets": 8},
    "hierarchical_histogram": {"branching": 2, "buckets": 4},
    "hadamard_sketch": {"hashes": 2, "width": 2},
    "count_mean_sketch": {"hashes": 2, "width": 4},
    "prefix_extension": {"start": 4, "step": 4, "pool": 1},
    "bloom_rappor": {"bits": 4, "marks": 2, "cohorts": 2},
}
# small domains of other kinds, by what tells each from the others
DOMAINS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "text": {"": {"length": 1}},
    "number": {"": {"range": [0, 1]}},
    "choices": {f"k = {k}": {"options": list("abcd")[:k], "most": 2} for k in (2, 4)},
    "record": {
        "2 x 3 cells": {
            "attributes": {"x": {"kind": "boolean"}, "y": {"kind": "choice", "options": list("abc")}}
        }
    },
    "key_value": {"k = 3": {"keys": list("abc"), "range": [0, 1], "most": 2}},
    "vector": {"size = 16": {"size": 16, "norm": 1}},
    "selection": {f"k = {k}": {"options": list("abcdefgh")[:k]} for k in (2, 8)},
}
WIDEST = Fraction(1, 10**30)  # a wider enclosure proves too little
LOOSEST = Fraction(2, 10**6)  # a loss that far below the claim wastes accuracy
MOST_CELLS = 1 << 14  # of a table of all reports by all people
BITS = 240  # binary digits that probabilities are enclosed to

Table: TypeAlias = list[list[tuple[Fraction, Fraction]]]  # bounds by person and report


@dataclass(frozen=True, slots=True)
class Audit:
    """One mechanism at one claim.

    domain: such as "k = 8". claim: epsilon. loss: by the mechanism's formula. listed: by going through all
    reports; None if there are too many. adds_up: whether the probabilities do, for everyone gone through.
    single: of one report, where the loss is that of the memo it is drawn from. delta: the claimed one, 0 but
    for Gaussian noise.
    """

    kind: str
    domain: str
    claim: Fraction
    loss: Loss
    listed: Loss | None
    adds_up: bool
    single: Loss | None = None
    delta: Fraction = Fraction(0)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong, in words; nothing if the claim is proven."""
        loss, listed = self.loss, self.listed
        told = self.single or loss
        facts = (
            (loss.lower > self.claim, "spends more than it claims"),
            (loss.upper < self.claim - LOOSEST, "spends less than it claims"),
            (loss.delta > self.delta, "fails altogether with more than the claimed delta"),
            (not self.adds_up, "has probabilities that do not add up to 1"),
            (not 0 <= loss.upper - loss.lower < WIDEST, "is enclosed too widely"),
            (listed and listed.lower > self.claim, "has a report that tells more than the claim"),
            (
                listed and not (listed.lower <= told.upper and told.lower <= listed.upper),
                "has another loss when all reports are gone through",
            ),
        )
        return tuple(words for holds, words in facts if holds)

    @property
    def is_tight(self) -> bool:
        """Whether nothing of the claim is left unused, as far as the enclosure tells."""
        return self.loss.lower <= self.claim <= self.loss.upper


def audits(*, epsilons: Sequence[str] = EPSILONS) -> Iterator[Audit]:
    """Audit every registered mechanism at every epsilon, on small and large domains."""
    for domain, metric in audited_metrics(epsilons=epsilons):
        mechanism = registry.build(metric)
        people = () if metric.delta.atto else everybody(metric, mechanism)
        yield audit(mechanism, people=people, domain=domain, delta=metric.delta.exact)


def audit(
    mechanism: Mechanism, *, people: Values | Sequence[Any], domain: str = "", delta: Fraction = Fraction(0)
) -> Audit:
    """Audit a mechanism on the inputs that it tells apart.

    >>> import numpy as np
    >>> from hubbub.mechanisms.randomized_response import RandomizedResponse
    >>> found = audit(RandomizedResponse("1.0", k=4), people=np.arange(4))
    >>> found.faults, found.is_tight
    ((), True)
    """
    table = _table(mechanism, people) if len(people) else []
    adds_up = all(sum(lower for lower, _ in row) <= 1 <= sum(upper for _, upper in row) for row in table)
    listed = _listed_loss(table) if table else None
    loss = mechanism.loss()
    single = mechanism.bound(1) if isinstance(mechanism, Longitudinal) else None
    return Audit(mechanism.kind, domain, mechanism.epsilon.exact, loss, listed, adds_up, single, delta)


def audited_metrics(
    *, epsilons: Sequence[str] = EPSILONS, categories: Sequence[int] = CATEGORIES
) -> Iterator[tuple[str, Metric]]:
    """Make a metric for every registered exact mechanism, epsilon and domain, and name the domain."""
    exact = [entry for entry in registry.ENTRIES if registry.mechanism_class(entry.kind).exact]
    for entry, epsilon in product(exact, epsilons):
        asked = {"epsilon": epsilon, "mechanism": entry.kind}
        if entry.approximates:
            asked["delta"] = "1e-9"
        for domain in entry.domains if entry.is_made_for(epsilon) else ():
            for words, table in _domains(domain, categories):
                for given in _given(entry):
                    whole = registry.complete(entry.kind, domain, given)
                    names = ", ".join([*words, *(f"{name} = {value}" for name, value in whole)])
                    yield names, metric_of("audited", {**table, **asked, "parameters": given})


def _given(entry: registry.Entry) -> Iterator[Mapping[str, Any]]:
    """Return parameters to try: none where none must be given, and the small ones."""
    if all(parameter.default is not None for parameter in entry.parameters):
        yield {}
    if entry.kind in SMALL:
        yield SMALL[entry.kind]


def _domains(kind: str, categories: Sequence[int]) -> Iterator[tuple[list[str], Mapping[str, Any]]]:
    """Return small domains of a kind, each with what tells it from the others."""
    if kind == "choice":
        for k in categories:
            yield [f"k = {k}"], {"kind": kind, "options": [f"option {i}" for i in range(k)]}
    for name, table in DOMAINS.get(kind, {}).items():
        yield [name] if name else [], {"kind": kind, **table}


def _table(mechanism: Mechanism, people: Values | Sequence[Any]) -> Table:
    """Enclose the probability of every report by every person; no rows if that is too much."""
    try:
        reports = mechanism.outputs()
    except DomainError:
        return []
    if len(reports) * len(people) > MOST_CELLS:
        return []
    return [[mechanism.likelihood(person, report).enclose(BITS) for report in reports] for person in people]


def _listed_loss(table: Table) -> Loss:
    columns = [tuple(zip(*column, strict=True)) for column in zip(*table, strict=True)]
    lower = max(max(lowers) / min(uppers) for lowers, uppers in columns)
    upper = max(max(uppers) / min(lowers) for lowers, uppers in columns)
    return Loss(Real.log(lower).enclose(100)[0], Real.log(upper).enclose(100)[1])
