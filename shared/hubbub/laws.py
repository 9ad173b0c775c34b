"""This file says what a law is that honest reports obey whatever the true values are, and which is broken.

A law is some statistics of many reports, each with the chance of honest reports to fall so low or rise so
high, at most. A mechanism that knows such laws has a method for them: of sums, or of the reports themselves.
Reports are honest if devices draw them by the mechanism's coins, independently of each other.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.frequencies import Channel
from hubbub.mechanism import Mechanism, Reports
from hubbub.tails import Coins, binomial_at_least, binomial_at_most, sum_at_least, sum_at_most
from hubbub.tally import Tally

Floats = NDArray[np.float64]
Names = Callable[[int], Sequence[str]]

_LISTED = 1 << 16  # kinds of which each has a count, even of 0


def no_names(place: int) -> Sequence[str]:  # noqa: ARG001 - it is the only one
    """Name the only statistic of a law: by nothing."""
    return ()


def numbers(place: int) -> Sequence[str]:
    """Name statistics by their places."""
    return (str(place),)


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """Statistics of honest reports, and how far they are likely to go.

    what: the statistic in words, such as "reports that support {}", with a place for each of its ``names``.
    seen: what the reports say. least, most: what honest ones say on average, at least and at most. few, many:
    logs of upper bounds of the chance to fall so low, or rise so high. All of shape (statistics,). are_rows:
    whether the names are those of rows of the estimate. of: from how many statistics these were chosen, if
    they were.
    """

    what: str
    seen: Floats
    least: Floats
    most: Floats
    few: Floats
    many: Floats
    names: Names = no_names
    are_rows: bool = False
    of: int = 0

    @property
    def tails(self) -> int:
        """How many chances there are."""
        return 2 * max(self.seen.size, self.of)


@dataclass(frozen=True, slots=True)
class Breach:
    """The worst statistic of a law, if honest reports would hardly ever say it.

    chance: the log of a bound of the chance that anything at all looks so bad among honest reports.
    """

    law: Law
    place: int
    chance: float

    @property
    def names(self) -> Sequence[str]:
        """The names of the statistic."""
        return self.law.names(self.place)


@runtime_checkable
class Lawful(Protocol):
    """A mechanism that knows laws of its tallies."""

    def laws(self, tally: Tally) -> list[Law]:
        """Return what the sums say, and how far those of honest reports go."""
        ...


@runtime_checkable
class Inspectable(Protocol):
    """A mechanism that knows laws of its reports, beyond those of their sums."""

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return what checked reports say, and how far honest ones go."""
        ...


def laws_of_sums(mechanism: Mechanism, tally: Tally) -> list[Law]:
    """Return the laws of a tally that a mechanism knows."""
    return mechanism.laws(tally) if isinstance(mechanism, Lawful) and tally.n else []


def laws_of_reports(mechanism: Mechanism, reports: Reports) -> list[Law]:
    """Return the laws of reports that a mechanism knows."""
    return mechanism.report_laws(reports) if isinstance(mechanism, Inspectable) and len(reports) else []


def breaches(laws: Sequence[Law], alarm: float) -> list[Breach]:
    """Return the laws that are broken, each by its worst statistic.

    alarm: the chance that honest reports break any at all. Each law has the same part of it, shared out
    evenly among its statistics (Bonferroni).
    """
    found = []
    for law in laws:
        chances = np.minimum(law.few, law.many)
        place = int(np.argmin(chances)) if chances.size else 0
        chance = float(chances[place]) + math.log(law.tails * len(laws)) if chances.size else 0.0
        if chance < math.log(alarm):
            found.append(Breach(law, place, chance))
    return found


def counted(
    what: str,
    counts: ArrayLike,
    tries: ArrayLike,
    least: ArrayLike,
    most: ArrayLike,
    *,
    names: Names = numbers,
    are_rows: bool = False,
) -> Law:
    """Return the law of counts, to each of which so many reports add one with a chance that has bounds.

    least, most: of the chance, whatever a person holds. A sum of coins, each with a chance between them, is
    no likelier to be so low than one of coins of the least chance, nor to be so high than one of the most.
    """
    every = (np.asarray(each, dtype=np.float64).reshape(-1) for each in (counts, tries, least, most))
    seen, n, low, high = np.broadcast_arrays(*every)
    few, many = binomial_at_most(seen, n, low), binomial_at_least(seen, n, high)
    return Law(what, seen, n * low, n * high, few, many, names, are_rows)


def supports(n: int, counts: ArrayLike, channel: Channel) -> Law:
    """Return the law of how many of n reports support each category of a frequency oracle."""
    chances = float(channel.q), float(channel.p)
    return counted("reports that support {}", counts, n, *chances, are_rows=True)


def evenly(what: str, counts: ArrayLike, n: int) -> Law:
    """Return the law of a choice that devices make evenly, whatever they hold."""
    chance = 1 / np.size(counts)
    return counted(what, counts, n, chance, chance)


def often(what: str, numbers: ArrayLike, kinds: int, least: float, most: float) -> Law:
    """Return the law of how often each of so many kinds is among numbers from 0 on."""
    told = np.asarray(numbers, dtype=np.int64)
    if kinds <= _LISTED:
        return counted(what, np.bincount(told, minlength=kinds), told.size, least, most)
    found, counts = np.unique(told, return_counts=True)
    law = counted(what, counts, told.size, least, most, names=lambda place: (str(found[place]),))
    return replace(law, of=kinds)


def within(what: str, laws: Sequence[Law], prefix: str = "") -> list[Law]:
    """Return laws of a part of all reports, in words that say of which.

    prefix: of the names of the part's rows in the whole; none if the whole has no such rows.
    """
    return [
        replace(
            law,
            what=f"{what}, {law.what}",
            names=partial(_prefixed, law.names, prefix if law.are_rows else ""),
            are_rows=law.are_rows and bool(prefix),
        )
        for law in laws
    ]


def _prefixed(names: Names, prefix: str, place: int) -> Sequence[str]:
    return tuple(prefix + name for name in names(place))


def summed(what: str, count: int, least: Coins, most: Coins) -> Law:
    """Return the law of one count of unlike coins.

    least, most: coins that come up less often, or more often, than those of honest reports.
    """
    low, high = (sum(n * chance for n, chance in coins) for coins in (least, most))
    few, many = sum_at_most(count, least), sum_at_least(count, most)
    return single(what, count, ends=(low, high), chances=(few, many))


def single(what: str, seen: float, *, ends: tuple[float, float], chances: tuple[float, float]) -> Law:
    """Return the law of one statistic.

    ends: what honest reports say on average, at least and at most. chances: logs of bounds of the chance to
    fall so low, or rise so high.
    """
    least, most, few, many = (np.array([float(each)]) for each in (*ends, *chances))
    return Law(what, np.array([float(seen)]), least, most, few, many)
