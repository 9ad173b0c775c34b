"""This file holds laws of reports that are a row of bits each, at most one of which has another chance.

Each person holds at most one bit; that one is 1 with probability p, all others with q < p, independently.
So n reports have Bin(n, p) + Bin(n (k - 1), q) ones, and one report has s ones with a chance that does not
depend on what is held. Fakes can pad their ones to that. But which bits come together tells them.
"""

import numpy as np
from numpy.typing import NDArray

from hubbub.bit_counts import count_bits
from hubbub.laws import Law, counted, summed
from hubbub.mechanism import Reports
from hubbub.pair_laws import independent

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def ticks(counts: Ints, n: int, *, p: float, q: float, held: float | None = None) -> Law:
    """Return the law of the number of ones in all of n reports.

    counts: of each bit. held: the least chance of the bit that may be the one held, where somebody may hold
    none; by default everybody holds one.
    """
    others = (n * (counts.size - 1), q)
    least = (n, p if held is None else held)
    return summed("ticks in all reports", int(counts.sum()), [least, others], [(n, p), others])


def ticks_in_each(reports: Reports, k: int, *, p: float, q: float, held: float | None = None) -> Law:
    """Return the law of how many reports have how many ones.

    reports: rows of bytes that k bits fill.
    """
    seen = np.bincount(np.bitwise_count(reports).sum(axis=1, dtype=np.int64), minlength=k + 1)
    rest = _binomial(k - 1, q)
    told = [
        np.append((1 - own) * rest, 0) + np.append(0, own * rest) for own in (p, p if held is None else held)
    ]
    return counted("reports with {} ticks", seen, len(reports), np.min(told, axis=0), np.max(told, axis=0))


def pairs(reports: Reports, k: int) -> Law:
    """Return the law of how many reports have two of k bits at once.

    reports: rows of bytes, whose first bits are these.
    """

    def columns(chosen: Ints) -> Reports:
        bits: Reports = reports[:, chosen // 8] >> (chosen % 8).astype(np.uint8) & 1
        return bits

    return independent(len(reports), count_bits(reports)[:k], columns)


def _binomial(n: int, p: float) -> Floats:
    """Return the masses of a binomial law, shape (n + 1,)."""
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    hits = np.arange(n + 1)
    logs = factorials[n] - factorials - factorials[::-1] + hits * np.log(p) + (n - hits) * np.log1p(-p)
    masses: Floats = np.exp(logs)
    return masses
