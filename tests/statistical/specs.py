"""This file lists the mechanisms that are tested: every entry of the registry, on small domains."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from hubbub import registry
from hubbub.mechanism import Mechanism
from hubbub.probability import Real

TINY: Mapping[str, tuple[dict[str, Any], ...]] = {
    "boolean": ({"k": 2},),
    "choice": ({"k": 3}, {"k": 5}),
    "number": ({"low": "-1", "high": "10", "steps": 1}, {"low": "0", "high": "1", "steps": 4}),
}
EPSILONS = ("0.1", "0.5", "1", "2", "4", "8")


@dataclass(frozen=True, slots=True)
class Spec:
    """A mechanism and its arguments."""

    kind: str
    epsilon: str
    arguments: Mapping[str, Any] = field(hash=False)

    def __str__(self) -> str:
        return f"{self.kind}-{self.epsilon}-{'-'.join(map(str, self.arguments.values()))}"


def specs(
    domains: Mapping[str, tuple[dict[str, Any], ...]] = TINY, epsilons: tuple[str, ...] = EPSILONS
) -> list[Spec]:
    """Return every mechanism of the registry on every domain that it answers."""
    return [
        Spec(entry.kind, epsilon, arguments)
        for entry in registry.ENTRIES
        for domain in entry.domains
        for arguments in domains.get(domain, ())
        for epsilon in epsilons
    ]


def build(spec: Spec) -> Mechanism:
    """Build the mechanism of a spec."""
    module, _, name = registry.entry(spec.kind).where.partition(":")
    made: Mechanism = getattr(import_module(module), name)(epsilon=spec.epsilon, **spec.arguments)
    return made


def inputs(spec: Spec) -> range:
    """Return the indices of the finite input set."""
    return range(spec.arguments["k"] if "k" in spec.arguments else spec.arguments["steps"] + 1)


def value(spec: Spec, index: float) -> float:
    """Return the value that is input ``index``; a number may lie between two."""
    if "k" in spec.arguments:
        return index
    low, high = float(spec.arguments["low"]), float(spec.arguments["high"])
    return low + (high - low) * index / spec.arguments["steps"]


def crowd(spec: Spec, n: int) -> tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]:
    """Return n values, and the true shares of all categories or the true mean.

    Numbers lie midway between points of the grid, where rounding adds all the variance that it can.
    """
    indices = np.arange(n) ** 2 % 3 % len(inputs(spec))
    if "k" in spec.arguments:
        return indices, np.bincount(indices, minlength=spec.arguments["k"]) / n
    numbers = np.array([value(spec, index % spec.arguments["steps"] + 0.5) for index in indices])
    return numbers, np.array([numbers.mean()])


def law(mechanism: Mechanism, index: int) -> list[Real]:
    """Return the probability of every report of a holder of one input."""
    return [mechanism.likelihood(index, report) for report in mechanism.outputs()]


def positions(mechanism: Mechanism, reports: Any) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Return where reports stand in ``outputs()``."""
    width = mechanism.layout.itemsize
    listed = [row.tobytes() for row in mechanism.outputs()]
    place = {row: index for index, row in enumerate(listed)}
    data = reports.tobytes()
    return np.array([place[data[start : start + width]] for start in range(0, len(data), width)])
