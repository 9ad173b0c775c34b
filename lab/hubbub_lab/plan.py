"""This file plans every metric of a manifest: the ways to ask it, the best of them, what it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from hubbub import registry
from hubbub.candidates import BITS, CELLS, Candidate, candidates
from hubbub.epsilon import LOWEST, Epsilon
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub.planning import least, reports_for, scale
from hubbub.tally import Tally

CLOSE = 1.1  # times an error, below which the difference is said in percent
SHORTER = 1.02  # times the least error, up to which reports of half the length or less are worth a word


@runtime_checkable
class _Finding(Protocol):
    """A mechanism that finds what people hold, so that nobody has to name it."""

    def winners(self, tally: Tally) -> Any: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """A metric and the ways to ask it.

    choice: the best way; None if there is none. half: the best way at half the epsilon.
    """

    metric: Metric
    candidates: tuple[Candidate, ...]
    choice: Candidate | None
    half: Candidate | None

    @property
    def scale(self) -> float:
        """What an error of 1 stands for."""
        return scale(self.metric.domain)

    @property
    def why(self) -> str:
        """Why the choice is the choice, in words."""
        able = [each for each in self.candidates if not each.why_not]
        if self.choice is None:
            return "no mechanism can be chosen"
        bias = "" if self.choice.is_unbiased else "; none is unbiased in all that it tells"
        others = sorted((each for each in able if each is not self.choice), key=lambda each: each.error)
        if not others:
            return f"the only one that can be chosen{bias}"
        ratios = [each.error / self.choice.error for each in others]
        if ratios[0] < 1 + 1e-9:
            return f"no error is less; {others[0]} has the same, and reports no shorter{bias}"
        near = [each for each, ratio in zip(others, ratios, strict=True) if ratio < SHORTER]
        short = min(near, key=lambda each: each.bits, default=others[0])
        if 2 * short.bits <= self.choice.bits and short in near:
            more = f"{100 * (short.error / self.choice.error - 1):.2g} % more"
            return f"the least error; {short} has {more}, in {short.bits:,} bits{bias}"
        return f"the least error; {others[0]}, the next, has {_times(ratios[0])}{bias}"

    @property
    def halving(self) -> float | None:
        """By how much half the epsilon multiplies the error; its square multiplies the reports.

        None where that says little: a selection's picks get less useful, which its error does not count.
        """
        if self.metric.domain.kind == "selection" or not (self.half and self.choice):
            return None
        return self.half.error / self.choice.error

    @property
    def lacking(self) -> dict[str, list[str]]:
        """What the mechanism that the metric names tells and other ones do not, by candidate."""
        if not self.metric.is_resolved:
            return {}
        own = _told(self.metric)
        told = {str(each): _told(each.metric) for each in self.candidates if each.is_built}
        lost = {name: [row for row in own if row not in rows] for name, rows in told.items()}
        return {name: rows for name, rows in lost.items() if rows}

    def document(self, reports: int, error: float) -> dict[str, Any]:
        """Return plain data that JSON can carry.

        reports: how many to expect. error: the standard error to reach, as a part of the scale.
        """
        choice = self.choice
        return {
            "metric": self.metric.name,
            "kind": self.metric.domain.kind,
            "epsilon": str(self.metric.epsilon),
            "mechanism": self.metric.mechanism,
            "choice": choice and {"mechanism": choice.kind, "parameters": dict(choice.parameters)},
            "why": self.why,
            "reports_needed": choice and reports_for(choice.error, error * self.scale),
            "error_at_half_the_epsilon": self.halving,
            "candidates": [
                _plain(each, reports, lacks=self.lacking.get(str(each), [])) for each in self.candidates
            ],
        }


def plans(manifest: Manifest, *, bits: int = BITS, cells: int = CELLS) -> list[Plan]:
    """Plan every metric within limits, as ``candidates`` takes them.

    >>> from hubbub.declaration import boolean
    >>> manifest = Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon=1, mechanism="best"),))
    >>> plans(manifest)[0].choice.kind
    'randomized_response'
    """
    return [_plan(metric, bits=bits, cells=cells) for metric in manifest.metrics]


def resolved(found: Sequence[Plan]) -> dict[str, Metric]:
    """Return the metrics whose mechanism is open, with the choice filled in, by name."""
    return {plan.metric.name: plan.choice.metric for plan in found if plan.choice and _is_open(plan)}


def asked_by(found: Sequence[Plan]) -> list[Metric]:
    """Return every metric by the mechanism that it names, or else the choice; none without either."""
    choices = resolved(found)
    named = [choices.get(plan.metric.name, plan.metric) for plan in found]
    return [metric for metric in named if metric.is_resolved]


def unanswered(found: Sequence[Plan]) -> list[str]:
    """Return the names of open metrics for which there is no choice."""
    return [plan.metric.name for plan in found if not plan.choice and _is_open(plan)]


def _is_open(plan: Plan) -> bool:
    return not plan.metric.is_resolved


def _plan(metric: Metric, *, bits: int, cells: int) -> Plan:
    longitudinal = metric.changes > 0 or (metric.is_resolved and registry.entry(metric.mechanism).remembers)
    settled = dict(metric.parameters)
    found = candidates(metric, bits=bits, cells=cells, longitudinal=longitudinal, given=settled)
    half = None
    if metric.epsilon.micro >= 2 * LOWEST:
        lower = Epsilon(metric.epsilon.micro // 2)
        half = least(
            candidates(metric, lower, bits=bits, cells=cells, longitudinal=longitudinal, given=settled)
        )
    return Plan(metric, found, least(found), half)


def _times(ratio: float) -> str:
    return f"{100 * (ratio - 1):.2g} % more" if ratio < CLOSE else f"{ratio:.3g} times as much"


def _told(metric: Metric) -> dict[str, None]:
    """Return the titles of what a mechanism tells, in order."""
    mechanism = registry.build(metric)
    rows = (row.name for row in mechanism.rows if row.name != "sum")  # which a mean is as good as
    titles = [metric.domain.title(row) or row for row in rows]
    return dict.fromkeys(["texts that nobody named"] if isinstance(mechanism, _Finding) else titles)


def _plain(candidate: Candidate, reports: int, *, lacks: list[str]) -> dict[str, Any]:
    what = {"mechanism": candidate.kind, "parameters": dict(candidate.parameters)}
    if not candidate.is_built:
        return {**what, "why_not": candidate.why_not}
    return {
        **what,
        "epsilon": str(candidate.epsilon),
        "unit": candidate.unit,
        "error": candidate.error / reports**0.5,
        "bits": candidate.bits,
        "cells": candidate.cells,
        "loss": float(candidate.loss.upper) if candidate.loss else None,
        "unbiased": candidate.is_unbiased,
        "lacks": lacks,
        "why_not": candidate.why_not or None,
    }
