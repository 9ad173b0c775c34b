"""This file holds a sample: the tallies that one answer is made from, and what they tell together.

They are several where they must not be added up: of different versions of a metric, and of periods in which
the same memos answered. Then their estimates are put together, by size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

from hubbub.combining import changed, combined
from hubbub.estimate import Estimate
from hubbub.tally import Tally
from hubbub_server.catalog import Question

Part = tuple[Question, Tally]


class _Searchable(Protocol):
    """A mechanism for text, which can't list what there is."""

    def estimate(self, tally: Tally, *, candidates: Sequence[str]) -> Estimate: ...


@runtime_checkable
class _Finding(Protocol):
    """One that finds texts besides, unless it is asked for the shares of some alone."""

    def shares(self, tally: Tally, names: Sequence[str]) -> Estimate: ...


@dataclass(frozen=True, slots=True)
class Sample:
    """Tallies, each with its version of the metric.

    periods: how many they are of. start, end: days between which those start that were asked for.
    """

    parts: tuple[Part, ...] = ()
    periods: int = 0
    start: str = ""
    end: str = ""

    @property
    def n(self) -> int:
        """How many reports there are."""
        return sum(tally.n for _, tally in self.parts)


def estimated(sample: Sample, *, candidates: Sequence[str], since: Sample | None = None) -> Estimate | None:
    """Estimate a sample, or what changed since another one; None without reports.

    candidates: texts to look for, where answers are text; of several parts, all that is told of.

    Raises DomainError where parts are not about the same rows.
    """
    if not sample.n or (since is not None and not since.n):
        return None
    later, earlier = ([part for part in side.parts if part[1].n] for side in (sample, since or Sample()))
    parts = [*later, *earlier]
    if len(parts) == 1:
        return _estimate(parts[0], candidates)
    if parts[0][0].metric.domain.kind == "text":
        candidates = candidates or _found(parts)
        estimates = [_shares(part, candidates) for part in parts]
    else:
        estimates = [_estimate(part, candidates) for part in parts]
    told = [(question.mechanism, each) for (question, _), each in zip(parts, estimates, strict=True)]
    if since is not None:
        return changed(told[: len(later)], told[len(later) :], are_correlated=True)
    return combined(told, are_correlated=True)


def _estimate(part: Part, candidates: Sequence[str]) -> Estimate:
    question, tally = part
    if question.metric.domain.kind == "text":
        return cast("_Searchable", question.mechanism).estimate(tally, candidates=candidates)
    return question.mechanism.estimate(tally)


def _found(parts: Sequence[Part]) -> list[str]:
    """Return the texts that are found in any part."""
    return list(dict.fromkeys(row.name for part in parts for row in _estimate(part, ()).rows))


def _shares(part: Part, texts: Sequence[str]) -> Estimate:
    question, tally = part
    mechanism = question.mechanism
    return mechanism.shares(tally, texts) if isinstance(mechanism, _Finding) else _estimate(part, texts)
