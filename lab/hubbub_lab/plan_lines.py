"""This file writes plans for people who read them in a terminal."""

from collections.abc import Mapping, Sequence

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
    heads = ["", "mechanism", "epsilon", f"error at {reports:,}", "bits", "cells", "loss"]
    heads += ["device", "server", "answer"] * bool(costs)
    able = [each for each in plan.candidates if each.is_built]
    body = table(heads, [_cells(each, plan, reports, costs) for each in able], left=2) if able else ""
    refusals = [f"not {each}: {each.why_not}" for each in plan.candidates if each.why_not]
    if choice is None:
        return "\n".join(filter(None, [head + plan.why, body, *refusals]))
    wanted = error * plan.scale
    needed = reports_for(choice.error, wanted)
    lines = [
        f"{head}{choice}: {plan.why}",
        body,
        *refusals,
        f"an error of {_figure(wanted, choice.unit)} takes {needed:,} reports",
    ]
    if plan.halving:
        lines[-1] += (
            f"; half the epsilon makes the error {plan.halving:.3g} times as large, "
            f"or takes {plan.halving**2:.3g} times as many reports"
        )
    return "\n".join(filter(None, lines))


def _cells(candidate: Candidate, plan: Plan, reports: int, costs: Costs | None) -> tuple[str, ...]:
    loss = f"{float(candidate.loss.upper):.6g}" if candidate.loss else "-"
    figures = (
        "best" if candidate is plan.choice else "now" if candidate.kind == plan.metric.mechanism else "",
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


def _figure(error: float, unit: Unit) -> str:
    return f"{rounded(100 * error, 100 * error)} points" if unit == "share" else rounded(error, error)


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:,.3g} us"
