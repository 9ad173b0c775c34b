"""This file tells how many reports an answer of a wanted accuracy takes, before anything is collected."""

import math

from hubbub.errors import DomainError
from hubbub.mechanism import Mechanism


def required_reports(mechanism: Mechanism, stderr: float, *, frequency: float = 0.0) -> int:
    """Return how many reports make the standard error of a share or mean at most ``stderr``.

    stderr: target; a fraction of all reports for shares, in the unit of the range for a mean.
    frequency: the true share to plan for; 0 is the usual worst case of interest.

    Raises DomainError if stderr is not positive and finite.

    >>> from hubbub.mechanisms.optimized_unary import OptimizedUnary
    >>> required_reports(OptimizedUnary(epsilon="1.0", k=16), 0.01)
    36827
    """
    if not 0 < stderr < math.inf:
        raise DomainError(f"a standard error must be positive and finite, got {stderr}")
    return max(1, math.ceil((mechanism.stderr(1, frequency=frequency) / stderr) ** 2 * (1 - 1e-15)))
