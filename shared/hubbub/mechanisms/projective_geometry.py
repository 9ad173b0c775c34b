"""This file holds projective geometry response: name a hyperplane, likelier one through the category's point.

Feldman, Nelson, Nguyen, Talwar, "Private frequency estimation via projective geometry", ICML 2022.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, bernoulli, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.finite_field import prime_from, word
from hubbub.frequencies import Channel, Ints, Shares, categories, check_k, share_rows
from hubbub.hyperplanes import AT_ONCE, Bundle, are_through, grouped, is_through, size, through
from hubbub.laws import Law, often, supports
from hubbub.lines import MOST, pairs_in_line
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.mechanisms.local_hashing import best_primes, total_variance
from hubbub.pair_laws import of_lines
from hubbub.probability import Real, percent
from hubbub.tally import Tally

_ROWS = 1 << 15  # worked on at a time
_CELLS = 1 << 24  # the most that a simulation draws


@dataclass(frozen=True, slots=True, init=False)
class ProjectiveGeometry:
    """One of k categories, in hardly more bits than it takes to name it.

    Category v is the point v of the projective space of t + 1 coordinates over the integers modulo a prime g.
    A report is the number of a hyperplane in 1, 2 or 4 bytes, little-endian: each through the point is
    e^epsilon times as likely as each other. It supports all categories whose points it goes through.

    >>> mechanism = ProjectiveGeometry(epsilon="1.0", k=1024)
    >>> mechanism.g, mechanism.t, mechanism.hyperplanes, mechanism.layout
    (3, 6, 1093, dtype('uint16'))
    """

    kind: ClassVar[str] = "projective_geometry"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    k: int
    g: int = field(init=False, compare=False)
    t: int = field(init=False, compare=False)
    channel: Channel = field(init=False, repr=False, compare=False)
    _true: Real = field(init=False, repr=False, compare=False)  # the chance of each hyperplane through it
    _untrue: Real = field(init=False, repr=False, compare=False)  # the chance of each other one
    _kept: Real = field(init=False, repr=False, compare=False)  # to draw one through it, else any

    def __init__(self, epsilon: EpsilonLike, k: int) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", check_k(k))
        g, t = best_space(self.epsilon, k)
        object.__setattr__(self, "g", g)
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "channel", space_channel(self.epsilon, g, t))
        object.__setattr__(self, "_true", self.channel.p / self._through)
        object.__setattr__(self, "_untrue", (1 - self.channel.p) / (self.hyperplanes - self._through))
        object.__setattr__(self, "_kept", 1 - self._untrue * self.hyperplanes)

    @property
    def hyperplanes(self) -> int:
        """How many reports there are."""
        return size(self.t + 1, self.g)

    @property
    def _through(self) -> int:
        return size(self.t, self.g)  # a point

    @property
    def layout(self) -> "np.dtype[Any]":
        """The narrowest unsigned integer that numbers all hyperplanes."""
        return np.dtype(next(f"<u{width}" for width in (1, 2, 4, 8) if self.hyperplanes <= 256**width))

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return share_rows(self.k)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw any hyperplane through the point, or else any of all, which is the same law."""
        held = categories(values, self.k)
        wide = word(max(self.hyperplanes, self.t * self.g**2))
        reports = np.empty(held.size, dtype=self.layout)
        for some in slices(held.size, _ROWS):
            rows = some.stop - some.start
            others = integers(self._through, rows, coins).astype(wide)
            told = through(held[some].astype(wide), others, self.g, self.t)
            drawn = integers(self.hyperplanes, rows, coins)
            reports[some] = np.where(bernoulli(self._kept, rows, coins), told, drawn)
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are hyperplanes."""
        return (reports >= 0) & (reports < self.hyperplanes)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each category."""
        if not self.check(reports).all():
            raise DomainError(f"a report must be from 0 to {self.hyperplanes - 1}")
        supports = Tally.zero(self.k)
        for some in slices(len(reports), AT_ONCE):
            supports += self._tally(*grouped(reports[some], self.hyperplanes))
        return supports

    def _tally(self, reports: Ints, weights: Ints) -> Tally:
        supports = Bundle(reports, weights, self.g, self.t).through(self.k)
        return Tally(int(weights.sum()), supports)

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the support of each category."""
        return [supports(tally.n, tally.cells, self.channel)]

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return that of each report."""
        chances = float(self._untrue), float(self._true)
        counts, columns = self.tally(reports).cells, partial(self._supported, reports.astype(np.int64))
        return [
            often("reports that say {}", reports, self.hyperplanes, *chances),
            *of_lines(len(reports), counts, columns, self.channel, g=self.g, t=self.t),
        ]

    def _supported(self, reports: Reports, chosen: Ints) -> Mask:
        """Tell of some categories which reports support them, shape (reports, some)."""
        return np.stack([are_through(v, reports, self.g, self.t) for v in chosen.tolist()], axis=1)

    def estimate(self, tally: Tally) -> Shares:
        """Return the share of each category."""
        return Shares(tally.n, tally.cells, self.channel, self._lines)

    def _lines(self, rows: Sequence[int]) -> Ints | None:
        return pairs_in_line(rows, self.k, self.g, self.t) if len(rows) * self.k <= MOST else None

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports."""
        return self.channel.stderr(n, frequency)

    def loss(self) -> Loss:
        """Enclose the log-ratio of a hyperplane that goes through a point, and one that does not."""
        return Loss(*Real.log(self._true / self._untrue).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally | None:
        """Draw how often each hyperplane comes through each category's point, and how often from all."""
        holders = counts.nonzero()[0]
        if holders.size * self._through + self.hyperplanes > _CELLS:
            return None
        kept = coins.binomial(counts, self._kept)
        reports = coins.multinomial(
            int((counts - kept).sum()), np.full(self.hyperplanes, 1 / self.hyperplanes)
        )
        others = np.arange(self._through)
        for v in holders:
            drawn = coins.multinomial(int(kept[v]), np.full(self._through, 1 / self._through))
            reports[through(np.full(self._through, v), others, self.g, self.t)] += drawn
        return self._tally(np.arange(self.hyperplanes), reports)

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return the categories."""
        return categories(values, self.k).astype(np.int64)

    def outputs(self) -> Reports:
        """Return every hyperplane.

        Raises DomainError if there are over 2**20.
        """
        if self.hyperplanes > 1 << 20:
            raise DomainError(f"{self.hyperplanes} reports are too many to list")
        return np.arange(self.hyperplanes).astype(self.layout)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the chance of each hyperplane through the point, or of each other one."""
        is_true = is_through(int(held), int(report), self.g, self.t)
        return self._true if is_true else self._untrue

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely each group is."""
        return (
            f"one of {self.hyperplanes} overlapping groups of the {len(names)} answers is sent: each of the "
            f"{self._through} with your answer in it with probability "
            f"{percent(self._true)}, each other, untrue, with {percent(self._untrue)}"
        )


def space_channel(epsilon: Epsilon, g: int, t: int) -> Channel:
    """Return the channel of the space of t + 1 coordinates modulo g.

    qq is for a person whose point is none of the g - 1 others on the line through the two.
    """
    e, one, two = Real.exp(epsilon.exact), size(t, g), size(t - 1, g)  # hyperplanes through so many points
    three = size(t - 2, g) if t > 1 else 0
    total = (e - 1) * one + size(t + 1, g)
    pq, qq = e * two / total, ((e - 1) * three + two) / total
    p, q = e * one / total, ((e - 1) * two + one) / total
    return Channel(p, q, pq=pq if two else Real(0), qq=qq if two else Real(0), line=g + 1)


def best_space(epsilon: Epsilon, k: int) -> tuple[int, int]:
    """Return the prime g and the t with at least k points and the least total variance of k shares.

    Tried are the primes best for hashing, and the smallest that has enough points, for each t.
    """
    smallest = [_smallest(k, t) for t in range(1, 17)]
    primes = {prime for prime in best_primes(epsilon, k) if prime < smallest[0]} | {*smallest}
    spaces = [(g, next(t for t in range(1, 17) if size(t + 1, g) >= k)) for g in sorted(primes)]
    best, least = spaces[0], total_variance(space_channel(epsilon, *spaces[0]), k)
    for space in spaces[1:]:
        total = total_variance(space_channel(epsilon, *space), k)
        if (total - least).leading(0) < 0:
            best, least = space, total
    return best


def _smallest(k: int, t: int) -> int:
    """Return the smallest prime whose space of t + 1 coordinates has k points."""
    g = prime_from(max(2, int(k ** (1 / t)) - 2))  # rounded or not, the search starts below
    while size(t + 1, g) < k:
        g = prime_from(g + 1)
    return g
