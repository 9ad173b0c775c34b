"""This file holds reports of a text's public hashes as noisy bits: a group, and a row of bits for each hash.

Everybody draws one of some groups, each of which has hashes of its own. In every one of them the bit of the
text's symbol is 1 with probability p, every other bit with probability q.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.bit_laws import ticks_in_each
from hubbub.coins import Coins, integers
from hubbub.errors import DomainError
from hubbub.frequencies import Ints
from hubbub.laws import Law, counted, evenly, summed, within
from hubbub.mechanism import Mask, Reports, Values
from hubbub.probability import Real
from hubbub.public_hashes import chosen_symbols, rows_of_bytes, symbols
from hubbub.tally import Tally
from hubbub.unary import UnaryBits


@dataclass(frozen=True, slots=True)
class HashedBits:
    """Texts of at most ``length`` bytes, ``groups`` of ``each`` hashes, and the bits of one.

    A report is the group in two bytes, little-endian, then each hash's row of bits. Group j has the hashes
    ``each`` j and following.
    """

    length: int
    groups: int
    each: int
    bits: UnaryBits

    @property
    def layout(self) -> "np.dtype[Any]":
        """The bytes of a group and its bits."""
        return np.dtype(("u1", (2 + self.each * self.bits.layout.itemsize,)))

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a group and perturb the bits of its hashes."""
        texts = rows_of_bytes(values, self.length)
        group = integers(self.groups, len(texts), coins).astype("<u2")
        reports = np.empty(len(texts), dtype=self.layout)
        reports[:, :2] = group.view(np.uint8).reshape(-1, 2)
        for number, place in enumerate(self._places()):
            which = group.astype(np.int64) * self.each + number
            held = chosen_symbols(texts, which, self.groups * self.each, self.bits.k)
            reports[:, place] = self.bits.perturb(held, coins)
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports have a group that exists, and no bits beyond the last symbol."""
        checks = [self.bits.check(reports[:, place]) for place in self._places()]
        checked: Mask = np.all([_groups(reports) < self.groups, *checks], axis=0)
        return checked

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each group, and of those each bit of each hash.

        Raises DomainError for a report that no device sends.
        """
        group = _groups(reports)
        if not (group < self.groups).all():
            raise DomainError(f"a group must be from 0 to {self.groups - 1}")
        sizes = np.bincount(group, minlength=self.groups)
        counts = np.zeros((self.groups, self.each, self.bits.k), dtype=np.int64)
        order = np.argsort(group, kind="stable")
        ends = np.cumsum(sizes)
        for one in np.flatnonzero(sizes):
            own = reports[order[ends[one] - sizes[one] : ends[one]]]
            for number, place in enumerate(self._places()):
                counts[one, number] = self.bits.tally(np.ascontiguousarray(own[:, place])).cells
        return Tally(len(reports), np.concatenate([sizes, counts.reshape(-1)]))

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the groups, drawn evenly, of each bit, and of all ticks."""
        p, q = float(self.bits.channel.p), float(self.bits.channel.q)
        sizes, counts = self.counts(tally)
        rows, others = tally.n * self.each, (tally.n * self.each * (self.bits.k - 1), q)
        return [
            evenly("reports of group {}", sizes, tally.n),
            counted(
                "reports with tick {}", counts, np.broadcast_to(sizes[:, None, None], counts.shape), q, p
            ),
            summed("ticks in all reports", int(counts.sum()), [(rows, p), others], [(rows, p), others]),
        ]

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of the number of ticks in each row."""
        p, q = float(self.bits.channel.p), float(self.bits.channel.q)
        each = (ticks_in_each(reports[:, place], self.bits.k, p=p, q=q) for place in self._places())
        return [law for number, law in enumerate(each) for law in within(f"in row {number}", [law])]

    def counts(self, tally: Tally) -> tuple[Ints, Ints]:
        """Return the reports of each group, shape (groups,), and the bits, shape (groups, each, symbols)."""
        sizes, counts = np.split(tally.cells, [self.groups])
        return sizes, counts.reshape(self.groups, self.each, self.bits.k)

    def inputs(self, values: Values) -> Ints:
        """Return each text's symbol in every hash, shape (n, groups * each)."""
        return symbols(rows_of_bytes(values, self.length), self.groups * self.each, self.bits.k)

    def outputs(self) -> Reports:
        """Return every report.

        Raises DomainError if they are over 2**20.
        """
        if self.groups << self.bits.k * self.each > 1 << 20:
            raise DomainError("the reports are too many to list")
        rows = self.bits.outputs()
        which = np.indices((self.groups, *[len(rows)] * self.each)).reshape(1 + self.each, -1)
        parts = [which[0].astype("<u2").view(np.uint8).reshape(-1, 2), *(rows[index] for index in which[1:])]
        return np.concatenate(parts, axis=1)

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return the product over all bits of the group's hashes, evenly over the groups."""
        group = int(_groups(report[None])[0])
        chance = Real(1) / self.groups
        for number, place in enumerate(self._places()):
            chance *= self.bits.likelihood(int(held[group * self.each + number]), report[place])
        return chance

    def _places(self) -> list[slice]:
        width = self.bits.layout.itemsize
        return [slice(2 + width * number, 2 + width * (number + 1)) for number in range(self.each)]


def _groups(reports: Reports) -> Ints:
    return reports[:, 0].astype(np.int64) + 256 * reports[:, 1].astype(np.int64)
