"""This file looks at the mechanism of a metric: whether it can be built, what it lacks, and what beats it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from hubbub import registry
from hubbub.candidates import Candidate, candidates
from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub.planning import least

if TYPE_CHECKING:
    from hubbub.mechanism import Mechanism

MUCH = 1.2  # times the error of the best mechanism, from which that one is worth a word
FAR = 2.0  # if it tells less than the one that was named

Severity = Literal["error", "warning", "note"]
Opinion = tuple[Severity, str, str]  # severity, problem, remedy


def opinions(metric: Metric) -> Iterator[Opinion]:
    """Judge the mechanism that a metric names; problems begin with a verb, the metric being the subject.

    >>> from hubbub.declaration import choice
    >>> metric = choice("word", options=["a", "b"], epsilon=1, mechanism="optimized_unary")
    >>> list(opinions(metric))
    [('note', 'has 2.13 times the error of randomized_response', 'write mechanism = "randomized_response"')]
    """
    try:
        mechanism = registry.build(metric)
    except DomainError as error:
        yield "error", f"can't be asked by {metric.mechanism}: {error}", "name another mechanism"
        return
    remembers = registry.entry(metric.mechanism).remembers
    found = candidates(metric, given=dict(metric.parameters), longitudinal=remembers)
    best = least(found)
    if not mechanism.exact:
        problem = f"has mechanism {metric.mechanism}, whose epsilon holds for real numbers but not for floats"
        yield "error", problem, "name an exact one, since devices refuse it by default"
    if not mechanism.unbiased:
        problem = f"has mechanism {metric.mechanism}, whose estimates are not all unbiased"
        fair = f'to add up or compare answers, write mechanism = "{best.kind}"' if best else ""
        yield ("warning", problem, fair) if best and best.is_unbiased else ("note", problem, "")
    own = next((each for each in found if each.kind == metric.mechanism and each.is_built), None)
    if own and best and not remembers:  # permanent answers differ by more than the error of one report
        yield from _better(metric, mechanism, own, best)


def _better(metric: Metric, mechanism: "Mechanism", own: Candidate, best: Candidate) -> Iterator[Opinion]:
    """Tell of a mechanism with much less error, unless the own one was named for what it tells."""
    lost = {row.name for row in mechanism.rows} - {row.name for row in registry.build(best.metric).rows}
    is_alike = mechanism.rows and len(lost) <= 1  # one without rows may find texts, or count them
    if is_alike and own.error >= (FAR if lost else MUCH) * best.error:
        price = "".join(f", though it tells no {row}" for row in lost)
        problem = f"has {own.error / best.error:.3g} times the error of {best.kind}{price}"
        yield "note", problem, _remedy(metric, best)


def _remedy(metric: Metric, best: Candidate) -> str:
    price = [f'epsilon = "{best.epsilon}"'] if best.epsilon != metric.epsilon else []
    return f"write {' and '.join([*best.lines, *price])}"
