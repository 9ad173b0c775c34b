"""This file holds the hierarchical histogram, for unbiased shares of any part of a range.

Cormode, Kulkarni, Srivastava, "Answering range queries under local differential privacy", PVLDB 2019: a
device draws a level of a tree over the range and tells the node that holds its number by a frequency oracle.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub.buckets import Buckets
from hubbub.coins import CHUNK, Coins, SimulationCoins, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import Quantity
from hubbub.grid import End
from hubbub.hierarchy import Hierarchy
from hubbub.histogram import Histogram
from hubbub.laws import Law, evenly, laws_of_reports, laws_of_sums, within
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.probability import Real, percent
from hubbub.tally import Tally

Oracle = RandomizedResponse | OptimizedUnary

_MOST_BUCKETS = 1024


@dataclass(frozen=True, slots=True, init=False)
class HierarchicalHistogram:
    """A number in [low, high], as one of ``buckets`` equal parts, the leaves of a tree.

    A report is one byte for the level, 0 being the root's children, then the report of that level's oracle
    about the node, then bytes of 0 up to the width of the longest. The oracle is randomized response where
    its total variance is below that of optimized unary encoding, else the latter.

    >>> mechanism = HierarchicalHistogram(epsilon="1.0", low="0", high="1")
    >>> [(oracle.kind, oracle.k) for oracle in mechanism.oracles][:2]
    [('randomized_response', 4), ('optimized_unary', 16)]
    >>> mechanism.layout.itemsize
    33
    """

    kind: ClassVar[str] = "hierarchical_histogram"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True  # but for the quantiles

    epsilon: Epsilon
    buckets: Buckets
    branching: int
    oracles: tuple[Oracle, ...] = field(init=False, repr=False, compare=False)

    def __init__(
        self, epsilon: EpsilonLike, low: End, high: End, *, branching: int = 4, buckets: int = 256
    ) -> None:
        if isinstance(branching, bool) or not isinstance(branching, int) or not 2 <= branching <= 16:
            raise DomainError(f"branching must be an integer from 2 to 16, got {branching}")
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "buckets", Buckets(low, high, buckets))
        object.__setattr__(self, "branching", branching)
        sizes = [branching**depth for depth in range(1, 11) if branching**depth <= buckets]
        if not sizes or sizes[-1] != buckets or buckets > _MOST_BUCKETS:
            raise DomainError(
                f"buckets must be a power of branching up to {_MOST_BUCKETS}, got {buckets} for {branching}; "
                "try branching 4 and buckets 256"
            )
        object.__setattr__(self, "oracles", tuple(_oracle(self.epsilon, size) for size in sizes))

    @property
    def tree(self) -> Hierarchy:
        """The tree with its levels' channels."""
        return Hierarchy(self.branching, tuple(oracle.channel for oracle in self.oracles))

    @property
    def layout(self) -> "np.dtype[Any]":
        """A byte for the level and the bytes of the longest report."""
        return np.dtype(("u1", (1 + max(oracle.layout.itemsize for oracle in self.oracles),)))

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean, quantiles, and the shares of equal bins."""
        return self.buckets.rows

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a level for each value and let its oracle report the node."""
        reports = np.zeros(len(values), dtype=self.layout)
        for some in slices(len(values), max(1, CHUNK // self.layout.itemsize)):
            held, part = self.buckets.index(values[some]), reports[some]
            part[:, 0] = integers(len(self.oracles), held.size, coins)
            for level, oracle, width in self._levels():
                chosen = (part[:, 0] == level).nonzero()[0]
                told = oracle.perturb(held[chosen] // (self.buckets.count // oracle.k), coins)
                part[chosen, 1 : 1 + width] = told.view(np.uint8).reshape(-1, width)
        return reports

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded at random
        """Return the bucket of each value."""
        return self.buckets.index(values)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are of a level, possible there, and 0 beyond."""
        good = np.zeros(len(reports), dtype=np.bool_)
        for level, oracle, width in self._levels():
            chosen = (reports[:, 0] == level).nonzero()[0]
            is_padded = ~reports[chosen, 1 + width :].any(axis=1)
            good[chosen] = is_padded & oracle.check(_told(reports[chosen], oracle))
        return good

    def tally(self, reports: Reports) -> Tally:
        """Count, level by level, the reports and those that support each node."""
        if not self.check(reports).all():
            raise DomainError(f"a report must be about one of {len(self.oracles)} levels, 0 beyond its end")
        tallies = [
            oracle.tally(_told(reports[reports[:, 0] == level], oracle))
            for level, oracle, _ in self._levels()
        ]
        return _joined(tallies)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the levels, drawn evenly, and of each level's oracle."""
        found, start = [], 0
        sizes = []
        for level, oracle, _ in self._levels():
            own = Tally(int(tally.cells[start]), tally.cells[start + 1 : start + 1 + oracle.k])
            found += within(f"at level {level}", laws_of_sums(oracle, own))
            sizes.append(own.n)
            start += 1 + oracle.k
        return [evenly("reports about level {}", sizes, tally.n), *found]

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of each level's oracle."""
        found = []
        for level, oracle, _ in self._levels():
            own = _told(reports[reports[:, 0] == level], oracle)
            found += within(f"at level {level}", laws_of_reports(oracle, own))
        return found

    def estimate(self, tally: Tally) -> Histogram:
        """Return the histogram."""
        ends = np.cumsum([1 + oracle.k for oracle in self.oracles])
        levels = np.split(tally.cells, ends[:-1])
        reports = tuple(int(cells[0]) for cells in levels)
        return Histogram(self.buckets, self.tree, reports, tuple(cells[1:] for cells in levels))

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:  # noqa: ARG002 - for the worst number
        """Return the standard error of the mean to expect of n reports."""
        if n < 1:
            raise TooFewReportsError(n, 1, "a mean")
        return math.sqrt(float(self.tree.variance(self.buckets.weights[:1]).max()) / n)

    def loss(self) -> Loss:
        """Enclose the largest loss of an oracle: which level is reported tells nothing."""
        losses = [oracle.loss() for oracle in self.oracles]
        return Loss(max(loss.lower for loss in losses), max(loss.upper for loss in losses))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Share people out to levels, and let each oracle draw the tally of its own."""
        tallies, left = [], counts
        for level, oracle, _ in self._levels():
            share = Real(Fraction(1, len(self.oracles) - level))
            people = coins.binomial(left, share)
            tallies.append(oracle.simulate(people.reshape(oracle.k, -1).sum(axis=1), coins))
            left = left - people
        return _joined(tallies)

    def outputs(self) -> Reports:
        """Return every report of every level.

        Raises DomainError if a level has over 2**20.
        """
        parts = []
        for level, oracle, width in self._levels():
            told = oracle.outputs()
            part = np.zeros(len(told), dtype=self.layout)
            part[:, 0] = level
            part[:, 1 : 1 + width] = told.view(np.uint8).reshape(-1, width)
            parts.append(part)
        return np.concatenate(parts)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the chance of the level times that of its oracle's report."""
        oracle = self.oracles[int(report[0])]
        told = _told(np.asarray(report)[None], oracle)[0]
        return oracle.likelihood(int(held) // (self.buckets.count // oracle.k), told) / len(self.oracles)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely each level is to be told, and how its parts are, once for all levels told alike."""
        alike: dict[str, list[str]] = {}
        for oracle in self.oracles:
            p, q = percent(oracle.channel.p), percent(oracle.channel.q)
            is_one = oracle.kind == "randomized_response"
            told = "one part is sent" if is_one else "any number of parts are sent as ticked"
            chances = f"{told}: that of your number with probability {p}, each other one, untrue, with {q}"
            alike.setdefault(chances, []).append(str(oracle.k))
        counts = _listed([str(oracle.k) for oracle in self.oracles])
        each = percent(Real(1) / len(self.oracles))
        parts = "; ".join(f"of {_listed(ks)}, {chances}" for chances, ks in alike.items())
        return (
            f"the range from {names[0]} to {names[1]} is cut into {counts} equal parts, each with "
            f"probability {each}; {parts}"
        )

    def _levels(self) -> Iterator[tuple[int, Oracle, int]]:
        """Go through the levels: index, oracle, bytes of its reports."""
        for level, oracle in enumerate(self.oracles):
            yield level, oracle, oracle.layout.itemsize


def _listed(counts: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(counts[:-1]), counts[-1]]))


def _oracle(epsilon: Epsilon, k: int) -> Oracle:
    """Return the oracle of a level, decided exactly: it is the same on every machine."""
    e = Real.exp(epsilon.exact)
    # (e - 1)^2 times the variances of all k shares, which hold 1 in total
    response, unary = k * (e + (k - 2)) + (k - 2) * (e - 1), 4 * k * e + (e - 1) ** 2
    return RandomizedResponse(epsilon, k) if (response - unary).leading(0) < 0 else OptimizedUnary(epsilon, k)


def _told(reports: Reports, oracle: Oracle) -> Reports:
    """Return the oracle's own reports in those of its level."""
    data = np.ascontiguousarray(reports[:, 1 : 1 + oracle.layout.itemsize])
    return data if oracle.layout.shape else data.view(oracle.layout)[:, 0]


def _joined(tallies: Sequence[Tally]) -> Tally:
    """Put the tallies of the levels in one row of cells."""
    cells = np.concatenate([part for tally in tallies for part in ([tally.n], tally.cells)])
    return Tally(sum(tally.n for tally in tallies), cells)
