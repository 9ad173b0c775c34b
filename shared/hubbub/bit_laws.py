"""This file holds laws of reports that are a row of bits each, at most one of which has another chance.

Each person holds at most one bit; that one is 1 with probability p, all others with q < p, independently.
So n reports have Bin(n, p) + Bin(n (k - 1), q) ones, and one report has s ones with a chance that does not
depend on what is held. Fakes can pad their ones to that. But which bits come together tells them: given how
many reports have bit i and how many bit j, honest ones have both no more often than two random sets of so
many reports do. ``docs/fake-reports.md`` proves that. Given the values all bits are independent, so that the
pairs may be chosen by how often their bits are set.
"""

import numpy as np
from numpy.typing import NDArray

from hubbub.bit_counts import count_bits
from hubbub.laws import Law, counted, summed
from hubbub.mechanism import Reports
from hubbub.tails import shared_at_least

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_TOGETHER = 64  # categories whose pairs are looked at: those that most reports support


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


def pairs(reports: Reports, k: int, *, are_rows: bool = True) -> Law:
    """Return the law of how many reports have two bits at once, of those of k bits that are set most often.

    reports: rows of bytes, whose first bits are these.
    """
    n, counts = len(reports), count_bits(reports)[:k]
    chosen = np.sort(np.argsort(-counts, kind="stable")[:MOST_TOGETHER])
    columns = (reports[:, chosen // 8] >> (chosen % 8).astype(np.uint8) & 1).astype(np.float32)
    together = (columns.T @ columns).astype(np.int64)  # sums below 2**24 are exact
    first, second = np.triu_indices(chosen.size, 1)
    seen, a, b = together[first, second], counts[chosen[first]], counts[chosen[second]]
    many, nothing = shared_at_least(seen, n, a, b), np.zeros(seen.size)

    def names(place: int) -> tuple[str, str]:
        return str(chosen[first[place]]), str(chosen[second[place]])

    return Law(
        "reports that tick both {} and {}",
        seen.astype(np.float64),
        nothing,
        a * b / n,
        nothing,
        many,
        names,
        are_rows,
    )


def _binomial(n: int, p: float) -> Floats:
    """Return the masses of a binomial law, shape (n + 1,)."""
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    hits = np.arange(n + 1)
    logs = factorials[n] - factorials - factorials[::-1] + hits * np.log(p) + (n - hits) * np.log1p(-p)
    masses: Floats = np.exp(logs)
    return masses
