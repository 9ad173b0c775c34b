"""This file says in words what one report alone stands for, whatever mechanism drew it.

It is estimated like any number of reports: what it raises it speaks for, and a mean is what it reads as.
"""

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np

from hubbub.coins import Coins
from hubbub.domain import Domain
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.mechanism import Mechanism, Reports

OUTPUTS = 1024  # of a mechanism whose odds are added up
_NAMED = 8  # names that are said; of more, only the first, and how many there are


def words(mechanism: Mechanism, domain: Domain, report: Reports) -> str:
    """Say what a report stands for, so far as that doesn't depend on what the collector asks for.

    report: one row of reports.

    >>> from hubbub.domains.boolean import Boolean
    >>> from hubbub.mechanisms.randomized_response import RandomizedResponse
    >>> words(RandomizedResponse(epsilon="1", k=2), Boolean(), np.array([1], dtype=np.uint8))
    'speaks for "yes"'
    """
    shares, numbers = _values(mechanism, domain, report)
    if "mean" in numbers:
        return f"reads as {numbers['mean']:.4g}"
    if numbers and not shares:  # a vector
        more = f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
        return f"reads as {', '.join(f'{value:.4g}' for value in [*numbers.values()][:_NAMED])}{more}"
    raised = [name for name, value in shares.items() if value > 0]
    clauses = []
    if raised:
        clauses.append(f"speaks for {_listed(raised)}")
    elif len(shares) > 1:
        clauses.append(f"speaks for none of {_listed(list(shares))}")
    elif shares:
        clauses.append(f"speaks against {_listed(list(shares))}")
    clauses += [f"{name} reads as {value:.4g}" for name, value in numbers.items()]
    return "; ".join(clauses) or "means something only to a collector that asks for a certain answer"


def odds(mechanism: Mechanism, domain: Domain, value: object, coins: Coins) -> dict[str, float]:
    """Return the chance that a report of a value speaks for each answer, added up over all reports.

    value: what the domain's ``encode`` returned. coins: thrown for nothing, no chance depends on them.

    It is empty where that is not to be had: values or reports are too many to list, or report on no answer.
    """
    try:
        domain.every()  # a number is rounded by coins, so that no chance is that of the number itself
        outputs = mechanism.outputs()
    except DomainError:
        return {}
    if len(outputs) > OUTPUTS:
        return {}
    held = mechanism.inputs(np.array([value]), coins)[0]
    chances: dict[str, float] = {}
    for at in range(len(outputs)):
        shares, _ = _values(mechanism, domain, outputs[at : at + 1])
        chance = float(mechanism.likelihood(held, outputs[at]))
        for name, share in shares.items():
            chances[name] = chances.get(name, 0.0) + chance * (share > 0)
    return chances


def _values(
    mechanism: Mechanism, domain: Domain, report: Reports
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the shares and numbers that a report makes by itself, by name; not what it says nothing of."""
    if not mechanism.rows:  # what an estimate has rows for is up to the collector
        return {}, {}
    estimate = mechanism.estimate(mechanism.tally(report))
    found = list(_named(domain, estimate.rows, estimate.values.tolist()))
    shares = {name: value for name, unit, value in found if unit == "share" and value}
    return shares, {name: value for name, unit, value in found if unit == "number"}


def _named(
    domain: Domain, rows: Sequence[Quantity], values: Sequence[float]
) -> Iterator[tuple[str, str, float]]:
    for row, value in zip(rows, values, strict=True):
        name = domain.title(row.name)
        if name is None and row.name.isdecimal() and int(row.name) < len(domain.names):
            name = domain.names[int(row.name)]
        if name is not None and isfinite(value):
            yield name, row.unit, value


def _listed(names: Sequence[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    if len(quoted) > _NAMED:
        return f"{quoted[0]} and {len(quoted) - 1} others"
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
