"""This file flips eight coins at once, exactly: two random bytes and a table decide nearly every throw.

The 256 outcomes of eight independent coins share out the unit interval, each a share as wide as it is likely:
the last coin cuts it in two, tails below heads, the next one cuts both parts, and so on. A throw is a uniform
number, and its outcome is how many of the 255 bounds between shares are at or below it.

This is exact. Of a number the first digits are drawn, so that it lies in a cell; of each bound a floor and a
ceiling are known. As many bounds as have ceilings at or below the cell's start are at or below the number,
whatever its further digits are; none but those with floors below the cell's end can be. Where the two counts
agree, the outcome is certain. Where not, further digits are drawn and the bounds enclosed as narrowly; what
stays open shrinks to the bounds themselves, so a throw ends.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import Bytes, Coins, Ints, check_bias, flips, slices
from hubbub.errors import DomainError
from hubbub.probability import Real

_MANY = 10_000  # throws that are worth tables; the longest report of one value takes 8,192
_ROWS = 1 << 16  # worked on at a time
_FIRST, _SECOND, _NEXT = 16, 32, 64  # digits that look an outcome up, are drawn where it is open, and so on
_OPEN = 256  # in place of the outcome of a cell that may have a bound in it


@dataclass(frozen=True, slots=True)
class PackedCoins:
    """Coins of a multiple of eight biases, thrown together.

    A table for eight takes some 10 ms to make, and then two bytes a throw in place of eight. So the first
    throw of many makes the tables and every throw of many uses them, while one value is perturbed coin by
    coin. The size alone decides, so that a seed draws the same whatever was drawn before.
    """

    biases: tuple[Real, ...]
    _eights: "list[EightCoins]" = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.biases) % 8 or not self.biases:
            raise DomainError(f"coins are packed by eights, got {len(self.biases)}")

    def throw(self, size: int, coins: Coins) -> Bytes:
        """Throw all ``size`` times; the first coin is the lowest bit of the first byte, shape (size, bytes).

        Raises DomainError for a bias outside 0 to 1.
        """
        if size < _MANY:
            heads = flips(self.biases, size, coins).reshape(-1)
            return np.packbits(heads, bitorder="little").reshape(size, len(self.biases) // 8)
        if not self._eights:
            starts = range(0, len(self.biases), 8)
            self._eights[:] = [EightCoins(self.biases[start : start + 8]) for start in starts]
        return np.stack([eight.throw(size, coins) for eight in self._eights], axis=1)


@dataclass(frozen=True, slots=True)
class EightCoins:
    """Coins of eight biases, with the outcome of each cell of 16 digits looked up.

    Raises DomainError for a bias outside 0 to 1, and for more or fewer than eight.
    """

    biases: tuple[Real, ...]
    _bounds: Sequence[Real] = field(init=False, repr=False, compare=False)  # shape (255,)
    _floors: Ints = field(init=False, repr=False, compare=False)  # in units of 2**-48, rising
    _ceilings: Ints = field(init=False, repr=False, compare=False)
    _outcomes: NDArray[np.uint16] = field(init=False, repr=False, compare=False)  # shape (2**16,)

    def __post_init__(self) -> None:
        if len(self.biases) != 8:
            raise DomainError(f"eight coins have eight biases, got {len(self.biases)}")
        bounds = _bounds(self.biases)
        floors, ceilings = _enclosed(bounds, _FIRST + _SECOND)
        object.__setattr__(self, "_bounds", bounds)
        object.__setattr__(self, "_floors", np.array(floors))
        object.__setattr__(self, "_ceilings", np.array(ceilings))
        starts = np.arange(1 << _FIRST) << _SECOND
        object.__setattr__(self, "_outcomes", self._decide(starts, 1 << _SECOND))

    def throw(self, size: int, coins: Coins) -> Bytes:
        """Throw all eight ``size`` times; the lowest bit of an outcome is the first coin, shape (size,)."""
        thrown = np.empty(size, dtype=np.uint8)
        for some in slices(size, _ROWS):
            thrown[some] = self._throw_some(some.stop - some.start, coins)
        return thrown

    def _throw_some(self, size: int, coins: Coins) -> NDArray[np.uint16]:
        cells = coins.words(2 * size).view("<u2")
        outcomes = self._outcomes.take(cells)
        still_open = (outcomes == _OPEN).nonzero()[0]
        further = coins.words(4 * still_open.size).view("<u4")
        digits = (cells[still_open].astype(np.int64) << _SECOND) | further
        outcomes[still_open] = self._decide(digits, 1)
        for row in np.flatnonzero(outcomes[still_open] == _OPEN):  # less than one throw in 2**38
            outcomes[still_open[row]] = self._settle(int(digits[row]), coins)
        return outcomes

    def _decide(self, starts: Ints, width: int) -> NDArray[np.uint16]:
        """Return the outcome of each cell, open where a bound may be in it."""
        certain = self._ceilings.searchsorted(starts, side="right")
        possible = self._floors.searchsorted(starts + width, side="left")
        return np.where(certain == possible, certain, _OPEN).astype(np.uint16)

    def _settle(self, digits: int, coins: Coins) -> int:
        """Draw digits after the first 48 until they tell the outcome."""
        known = _FIRST + _SECOND
        while True:
            digits = digits << _NEXT | int.from_bytes(coins.words(_NEXT // 8).tobytes(), "little")
            known += _NEXT
            floors, ceilings = _enclosed(self._bounds, known)
            certain = sum(ceiling <= digits for ceiling in ceilings)
            if certain == sum(floor <= digits for floor in floors):
                return certain


def _bounds(biases: Sequence[Real]) -> list[Real]:
    """Return where each share but the first starts."""
    shares = [(Real(0), Real(1))]  # starts and widths
    for bias in reversed(biases):
        check_bias(bias)
        halves = []
        for start, width in shares:
            tails = width * (1 - bias)
            halves += [(start, tails), (start + tails, width * bias)]
        shares = halves
    return [start for start, _ in shares[1:]]


def _enclosed(bounds: Sequence[Real], bits: int) -> tuple[list[int], list[int]]:
    """Return a floor and a ceiling of 2**bits times each bound, at most 2 apart, each list rising."""
    ends = [bound.enclose(bits) for bound in bounds]
    floors = [math.floor(low * 2**bits) for low, _ in ends]
    return sorted(floors), sorted(math.ceil(high * 2**bits) for _, high in ends)
