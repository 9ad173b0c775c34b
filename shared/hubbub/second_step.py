"""This file holds the second step of a repeated answer: fresh reports about a permanent one, solved exactly.

The first step is a mechanism at the memo's epsilon; the second makes one report follow the law of the same
mechanism at the epsilon of a single report. If memos support with probabilities p1, q1 and reports shall with
p, q, then p = p1 p2 + (1 - p1) q2 and q = q1 p2 + (1 - q1) q2 have one solution. (Arcolezi, Couchot, Al
Bouna, Xiao, "Improving the utility of locally differentially private protocols for longitudinal and
multidimensional frequency estimates", Digital Communications and Networks 2022, publish another p2 for k > 2
symbols, valid but with more noise.)
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hubbub.coins import Coins, bernoulli, integers, slices
from hubbub.eight_coins import PackedCoins
from hubbub.errors import DomainError
from hubbub.frequencies import Channel
from hubbub.mechanism import Loss, Reports
from hubbub.probability import Real, percent

_ROWS = 1 << 16
_BYTES = 1 << 18


def solved(permanent: Channel, channel: Channel) -> Channel:
    """Return the chance that a report supports what its memo supports / does not support.

    permanent, channel: of memos and of reports.
    """
    kept = (channel.p - channel.q) / (permanent.p - permanent.q)
    moved = channel.q - kept * permanent.q
    return Channel(kept + moved, moved)


def told(symbols: Reports, k: int, channel: Channel, coins: Coins) -> Reports:
    """Keep each symbol with probability p - q, else draw any of all k, which is randomized response."""
    drawn, kept = np.empty_like(symbols), channel.p - channel.q
    for some in slices(symbols.size, _ROWS):
        size = some.stop - some.start
        drawn[some] = np.where(bernoulli(kept, size, coins), symbols[some], integers(k, size, coins))
    return drawn


@dataclass(frozen=True, slots=True)
class SymbolStep:
    """One of k symbols, drawn for good by randomized response and told by randomized response.

    permanent, channel: of a symbol in memos and in reports.
    """

    k: int
    permanent: Channel
    channel: Channel
    second: Channel = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "second", solved(self.permanent, self.channel))

    def report(self, memos: Reports, coins: Coins) -> Reports:
        """Tell each memo's symbol by randomized response."""
        return told(memos, self.k, self.second, coins)

    def sequence(self, held: int, reports: Reports) -> Real:
        """Return the chance of these symbols in a row: over all memos, that of the memo times theirs."""
        total, counts = Real(0), np.bincount(reports, minlength=self.k).tolist()
        for memo, count in enumerate(counts):
            drawn = self.permanent.p if memo == held else self.permanent.q
            total += drawn * self.second.p**count * self.second.q ** (len(reports) - count)
        return total

    def bound(self, reports: int) -> Loss:
        """Enclose the loss of reports that all name one symbol, which no others exceed."""
        p, q = self.permanent.p, self.permanent.q
        fades = (self.second.q / self.second.p) ** at_least_one(reports)
        return Loss(*Real.log((p + (1 - p) * fades) / (q + (1 - q) * fades)).enclose(100))


@dataclass(frozen=True, slots=True)
class BitStep:
    """k independent bits, drawn for good and flipped in each report, both kinds with one probability.

    permanent, channel: of a bit in memos and in reports.
    """

    k: int
    permanent: Channel
    channel: Channel
    flip: Real = field(init=False)
    _flips: PackedCoins = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "flip", solved(self.permanent, self.channel).q)
        object.__setattr__(self, "_flips", PackedCoins((self.flip,) * 8))

    def report(self, memos: Reports, coins: Coins) -> Reports:
        """Flip each bit of each memo, but for the padding."""
        reports, width = np.empty_like(memos), memos.shape[1]
        for some in slices(len(memos), max(1, _BYTES // width)):
            rows = some.stop - some.start
            flips = self._flips.throw(rows * width, coins).reshape(rows, width)
            flips[:, -1] &= 255 >> -self.k % 8
            reports[some] = memos[some] ^ flips
        return reports

    def sequence(self, held: int, reports: Reports) -> Real:
        """Return the chance of these rows of bits: a product over bits, each over its two memos."""
        bits = np.unpackbits(reports, axis=1, count=self.k, bitorder="little")
        total, height = Real(1), len(bits)
        for category, ones in enumerate(bits.sum(axis=0).tolist()):
            one = self.permanent.p if category == held else self.permanent.q
            flips, stays = self.flip, 1 - self.flip
            total *= one * stays**ones * flips ** (height - ones) + (1 - one) * (
                flips**ones * stays ** (height - ones)
            )
        return total

    def bound(self, reports: int) -> Loss:
        """Enclose the loss of reports that all set the one's bit and never the other's."""
        p, q = self.permanent.p, self.permanent.q
        fades = (self.flip / (1 - self.flip)) ** at_least_one(reports)
        ones = (p + (1 - p) * fades) / (q + (1 - q) * fades)
        zeros = (1 - q + q * fades) / (1 - p + p * fades)
        return Loss(*Real.log(ones * zeros).enclose(100))

    def sentence(self, answers: int) -> str:
        """Say how likely the memo and a report tick each of so many answers."""
        memo, report = self.permanent, self.channel
        return (
            f"of the {answers} answers any number are ticked once, for good: yours with probability "
            f"{percent(memo.p)}, each other one, untrue, with {percent(memo.q)}; each report is drawn anew "
            f"from that, and ticks yours with probability {percent(report.p)}, each other one with "
            f"{percent(report.q)}"
        )


def at_least_one(reports: Any) -> int:
    """Return a number of reports, refusing what is none.

    Raises DomainError.
    """
    if isinstance(reports, bool) or not isinstance(reports, int) or reports < 1:
        raise DomainError("a number of reports must be a whole number, at least 1")
    return reports
