"""This file lists the mechanisms that are tested: every entry of the registry, on small domains."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub import registry
from hubbub.buckets import Buckets
from hubbub.declaration import metric_of
from hubbub.domains.number import Number
from hubbub.mechanism import Mechanism, Values
from hubbub.metric import Metric
from hubbub.probability import Real
from hubbub_lab.crowds import KINDS
from hubbub_lab.population import Population, corners, everybody

PAIR = {"kind": "choice", "options": ["a", "b"]}  # attributes of equal sizes have equal errors
# a metric's own keys on small domains, by kind
TINY: Mapping[str, tuple[dict[str, Any], ...]] = {
    "boolean": ({},),
    "choice": ({"options": list("abc")}, {"options": list("abcde")}),
    "number": ({"range": ["-1", "10"]}, {"range": ["0", "1"]}),
    "choices": ({"options": list("abc")}, {"options": list("ab")}),
    "record": tuple({"attributes": [[name, PAIR] for name in names]} for names in ("xy", "xyz")),
    "key_value": (
        {"keys": list("ab"), "range": ["-1", "10"], "most": 1},
        {"keys": list("ab"), "range": ["0", "1"], "most": 2},
    ),
    "selection": ({"options": list("ab")}, {"options": list("abcd")}),
    "text": ({"length": 1},),
}
# the epsilon of a single report, of mechanisms with a memo; those that are less than the memo's are tried
FIRST = ({"first": "0.09"}, {"first": "0.9"}, {"first": "3.9"})
# parameters that keep a mechanism's inputs and reports few; by default it is tried with none given
SMALL: Mapping[str, tuple[dict[str, Any], ...]] = {
    "laplace": ({"steps": 1}, {"steps": 4}),
    "piecewise": ({"steps": 1}, {"steps": 4}),
    "hybrid": ({"steps": 1}, {"steps": 4}),
    "l_grr": FIRST,
    "l_osue": FIRST,
    "rappor": FIRST,
    "loloha": FIRST,
    "dbitflip": ({}, {"buckets": 2}, {"buckets": 3}),
    "padded_sampling": ({"oracle": "randomized_response"}, {"oracle": "optimized_unary"}),
    "joint_response": ({"oracle": "subset_selection"}, {"oracle": "optimized_unary"}),
    "exponential": ({"steps": 1}, {}),
    "hadamard_sketch": ({"hashes": 2, "width": 2}, {"hashes": 1, "width": 8}),
    "count_mean_sketch": ({"hashes": 2, "width": 2}, {"hashes": 1, "width": 4}),
    "prefix_extension": ({"start": 4, "step": 4, "pool": 1}, {"start": 8, "pool": 2}),
    "square_wave": ({"buckets": 2}, {"buckets": 5}),
    "hierarchical_histogram": ({"branching": 2, "buckets": 4},),
    "bloom_rappor": (
        {"bits": 3, "marks": 1, "cohorts": 2},
        {"bits": 8, "marks": 2, "cohorts": 2},
    ),
}
Floats = NDArray[np.float64]

QUICK = ("0.5", "2", "4")
ROUNDS = (400, pytest.param(2_000, marks=pytest.mark.torture))  # fewer in the quick run
EPSILONS = ("0.1", "0.5", "1", "2", "4", "8")


@dataclass(frozen=True, slots=True)
class Spec:
    """A metric's table, but for its name."""

    table: Mapping[str, Any]

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        mechanism, epsilon = self.table["mechanism"], self.table["epsilon"]
        more = [value for key, value in self.table.items() if key not in ("mechanism", "epsilon", "kind")]
        return f"{mechanism}-{epsilon}-{'-'.join(map(str, more))}"

    @property
    def metric(self) -> Metric:
        """The metric."""
        return metric_of("tried", self.table).of("tests")


def specs(
    domains: Mapping[str, tuple[dict[str, Any], ...]] = TINY, epsilons: tuple[str, ...] = EPSILONS
) -> list[Spec]:
    """Return every mechanism of the registry on every domain that it answers."""
    return [
        Spec({"mechanism": entry.kind, "epsilon": epsilon, "kind": domain, **own, "parameters": parameters})
        for entry in registry.ENTRIES
        for domain in entry.domains
        for own in domains.get(domain, ())
        for parameters in SMALL.get(entry.kind, ({},))
        for epsilon in epsilons
        if Decimal(parameters.get("first", 0)) < Decimal(epsilon) and entry.is_made_for(epsilon)
    ]


def tried(found: list[Spec]) -> list[Any]:
    """Return specs for a test to go through, those of most epsilons in the long runs only."""
    long = pytest.mark.torture
    return [each if each.table["epsilon"] in QUICK else pytest.param(each, marks=long) for each in found]


def kinds(found: list[Spec]) -> set[str]:
    """Return the mechanisms that specs are of."""
    return {str(spec.table["mechanism"]) for spec in found}


