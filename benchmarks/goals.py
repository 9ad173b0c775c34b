"""This file says what a goal is, and when it counts as met."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from benchmarks.pairs import Measure, Pairs, Spread, duration
from benchmarks.rivals import RivalError, Rivals


class NotMeasuredError(Exception):
    """What a goal needs is not there; the message says what."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Two things to measure alternately.

    ours, theirs: seconds for one unit of work, each time they are called.
    against: who or what "theirs" is. notes: what a reader should know beside the ratio.
    words: how to write what is measured, where it is not seconds.
    """

    ours: Measure
    theirs: Measure
    against: str
    notes: list[str] = field(default_factory=list)
    words: Callable[[float], str] = duration


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio to reach.

    sense: "at least" this many times as fast, or "at most" this many times the time.
    prepare: sets both sides up, and takes them down afterwards.
    """

    name: str
    sense: Literal["at least", "at most"]
    limit: float
    prepare: Callable[[Rivals], AbstractContextManager[Contest]]

    def spread(self, pairs: Pairs) -> Spread:
        """Return the ratio that this goal is about."""
        return pairs.theirs_by_ours if self.sense == "at least" else pairs.ours_by_theirs

    def is_met(self, pairs: Pairs) -> bool:
        """Tell whether the median reached the goal."""
        median = self.spread(pairs).median
        return median >= self.limit if self.sense == "at least" else median <= self.limit


def contest_with_fastest(
    rivals: Rivals, ours: Measure, task: str, peers: tuple[str, ...], *, n: int, size: int
) -> Contest:
    """Set ourselves against the fastest of some peers at a task, found out just before.

    Raises NotMeasuredError if none of them can do it.
    """
    try:
        peer, notes = rivals.fastest(task, peers, n=n, size=size)
    except RivalError as error:
        raise NotMeasuredError(str(error)) from None
    return Contest(ours, partial(rivals.seconds, peer, task, n=n, size=size), peer, notes)
