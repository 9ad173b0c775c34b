"""This file holds PCKV-UE: keys and their numbers in one report of a sign, or none, for each key.

Gu, Li, Cheng, Xiong, Cao, "PCKV: locally differentially private correlated key-value data collection with
optimized utility", USENIX Security 2020.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub import picks
from hubbub.bit_counts import count_bits
from hubbub.bit_laws import pairs, ticks, ticks_in_each
from hubbub.coins import CHUNK, Coins, SimulationCoins, bernoulli, slices
from hubbub.eight_coins import PackedCoins
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.exact_number import exact_number
from hubbub.frequencies import Channel, Shares, check_k
from hubbub.keyed_means import KeyedMeans, keyed_rows
from hubbub.laws import Law, supports
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.probability import Real, percent
from hubbub.tally import Tally

_LISTED = 12  # keys: 3**12 reports


@dataclass(frozen=True, slots=True, init=False)
class KeyValueUnary:
    """Numbers in [low, high] for some of k keys, of which a person has ``most`` or fewer.

    A person's keys fill slots, ``most`` of them, and one slot is drawn. Its number is rounded at random to
    minus or plus, so that the mean stays. The drawn key has a sign with probability a = 1/2, then the true
    one with p = e^epsilon / (e^epsilon + 1); any other key has one with b = 2 / (e^epsilon + 3), plus or
    minus with the same chance. A report is k bits, 1 for plus, then k bits, 1 for minus: key v has bit v % 8
    of byte v // 8 of each; bits from k on are 0, and no key has both.

    Spent on the key alone would be e1 = log((e^epsilon + 1) / 2), on the number alone e2 = epsilon; together
    max(e2, e1 + log(2 p)), since both tell of one sign, which is epsilon twice.

    >>> mechanism = KeyValueUnary(epsilon="1.0", k=16, most=2, low="0", high="10")
    >>> mechanism.a, mechanism.b, mechanism.p
    (Real(1/2), Real(0.34975540905421887), Real(0.7310585786300049))
    """

    kind: ClassVar[str] = "key_value_unary"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = False  # the shares are, the means are ratios

    epsilon: Epsilon
    k: int
    most: int
    low: Fraction
    high: Fraction
    a: Real = field(init=False, repr=False, compare=False)
    b: Real = field(init=False, repr=False, compare=False)
    p: Real = field(init=False, repr=False, compare=False)
    _others: PackedCoins = field(init=False, repr=False, compare=False)

    def __init__(
        self, epsilon: EpsilonLike, k: int, *, most: int, low: Decimal | str | int, high: Decimal | str | int
    ) -> None:
        if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= check_k(k):
            raise DomainError(f"most must be an integer from 1 to {k}, got {most}")
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "most", most)
        object.__setattr__(self, "low", exact_number(low, "an end of a range"))
        object.__setattr__(self, "high", exact_number(high, "an end of a range"))
        if not self.low < self.high:
            raise DomainError(f"range must rise from low to high, got [{low}, {high}]")
        e = Real.exp(self.epsilon.exact)
        object.__setattr__(self, "a", Real(Fraction(1, 2)))
        object.__setattr__(self, "b", 2 / (e + 3))
        object.__setattr__(self, "p", e / (e + 1))
        object.__setattr__(self, "_others", PackedCoins((self.b,) * 8))

    @property
    def channel(self) -> Channel:
        """The chance of a sign where a person has a key / has it not."""
        return Channel(self.b + (self.a - self.b) / self.most, self.b)

    @property
    def layout(self) -> "np.dtype[Any]":
        """The bytes that k bits fill, twice."""
        return np.dtype(("u1", (2 * self._width,)))

    @property
    def _width(self) -> int:
        return -(-self.k // 8)

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of people with each key, then the mean number of those who have it."""
        return keyed_rows(self.k)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a key, round its number to a sign, and give each key a sign or none."""
        numbers = self._numbers(values)
        reports = np.empty(len(numbers), dtype=self.layout)
        for some in slices(len(numbers), max(1, CHUNK // (8 * self.k))):
            reports[some] = self._perturbed(numbers[some], coins)
        return reports

    def _perturbed(self, numbers: NDArray[np.float64], coins: Coins) -> Reports:
        size, width = len(numbers), self._width
        drawn = picks.draw(~np.isnan(numbers), self.most, coins)
        rows = np.flatnonzero(drawn < self.k)
        keys = drawn[rows]
        has_sign = bernoulli(self.a, rows.size, coins)
        is_plus = self._rounded(numbers[rows, keys], coins) == bernoulli(self.p, rows.size, coins)
        signed = self._others.throw(size * width, coins).reshape(size, width)
        signed[:, -1] &= 255 >> -self.k % 8
        signs = coins.words(size * width).reshape(size, width)
        planes = np.stack([signed & signs, signed & ~signs], axis=1)
        bit = np.left_shift(1, keys % 8).astype(np.uint8)
        for plane, is_set in enumerate((has_sign & is_plus, has_sign & ~is_plus)):
            others = planes[rows, plane, keys // 8] & ~bit
            planes[rows, plane, keys // 8] = np.where(is_set, others | bit, others)
        return planes.reshape(size, 2 * width)

    def _rounded(self, numbers: NDArray[np.float64], coins: Coins) -> NDArray[np.bool_]:
        """Round numbers to the upper end of the range or the lower one, so that the mean stays."""
        low, high = float(self.low), float(self.high)
        positions = (np.minimum(np.maximum(numbers, low), high) - low) / (high - low)
        is_upper: NDArray[np.bool_] = coins.words(4 * numbers.size).view("<u4") < positions * 2.0**32
        return is_upper

    def check(self, reports: Reports) -> Mask:
        """Tell which reports give no key both signs and leave the bits beyond the last key 0."""
        plus, minus = reports[:, : self._width], reports[:, self._width :]
        is_clear: Mask = (plus[:, -1] | minus[:, -1]) >> (self.k - 1) % 8 < 2
        return is_clear & ~(plus & minus).any(axis=1)

    def tally(self, reports: Reports) -> Tally:
        """Count the pluses of each key, then the minuses, shape (2 k,)."""
        counts = count_bits(reports).reshape(2, -1)
        if counts[:, self.k :].any():
            raise DomainError(f"a report must have twice {self.k} bits")
        return Tally(len(reports), counts[:, : self.k].reshape(-1))

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the signs of each key, and of all signs."""
        plus, minus = tally.cells.reshape(2, -1)
        chances = {"p": float(self.a), "q": float(self.b), "held": float(self.b)}
        return [supports(tally.n, plus + minus, self.channel), ticks(plus + minus, tally.n, **chances)]

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of the number of signs in each report, and of signs that come together."""
        signed = reports[:, : self._width] | reports[:, self._width :]
        chances = {"p": float(self.a), "q": float(self.b), "held": float(self.b)}
        return [ticks_in_each(signed, self.k, **chances), pairs(signed, self.k)]

    def estimate(self, tally: Tally) -> KeyedMeans:
        """Return the share of people with each key and the mean number of those who have it."""
        plus, minus = tally.cells.reshape(2, -1)
        shares = Shares(tally.n, plus + minus, self.channel)
        t = self.a * (2 * self.p - 1) / self.most
        return KeyedMeans(shares, plus - minus, t, float(self.low), float(self.high))

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports, the luck of the slot included."""
        return self.channel.stderr(n, frequency)

    def loss(self) -> Loss:
        """Enclose the larger of two logs: of another sign of the drawn key, and of another key drawn."""
        sign, key = self.p / (1 - self.p), 2 * self.a * self.p / self.b * (1 - self.b) / (1 - self.a)
        bounds = [Real.log(ratio).enclose(110) for ratio in (sign, key)]
        return Loss(max(lower for lower, _ in bounds), max(upper for _, upper in bounds))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return None: what people have together is not counted."""

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Return a row for each value: 0 for a key that it lacks, else its number rounded to -1 or 1."""
        numbers = self._numbers(values)
        held = ~np.isnan(numbers)
        inputs = np.zeros(numbers.shape, dtype=np.int64)
        inputs[held] = np.where(self._rounded(numbers[held], coins), 1, -1)
        return inputs

    def outputs(self) -> Reports:
        """Return every row of signs.

        Raises DomainError if k is over 12.
        """
        if self.k > _LISTED:
            raise DomainError(f"3**{self.k} reports are too many to list")
        signs = np.array(list(product((0, 1, -1), repeat=self.k)))
        planes = [np.packbits(signs == sign, axis=1, bitorder="little") for sign in (1, -1)]
        return np.concatenate(planes, axis=1)

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return the product over all keys, averaged over the slots."""
        rows = np.asarray(report, dtype=np.uint8).reshape(2, -1)
        plus, minus = np.unpackbits(rows, axis=1, count=self.k, bitorder="little").astype(int)
        signs, inputs = (plus - minus).tolist(), np.asarray(held)
        chances = picks.slots(inputs != 0, self.most)
        told = (
            chance
            * self._told(
                int(inputs[key]) if key < self.k else 0, signs[key] if key < self.k else 0, key, signs
            )
            for key, chance in chances.items()
        )
        return sum(told, Real(0))

    def _told(self, number: int, sign: int, drawn: int, signs: Sequence[int]) -> Real:
        others = [other for key, other in enumerate(signs) if key != drawn]
        signed = sum(map(abs, others))
        rest = (self.b / 2) ** signed * (1 - self.b) ** (len(others) - signed)
        if not number:
            return rest
        return rest * (self.a * (self.p if sign == number else 1 - self.p) if sign else 1 - self.a)

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely each key is told as high, as low or not at all."""
        true, untrue, none = percent(self.a * self.p), percent(self.a * (1 - self.p)), percent(1 - self.a)
        either, neither = percent(self.b / 2), percent(1 - self.b)
        return (
            f'for each of {self.k} names "high", "low" or nothing is sent; one that you have, or none, is '
            f"drawn and its number rounded at random to {names[-2]}, low, or {names[-1]}, high: for it the "
            f"true word is sent with probability {true}, the other with {untrue}, nothing with {none}; for "
            f'all others, yours or not, "high" and "low" with {either} each, nothing with {neither}'
        )

    def _numbers(self, values: Values) -> NDArray[np.float64]:
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.ndim != 2 or numbers.shape[1] != self.k or np.isinf(numbers).any():
            raise DomainError(f"values must be rows of {self.k} numbers, nan where there is none")
        return numbers