@cache
def build(spec: Spec) -> Mechanism:
    """Build the mechanism of a spec."""
    return registry.build(spec.metric)


def people(spec: Spec) -> Values:
    """Return every input, one a row."""
    return everybody(spec.metric, build(spec))


def values(spec: Spec) -> Values:
    """Return a value for every input, in the order of ``people``."""
    domain = spec.metric.domain
    if not isinstance(domain, Number):
        return np.array(corners(domain))
    if not is_rounded(spec):
        return Buckets(domain.low, domain.high, len(people(spec))).middles
    return np.linspace(float(domain.low), float(domain.high), len(people(spec)))


def is_rounded(spec: Spec) -> bool:
    """Tell whether numbers are rounded at random to points of a grid, and not put into buckets."""
    return isinstance(spec.metric.domain, Number) and "buckets" not in dict(spec.metric.parameters)


def is_unbiased(spec: Spec) -> bool:
    """Tell whether it is exact and estimates listed rows without bias."""
    return build(spec).exact and build(spec).unbiased and bool(build(spec).rows)


def is_about_shares(spec: Spec) -> bool:
    """Tell whether an estimate speaks of shares of people, and not of numbers."""
    return build(spec).rows[0].unit == "share"


def crowd(spec: Spec, n: int) -> Values:
    """Return n values; numbers lie midway between points of the grid, where rounding adds all it can."""
    held = values(spec)
    if is_rounded(spec):
        held = (held[1:] + held[:-1]) / 2
    return held[np.arange(n) ** 2 % 3 % len(held)]


def truth(spec: Spec, held: Values) -> Floats:
    """Return the truth of every row of an estimate; nan where there is none, as for one person's variance."""
    metric = spec.metric
    everyone = Population(held, np.ones(len(held), dtype=np.int64))
    true = KINDS[metric.domain.kind].truth(metric, everyone)
    titles = [metric.domain.title(row.name) or metric.domain.names[0] for row in build(spec).rows]
    known = np.array([true.get(title) for title in titles], dtype=float)
    return np.where([row.unbiased for row in build(spec).rows], known, np.nan)


@cache
def alone(spec: Spec) -> Floats:
    """Return what each report that there is says by itself, shape (reports, rows)."""
    mechanism = build(spec)
    reports = mechanism.outputs()[:, None]
    return np.array([mechanism.estimate(mechanism.tally(report)).values for report in reports])


@cache
def chances(spec: Spec) -> Floats:
    """Return the probability of each report, shape (inputs, reports)."""
    return np.array([[float(p) for p in law] for law in likelihoods(spec)])


def expected(laws: Floats, said: Floats) -> Floats:
    """Return the expected estimate of one report that tells of a row, shape (inputs, rows).

    said: what each report says, nan of rows that it tells nothing of.
    """
    return laws @ np.nan_to_num(said) / _told(laws, said)


def spread(laws: Floats, said: Floats, around: Floats) -> Floats:
    """Return n times the variance of the estimate of n reports that follow one law, shape (inputs, rows).

    A row that only some reports tell of is a ratio, so that the variance is that for large n.
    around: the truth of each row, which matters in a ratio.
    """
    off = np.nan_to_num(said - np.nan_to_num(around))
    spreads: Floats = (laws @ off**2 - (laws @ off) ** 2) / _told(laws, said) ** 2
    return spreads


def _told(laws: Floats, said: Floats) -> Floats:
    """Return how likely a report tells of a row; nan where none does."""
    told = laws @ ~np.isnan(said)
    return np.where(told, told, np.nan)


def laws_of(spec: Spec, held: Values) -> Floats:
    """Return the probability of each report of people who hold values, shape (people, reports)."""
    laws, listed = chances(spec), values(spec)
    if is_rounded(spec):  # midway between points, as in ``crowd``
        place = (held - listed[0]) / np.diff(listed)[0]
        between: Floats = (laws[np.floor(place).astype(int)] + laws[np.ceil(place).astype(int)]) / 2
        return between
    rows = listed.reshape(len(laws), -1)
    return laws[[np.flatnonzero((rows == value).all(axis=1))[0] for value in held]]


@cache
def likelihoods(spec: Spec) -> list[list[Real]]:
    """Return the exact probability of every report of a holder of each input."""
    mechanism, reports = build(spec), build(spec).outputs()
    return [[mechanism.likelihood(held, report) for report in reports] for held in people(spec)]


def positions(mechanism: Mechanism, reports: Any) -> "np.ndarray[Any, np.dtype[np.intp]]":
    """Return where reports stand in ``outputs()``."""
    texts = f"S{mechanism.layout.itemsize}"  # equally long ones are ordered and compared by all their bytes
    listed, rows = (np.frombuffer(some.tobytes(), texts) for some in (mechanism.outputs(), reports))
    order = np.argsort(listed)
    found = order[np.searchsorted(listed, rows, sorter=order)]
    assert np.array_equal(listed[found], rows)
    return found
