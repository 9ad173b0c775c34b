"""This file holds what unary encodings share: a report of one bit a category, all bits independent.

The bit of the category held is 1 with probability p, each other one with probability q. Mechanisms choose p
and q; everything else follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hubbub.bit_counts import count_bits
from hubbub.bit_laws import pairs, ticks, ticks_in_each
from hubbub.coins import CHUNK, Coins, SimulationCoins, bernoulli, slices
from hubbub.eight_coins import PackedCoins
from hubbub.errors import DomainError
from hubbub.frequencies import Channel, Ints, categories, check_k
from hubbub.laws import Law, supports
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.probability import Real, percent
from hubbub.tally import Tally


@dataclass(frozen=True, slots=True)
class UnaryBits:
    """A row of k independent bits.

    Category v has bit v % 8 of byte v // 8, bit 0 being the lowest; bits from k on are 0.
    """

    k: int
    channel: Channel
    _others: PackedCoins = field(init=False, repr=False, compare=False)  # a byte of bits that are not held

    def __post_init__(self) -> None:
        check_k(self.k)
        object.__setattr__(self, "_others", PackedCoins((self.channel.q,) * 8))

    @property
    def layout(self) -> "np.dtype[Any]":
        """The bytes that k bits fill."""
        return np.dtype(("u1", (-(-self.k // 8),)))

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Set every bit with probability q, but the held one with probability p."""
        held = categories(values, self.k)
        width = self.layout.itemsize
        reports = np.empty(held.size, dtype=self.layout)
        for some in slices(held.size, max(1, CHUNK // width)):
            rows = some.stop - some.start
            thrown = self._others.throw(rows * width, coins).reshape(rows, width)
            place, bit = (np.arange(rows), held[some] // 8), np.left_shift(1, held[some] % 8).astype(np.uint8)
            is_told = bernoulli(self.channel.p, rows, coins)
            thrown[place] = np.where(is_told, thrown[place] | bit, thrown[place] & ~bit)
            thrown[:, -1] &= 255 >> -self.k % 8
            reports[some] = thrown
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports leave the bits beyond the last category 0."""
        return reports[:, -1] >> (self.k - 1) % 8 < 2

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each category."""
        counts = count_bits(reports)
        if counts[self.k :].any():
            raise DomainError(f"a report must have {self.k} bits")
        return Tally(len(reports), counts[: self.k])

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the support of each category, and of the number of all ticks."""
        p, q = float(self.channel.p), float(self.channel.q)
        return [supports(tally.n, tally.cells, self.channel), ticks(tally.cells, tally.n, p=p, q=q)]

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of the number of ticks in each report, and of ticks that come together."""
        p, q = float(self.channel.p), float(self.channel.q)
        return [ticks_in_each(reports, self.k, p=p, q=q), pairs(reports, self.k)]

    def loss(self) -> Loss:
        """Enclose the log of p (1 - q) / ((1 - p) q): two people's reports differ in the law of two bits."""
        p, q = self.channel.p, self.channel.q
        return Loss(*Real.log(p / (1 - p) * ((1 - q) / q)).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Count each category's bits among its holders and among the others: all bits are independent."""
        n = int(counts.sum())
        told = coins.binomial(counts, self.channel.p) + coins.binomial(n - counts, self.channel.q)
        return Tally(n, told)

    def outputs(self) -> Reports:
        """Return every row of k bits.

        Raises DomainError if k is over 20.
        """
        if self.k > 20:
            raise DomainError(f"2**{self.k} reports are too many to list")
        width = self.layout.itemsize
        return np.arange(2**self.k, dtype="<u4").view(np.uint8).reshape(-1, 4)[:, :width].copy()

    def likelihood(self, held: int, report: Any) -> Real:
        """Return the product over all bits."""
        p, q = self.channel.p, self.channel.q
        bits = np.unpackbits(np.asarray(report, dtype=np.uint8), count=self.k, bitorder="little")
        ones = int(bits.sum()) - int(bits[held])
        told = p if bits[held] else 1 - p
        return told * q**ones * (1 - q) ** (self.k - 1 - ones)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely each answer is ticked."""
        p, q = percent(self.channel.p), percent(self.channel.q)
        return (
            f"of the {len(names)} answers any number are sent as ticked: yours with probability {p}, "
            f"each other one, untrue, with {q}"
        )
