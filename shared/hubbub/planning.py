"""This file chooses a mechanism by its exact error, and tells how many reports an answer takes.

No rule of thumb: of all that keep within the limits given, the one with the least variance.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hubbub.candidates import BITS, CELLS, Candidate, candidates
from hubbub.domain import Domain
from hubbub.domains.number import Number
from hubbub.domains.vector import Vector
from hubbub.epsilon import EpsilonLike
from hubbub.errors import DomainError
from hubbub.metric import Metric

if TYPE_CHECKING:
    from hubbub.mechanism import Mechanism

_ROUNDING = 1e-12  # errors that differ by less are equal


def best(
    asked: Metric | Domain,
    epsilon: EpsilonLike | None = None,
    *,
    bits: int = BITS,
    cells: int = CELLS,
    longitudinal: bool = False,
    given: Mapping[str, object] | None = None,
) -> Candidate:
    """Return the way to answer a question with the least error, as ``candidates`` lists them.

    Raises DomainError if there is none within the limits.

    >>> from hubbub.domains.choice import Choice
    >>> best(Choice(("linux", "mac", "windows")), "1").kind
    'randomized_response'
    """
    found = candidates(asked, epsilon, bits=bits, cells=cells, longitudinal=longitudinal, given=given)
    chosen = least(found)
    if chosen is None:
        reasons = "; ".join(f"{each.kind} {each.why_not}" for each in found) or "nothing answers its domain"
        raise DomainError(f"no mechanism can be chosen: {reasons}")
    return chosen


def least(found: Sequence[Candidate]) -> Candidate | None:
    """Return the candidate with the least error that can be chosen; None if there is none.

    Of equally good ones, the one with the shortest report, and of these the first.
    """
    able = [candidate for candidate in found if not candidate.why_not]
    lowest = min((candidate.error for candidate in able), default=0.0)
    good = [candidate for candidate in able if candidate.error <= lowest * (1 + _ROUNDING)]
    return min(good, key=lambda candidate: candidate.bits, default=None)


def scale(domain: Domain) -> float:
    """Return what an error of 1 stands for: all people, or how far apart two numbers can be.

    >>> from hubbub.domains.boolean import Boolean
    >>> from hubbub.domains.number import Number
    >>> scale(Boolean()), scale(Number.parse([-5, 15]))
    (1.0, 20.0)
    """
    if isinstance(domain, Number):
        return float(domain.high - domain.low)
    return 2 * float(domain.norm) if isinstance(domain, Vector) else 1.0


def required_reports(mechanism: "Mechanism", stderr: float, *, frequency: float = 0.0) -> int:
    """Return how many reports make the standard error of a share or mean at most ``stderr``.

    stderr: target; a fraction of all reports for shares, in the unit of the range for a mean.
    frequency: the true share to plan for; 0 is the usual worst case of interest.

    Raises DomainError if stderr is not positive and finite.

    >>> from hubbub.mechanisms.optimized_unary import OptimizedUnary
    >>> required_reports(OptimizedUnary(epsilon="1.0", k=16), 0.01)
    36827
    """
    return reports_for(mechanism.stderr(1, frequency=frequency), stderr)


def reports_for(error: float, stderr: float) -> int:
    """Return how many reports bring the standard error of one down to ``stderr``.

    Raises DomainError if stderr is not positive and finite.
    """
    if not 0 < stderr < math.inf:
        raise DomainError(f"a standard error must be positive and finite, got {stderr}")
    return max(1, math.ceil((error / stderr) ** 2 * (1 - 1e-15)))
