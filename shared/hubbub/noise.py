"""This file holds the discrete Laplace law, P(z) proportional to e^(-rate |z|): its draws and its moments.

Ghosh, Roughgarden, Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009. A magnitude
is geometric, so its binary digits are independent, digit i being 1 with probability 1 / (1 + e^(rate 2^i)),
and what lies above a number of digits is geometric again. A fair sign is added and "minus zero" drawn again.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import Coins, SimulationCoins, bernoulli, slices
from hubbub.eight_coins import PackedCoins
from hubbub.errors import DomainError
from hubbub.probability import Real

Ints = NDArray[np.int64]

_ROWS = 1 << 14  # worked on at a time


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Integer noise that falls off by the factor e^-rate a step.

    rate: epsilon divided by the sensitivity in steps.

    >>> law = DiscreteLaplace(Fraction(1))
    >>> float(law.mass(0)), float(law.variance)
    (0.46211715726000974, 1.8413471884155845)
    """

    rate: Fraction
    alpha: Real = field(init=False, repr=False, compare=False)  # e^-rate
    variance: Real = field(init=False, repr=False, compare=False)
    fourth_moment: Real = field(init=False, repr=False, compare=False)
    scale_digits: int = field(init=False, repr=False, compare=False)  # so many hold 1 / rate
    _zero: Real = field(init=False, repr=False, compare=False)  # P(Z = 0)
    _beyond: Real = field(init=False, repr=False, compare=False)  # that a magnitude outgrows those digits
    _biases: tuple[Real, ...] = field(init=False, repr=False, compare=False)  # digits, more above, the sign
    _coins: PackedCoins = field(init=False, repr=False, compare=False)  # of these biases

    def __post_init__(self) -> None:
        if not 1 <= self.rate * 2**30 <= 2**40:
            raise DomainError(f"a rate must be from 2**-30 to 2**10, got {self.rate}")
        alpha, growth, biases = Real.exp(-self.rate), Real.exp(self.rate), []
        for _ in range(next(digits for digits in (6, 14, 30) if self.rate * 2**digits >= 1)):
            biases.append(1 / (1 + growth))
            growth = growth * growth
        biases += [1 / growth, Real(Fraction(1, 2))]
        scale_digits = next(digits for digits in range(31) if self.rate * 2**digits >= 1)
        variance = 2 * alpha / (1 - alpha) ** 2
        derived = {
            "alpha": alpha,
            "variance": variance,
            "fourth_moment": variance * (1 + 10 * alpha + alpha**2) / (1 - alpha) ** 2,
            "scale_digits": scale_digits,
            "_zero": (1 - alpha) / (1 + alpha),
            "_beyond": Real.exp(-self.rate * 2**scale_digits),
            "_biases": tuple(biases),
            "_coins": PackedCoins(tuple(biases)),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def mass(self, z: int) -> Real:
        """Return P(Z = z)."""
        return self._zero * self.alpha ** abs(z)

    def tail(self, z: int) -> Real:
        """Return P(Z >= z) for a positive z."""
        return self.alpha**z / (1 + self.alpha)

    def crowd(self, size: int, coins: SimulationCoins) -> tuple[Ints, Ints]:
        """Draw everybody's noise at once: the values, and how many of ``size`` people drew each.

        Those who drew no 0 are split by the sign, by what lies above the digits, then by each digit.
        """
        zeros = coins.binomial(np.array([size]), self._zero)
        positive = coins.binomial(size - zeros, Real(Fraction(1, 2)))
        beyond, groups = np.concatenate([positive, size - zeros - positive]), []
        while beyond.any():
            further = coins.binomial(beyond, self._beyond)
            groups.append(beyond - further)
            beyond = further
        people = np.array(groups, dtype=np.int64).reshape(-1, 2).T  # shape (signs, magnitudes - 1)
        for bias in reversed(self._biases[: self.scale_digits]):
            ones = coins.binomial(people, bias)
            people = np.stack([people - ones, ones], axis=-1).reshape(2, -1)
        magnitudes = np.arange(1, people.shape[1] + 1)
        return np.concatenate([[0], magnitudes, -magnitudes]), np.concatenate([zeros, *people])

    def draw(self, size: int, coins: Coins) -> Ints:
        """Draw noise exactly, shape (size,)."""
        noise = np.empty(size, dtype=np.int64)
        for some in slices(size, _ROWS):
            noise[some] = self._draw_some(some.stop - some.start, coins)
        return noise

    def _draw_some(self, size: int, coins: Coins) -> Ints:
        noise, is_minus_zero = self._draw_signed(size, coins)
        missing = is_minus_zero.nonzero()[0]
        while missing.size:
            noise[missing], is_minus_zero = self._draw_signed(missing.size, coins)
            missing = missing[is_minus_zero]
        return noise

    def _draw_signed(self, size: int, coins: Coins) -> tuple[Ints, NDArray[np.bool_]]:
        """Draw magnitudes with signs, and tell which are minus zero."""
        digits = len(self._biases) - 2
        heads = self._coins.throw(size, coins).view(f"<u{len(self._biases) // 8}")[:, 0]
        noise = (heads & ((1 << digits) - 1)).astype(np.int64)
        higher = (heads >> digits & 1).nonzero()[0]
        while higher.size:
            noise[higher] += 1 << digits
            higher = higher[bernoulli(self._biases[digits], higher.size, coins)]
        negative = heads >> (digits + 1) == 1
        np.negative(noise, where=negative, out=noise)
        return noise, negative & (noise == 0)
