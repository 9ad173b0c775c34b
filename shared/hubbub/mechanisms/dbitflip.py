"""This file holds dBitFlip: a device watches d of k buckets for good, and tells of each whether it holds it.

Ding, Kulkarni, Yekhanin, "Collecting telemetry data privately", NIPS 2017: permanent answers without a second
step. With one bucket watched, no two people differ in more than one bit, so that it takes the whole epsilon.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, flips, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.frequencies import categories, check_k, share_rows
from hubbub.laws import Law, counted
from hubbub.longitudinal import Memos, reserved
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.probability import Real, percent
from hubbub.second_step import at_least_one
from hubbub.tally import Tally
from hubbub.watched import Watch, WatchedShares

_CELLS = 1 << 16  # numbers worked on at a time


@dataclass(frozen=True, slots=True, init=False)
class DBitFlip:
    """One of k categories, asked again and again at no cost but the first one's, unless the value changes.

    A report is the memo: d whole numbers, 2 bucket + bit, one for each bucket watched, rising; of one byte up
    to k = 128, two up to 32,768, else four, little-endian. The bits are independent: that of the bucket held
    is 1 with probability a, another with 1 - a, where a / (1 - a) is e^(epsilon / 2), or e^epsilon if d = 1.

    >>> mechanism = DBitFlip(epsilon="2", k=10, buckets=4)
    >>> mechanism.truth, mechanism.layout.itemsize, mechanism.states
    (Real(0.7310585786300049), 4, 5)
    """

    kind: ClassVar[str] = "dbitflip"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    k: int
    buckets: int
    truth: Real = field(init=False, repr=False, compare=False)  # a
    watch: Watch = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, k: int, *, buckets: int = 1) -> None:
        most = min(check_k(k), 256)
        if isinstance(buckets, bool) or not isinstance(buckets, int) or not 1 <= buckets <= most:
            raise DomainError(f"buckets must be from 1 to {most}, got {buckets}")
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "buckets", buckets)
        e = Real.exp(self.epsilon.exact / min(buckets, 2))
        object.__setattr__(self, "truth", e / (e + 1))
        object.__setattr__(self, "watch", Watch(Real(Fraction(buckets, k)), self.truth, 1 / (e + 1)))

    @property
    def layout(self) -> "np.dtype[Any]":
        """A whole number below 2 k for each bucket watched."""
        width = next(width for width in (1, 2, 4) if 2 * self.k <= 256**width)
        return np.dtype((f"<u{width}", (self.buckets,)))

    @property
    def memo_layout(self) -> "np.dtype[Any]":
        """A memo is what is reported."""
        return self.layout

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return share_rows(self.k)

    @property
    def states(self) -> int:
        """One for each bucket watched, and one for all others."""
        return min(self.buckets + 1, self.k)

    @property
    def permanent(self) -> Watch:
        """A report is its memo."""
        return self.watch

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw memos."""
        return self.memoize(values, coins)

    def memoize(self, values: Values, coins: Coins, *, earlier: Memos | None = None) -> Memos:
        """Choose buckets to watch, unless that was done earlier, and say of each, if it is held."""
        held = categories(values, self.k)
        memos = np.empty(held.size, dtype=self.layout)
        for some in slices(held.size, max(1, _CELLS // self.buckets)):
            size = some.stop - some.start
            watched = self._watched(size, coins) if earlier is None else earlier[some].astype(np.int64) >> 1
            is_lie = flips([1 - self.truth] * self.buckets, size, coins)
            memos[some] = 2 * watched + ((watched == held[some, None]) ^ is_lie)
        return memos

    def _watched(self, size: int, coins: Coins) -> Ints:
        """Draw sets of buckets, each set equally likely, sorted (Floyd, in Bentley, CACM 30(9), 1987)."""
        chosen = np.empty((size, self.buckets), dtype=np.int64)
        for column, last in enumerate(range(self.k - self.buckets, self.k)):
            drawn = integers(last + 1, size, coins).astype(np.int64)
            is_taken = (chosen[:, :column] == drawn[:, None]).any(axis=1)
            chosen[:, column] = np.where(is_taken, last, drawn)
        chosen.sort(axis=1)
        return chosen

    def state(self, values: Values, memos: Memos) -> Ints:
        """Return the position of the bucket watched that is held; one more than the last for none."""
        is_held = (memos >> 1) == categories(values, self.k)[:, None]
        return np.where(is_held.any(axis=1), is_held.argmax(axis=1), self.states - 1)

    def report(self, memos: Memos, coins: Coins) -> Reports:  # noqa: ARG002 - there is no second step
        """Return the memos."""
        return memos.copy()

    def check(self, reports: Reports) -> Mask:
        """Tell which reports name buckets, each once, in rising order."""
        watched = reports.astype(np.int64) >> 1
        return np.asarray((np.diff(watched, prepend=-1, append=self.k) > 0).all(axis=1))

    def tally(self, reports: Reports) -> Tally:
        """Count how often reports deny and affirm each category: cell 2 bucket + bit, as they say it."""
        if not self.check(reports).all():
            raise DomainError(f"a report must name {self.buckets} of {self.k} buckets in order")
        cells = np.zeros(2 * self.k, dtype=np.int64)
        for some in slices(len(reports), max(1, (1 << 20) // self.buckets)):
            cells += np.bincount(reports[some].reshape(-1), minlength=2 * self.k)
        return Tally(len(reports), cells)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the buckets watched, drawn evenly, and of what is said of each."""
        no, yes = tally.cells.reshape(self.k, 2).T
        part, lie, truth = self.buckets / self.k, float(1 - self.truth), float(self.truth)
        return [
            counted("reports that watch {}", no + yes, tally.n, part, part, are_rows=True),
            counted("reports that affirm {}", yes, no + yes, lie, truth, are_rows=True),
        ]

    def estimate(self, tally: Tally) -> WatchedShares:
        """Return the share of each category."""
        no, yes = tally.cells.reshape(self.k, 2).T
        return WatchedShares(tally.n, yes, no + yes, self.watch)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports."""
        return self.watch.stderr(n, frequency)

    def loss(self) -> Loss:
        """Enclose the log of a / (1 - a), once for each bucket watched that one of two people holds."""
        odds = self.truth / (1 - self.truth)
        return Loss(*Real.log(odds ** min(self.buckets, 2)).enclose(100))

    def bound(self, reports: int) -> Loss:
        """Enclose the loss of so many reports from one memo, which are all the same."""
        at_least_one(reports)
        return self.loss()

    def reservation(self, changes: int) -> int:
        """Return what a device sets aside that may change its value so often, in millionths of epsilon."""
        return reserved(self.epsilon, changes=changes, states=self.states)

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return None: no law of the whole tally is implemented."""

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return the categories."""
        return categories(values, self.k).astype(np.int64)

    def outputs(self) -> Reports:
        """Return every set of buckets with every row of bits.

        Raises DomainError where there are over 2**20 of them.
        """
        if comb(self.k, self.buckets) << self.buckets > 1 << 20:
            raise DomainError(f"{comb(self.k, self.buckets)} sets of buckets are too many to list")
        sets, bits = combinations(range(self.k), self.buckets), product((0, 1), repeat=self.buckets)
        told = [[2 * bucket + bit for bucket, bit in zip(*one, strict=True)] for one in product(sets, bits)]
        return np.array(told, dtype=self.layout.base)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the chance of the set times that of each bit."""
        truths = int(((report & 1) == (report >> 1 == held)).sum())
        return self.truth**truths * (1 - self.truth) ** (self.buckets - truths) / comb(self.k, self.buckets)

    def sequence(self, held: int, reports: Reports) -> Real:
        """Return the chance of the first report, which all others repeat."""
        return self.likelihood(held, reports[0]) if (reports == reports[0]).all() else Real(0)

    def sentence(self, names: Sequence[str]) -> str:
        """Say what is told of the buckets watched, and how likely."""
        return (
            f"of {self.buckets} of the {len(names)} answers, chosen once at random, it is said whether it is "
            f"yours, truly with probability {percent(self.truth)}; every report repeats that until it changes"
        )
