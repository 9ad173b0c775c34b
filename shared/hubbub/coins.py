"""This file turns random bytes into exact coins: a bias is a real number, and no float takes part.

One byte decides all but one flip in 256: it is below or above the first eight binary digits of the bias. Only
a tie draws further digits, as many as it takes. So the law is exact, and the time depends on the coins alone.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import DomainError
from hubbub.probability import Real

Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Unsigned = NDArray[np.unsignedinteger]

CHUNK = 1 << 18  # bytes worked on at a time: they stay in the cache, and no fresh page is touched


class Coins(Protocol):
    """A source of randomness: the operating system on a device, a seeded generator in a simulation."""

    def words(self, size: int) -> Bytes:
        """Return ``size`` fresh, independent, uniform bytes."""
        ...


class SimulationCoins(Coins, Protocol):
    """Coins that also say how many of many things fall where; a device has none."""

    def binomial(self, n: Ints, p: Real) -> Ints:
        """Return how many of n flips of bias p are heads, for each n."""
        ...

    def multinomial(self, n: int, probabilities: NDArray[np.float64]) -> Ints:
        """Return how many of n things fall into each cell, shape (cells,)."""
        ...


def bernoulli(bias: Real, size: int, coins: Coins) -> Bools:
    """Flip ``size`` coins of one bias, exactly.

    Raises DomainError for a bias outside 0 to 1.
    """
    return flips((bias,), size, coins)[:, 0]


def flips(biases: Sequence[Real], rows: int, coins: Coins) -> Bools:
    """Flip a coin of each bias in each row, exactly, shape (rows, biases).

    Raises DomainError for a bias outside 0 to 1.
    """
    at_once = max(1, min(rows, CHUNK // len(biases)))
    digits = np.array([_digits(check_bias(bias), 0, 8) for bias in biases], dtype=np.uint8)
    if len(biases) > 1:  # a single one is compared with all words as it is
        digits = np.tile(digits, at_once)
    heads = np.empty(rows * len(biases), dtype=np.bool_)
    for some in slices(heads.size, at_once * len(biases)):
        words = coins.words(some.stop - some.start)
        np.less(words, digits[: words.size], out=heads[some])
        tied = (words == digits[: words.size]).nonzero()[0]
        if tied.size:
            _break_ties(heads[some], tied, biases, coins)
    return heads.reshape(rows, len(biases))


def _break_ties(heads: Bools, tied: NDArray[np.intp], biases: Sequence[Real], coins: Coins) -> None:
    """Compare 64 further digits where all before were equal, until none are."""
    known = 8
    while tied.size:
        digits = np.array([_digits(bias, known, 64) for bias in biases], dtype=np.uint64)[tied % len(biases)]
        words = coins.words(8 * tied.size).view("<u8")
        heads[tied] = words < digits
        tied, known = tied[words == digits], known + 64


def _digits(bias: Real, skipped: int, count: int) -> int:
    """Return binary digits of a bias as an integer; those of 1 are 0.1111..."""
    return min(bias.leading(skipped + count), (1 << (skipped + count)) - 1) & ((1 << count) - 1)


def check_bias(bias: Real) -> Real:
    """Return a bias as it is, refusing what is no probability.

    Raises DomainError.
    """
    if not 0 <= bias.leading(8) <= 256:
        raise DomainError(f"a probability must be from 0 to 1, got {float(bias)}")
    return bias


def integers(high: int, size: int, coins: Coins) -> Unsigned:
    """Draw uniform integers below ``high``, exactly, in the unsigned type of 1, 2, 4 or 8 bytes that suits.

    Words that would make some integers likelier are drawn again: fewer than one in sixteen.
    """
    if not 1 <= high <= 1 << 60:
        raise DomainError(f"integers are drawn below 1 to 2**60, got {high}")
    if high == 1:
        return np.zeros(size, dtype=np.uint8)
    width = next(width for width in (1, 2, 4, 8) if 256**width >= 16 * high or 256**width % high == 0)
    excess = 256**width % high  # that many words are one too many
    words = coins.words(width * size).view(f"<u{width}")
    drawn = _remainders(words, high)
    refused = (words > 256**width - 1 - excess).nonzero()[0]
    while refused.size:
        words = coins.words(width * refused.size).view(drawn.dtype)
        drawn[refused] = _remainders(words, high)
        refused = refused[words > 256**width - 1 - excess]
    return drawn


def _remainders(words: Unsigned, divisor: int) -> Unsigned:
    """Return words % divisor, without numpy's %, which takes 20 times as long as its division by a number."""
    number = words.dtype.type
    if divisor & (divisor - 1) == 0:
        return words & number(divisor - 1)
    return words - words // number(divisor) * number(divisor)


def slices(rows: int, at_once: int) -> Iterator[slice]:
    """Cut rows into slices of at most so many."""
    return (slice(start, min(start + at_once, rows)) for start in range(0, rows, at_once))
