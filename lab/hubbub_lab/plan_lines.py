"""This file writes plans for people who read them in a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from hubbub.candidates import Candidate
from hubbub.estimate import Unit
from hubbub.planning import reports_for
from hubbub.table import rounded, table
from hubbub_lab.costs import Cost
from hubbub_lab.plan import Plan

Costs = Mapping[tuple[str, str], Cost]  # by metric and candidate, as it is named


def plan_lines(plans: Sequence[Plan], *, reports: int, error: float, costs: Costs | None = None) -> str:
    """Return each metric with its candidates, the choice and what it takes.

    reports: how many to expect. error: the standard error to reach, as a part of all people or of the range.
    costs: of the candidates that were timed.

    >>> from hubbub.declaration import boolean
    >>> from hubbub.manifest import Manifest
    >>> from hubbub_lab.plan import plans
    >>> manifest = Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon=1, mechanism="best"),))
    >>> print(plan_lines(plans(manifest), reports=10_000, error=0.01))
    dark (boolean, epsilon 1): randomized_response: ...
    """
    return "\n\n".join(_paragraph(plan, reports, error, costs) for plan in plans)


def _paragraph(plan: Plan, reports: int, error: float, costs: Costs | None) -> str:
    metric, choice = plan.metric, plan.choice
    head = f"{metric.name} ({metric.domain.kind}, epsilon {metric.epsilon}): "
    heads = ["", "mechanism", "epsilon", f"standard error at {reports:,}", "bits", "cells", "loss"]
    heads += ["device", "server", "answer"] * bool(costs)
    able = [each for each in plan.candidates if each.is_built]
    body = table(heads, [_cells(each, plan, reports, costs) for each in able], left=2) if able else ""
    refusals = [*_refusals(plan.candidates), *_lacking(plan)]
    if choice is None:
        return "\n".join(filter(None, [head + plan.why, body, *refusals]))
    wanted, is_less = error * plan.scale, str(choice) in plan.lacking
    meant = next((each for each in able if is_less and each.kind == metric.mechanism), choice)
    needed = reports_for(meant.error, wanted)
    told = "by the error alone, " if is_less else ""
    lines = [
        f"{head}{told}{choice}: {plan.why}",
        body,
        *refusals,
        f"a standard error of {_figure(wanted, choice.unit)} takes {needed:,} reports",
    ]
    if meant is not choice:
        lines[-1] += f" with {metric.mechanism}"
    elif plan.halving:
        lines[-1] += (
            f"; half the epsilon makes the error {plan.halving:.3g} times as large, "
            f"or takes {plan.halving**2:.3g} times as many reports"
        )
    return "\n".join(filter(None, lines))


def _refusals(candidates: Sequence[Candidate]) -> Iterator[str]:
    """Say why some can't be chosen, once for all words of one mechanism that have the same reason."""
    named: dict[tuple[str, str], list[Candidate]] = {}
    for each in candidates:
        if each.why_not:
            named.setdefault((each.kind, each.why_not), []).append(each)
    for (kind, why_not), alike in named.items():
        yield f"not {alike[0] if len(alike) == 1 else kind}: {why_not}"


def _lacking(plan: Plan) -> Iterator[str]:
    """Name those that tell less than the mechanism that was named, and so are no stand-in for it."""
    alike: dict[tuple[str, ...], dict[str, None]] = {}
    for each in plan.candidates:
        if str(each) in plan.lacking:
            alike.setdefault(tuple(plan.lacking[str(each)]), {})[each.kind] = None
    for lost, names in alike.items():
        more = f" and {len(lost) - 1:,} more" if len(lost) > 1 else ""
        yield f"less than {plan.metric.mechanism} is told by {', '.join(names)}: no {lost[0]}{more}"


def _cells(candidate: Candidate, plan: Plan, reports: int, costs: Costs | None) -> tuple[str, ...]:
    loss = f"{float(candidate.loss.upper):.6g}" if candidate.loss else "-"
    figures = (
        _mark(candidate, plan),
        str(candidate),
        str(candidate.epsilon),
        _figure(candidate.error / reports**0.5, candidate.unit),
        f"{candidate.bits:,}",
        f"{candidate.cells:,}",
        loss,
    )
    if not costs:
        return figures
    cost = costs.get((plan.metric.name, str(candidate)))
    times = (cost.device, cost.server, cost.answer) if cost else ()
    return (*figures, *(map(_duration, times) if times else ["-"] * 3))


def _mark(candidate: Candidate, plan: Plan) -> str:
    if str(candidate) in plan.lacking:
        return "less"
    if candidate is plan.choice:
        return "best"
    return "now" if candidate.kind == plan.metric.mechanism else ""


def _figure(error: float, unit: Unit) -> str:
    return f"{rounded(100 * error, 100 * error)} points" if unit == "share" else rounded(error, error)


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:,.3g} us"
