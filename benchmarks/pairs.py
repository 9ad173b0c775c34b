"""This file measures two things alternately and keeps what their ratio was, pair by pair.

A shared machine makes any time on it a rumour; both halves of a pair, taken one after the other, hear the
same noise. Which half goes first alternates too, so that a drift favours neither.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

Measure = Callable[[], float]  # one run: seconds for each report, request or whatever is counted
FEWEST = 7


@dataclass(frozen=True, slots=True)
class Pairs:
    """What was measured: seconds for one unit of work, ours and theirs, pair by pair.

    >>> pairs = Pairs((1.0, 2.0, 1.0), (20.0, 30.0, 10.0))
    >>> pairs.theirs_by_ours
    Spread(median=15.0, lowest=10.0, highest=20.0)
    """

    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def theirs_by_ours(self) -> "Spread":
        """How many times as fast we are."""
        return Spread.of([theirs / ours for ours, theirs in zip(self.ours, self.theirs, strict=True)])

    @property
    def ours_by_theirs(self) -> "Spread":
        """How many times as much time we take."""
        return Spread.of([ours / theirs for ours, theirs in zip(self.ours, self.theirs, strict=True)])


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some ratios, and how far they went."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, ratios: list[float]) -> "Spread":
        """Sum ratios up."""
        return cls(statistics.median(ratios), min(ratios), max(ratios))


def alternate(ours: Measure, theirs: Measure, *, pairs: int = FEWEST) -> Pairs:
    """Measure both alternately, after one run of each that does not count."""
    ours(), theirs()
    kept: list[tuple[float, float]] = []
    for number in range(pairs):
        if number % 2:
            their_time = theirs()
            kept.append((ours(), their_time))
        else:
            our_time = ours()
            kept.append((our_time, theirs()))
    our_times, their_times = zip(*kept, strict=True)
    return Pairs(our_times, their_times)


def duration(seconds: float) -> str:
    """Write a time with about three figures.

    >>> duration(1.234e-8), duration(0.25), duration(1.5)
    ('12.3 ns', '250 ms', '1.5 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
