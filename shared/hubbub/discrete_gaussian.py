"""This file holds the discrete Gaussian law, P(z) proportional to e^(-z^2 / (2 sigma^2)), drawn exactly.

Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020: a discrete Laplace
draw y of scale sigma is kept with probability e^(-(|y| - sigma)^2 / (2 sigma^2)). Here sigma is a power of
two, so that this exponent is a binary fraction, and the coin that keeps y is a throw of one coin of bias
e^(-2^j) for each binary digit j of it: all of them must fall heads.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import Coins, bernoulli, slices
from hubbub.errors import DomainError
from hubbub.noise import DiscreteLaplace
from hubbub.probability import Real

Ints = NDArray[np.int64]

MOST_DIGITS = 25
_ROWS = 1 << 14  # worked on at a time


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Integer noise of standard deviation 2**digits.

    >>> law = DiscreteGaussian(4)
    >>> law.sigma, round(law.mass(0), 6)
    (16, 0.024934)
    """

    digits: int
    _proposals: DiscreteLaplace = field(init=False, repr=False, compare=False)
    _keeping: tuple[Real, ...] = field(init=False, repr=False, compare=False)  # by digit of the exponent

    def __post_init__(self) -> None:
        if not 2 <= self.digits <= MOST_DIGITS:
            raise DomainError(f"digits must be from 2 to {MOST_DIGITS}, got {self.digits}")
        lowest = -2 * self.digits - 1  # the exponent is (|y| - sigma)^2 / 2^(2 digits + 1)
        biases = tuple(Real.exp(-(Fraction(2) ** power)) for power in range(lowest, 12))
        object.__setattr__(self, "_keeping", biases)
        object.__setattr__(self, "_proposals", DiscreteLaplace(Fraction(1, 2**self.digits)))

    @property
    def sigma(self) -> int:
        """The standard deviation; that of the law is below it by less than one part in 10**100."""
        return 1 << self.digits

    def mass(self, z: int) -> float:
        """Return P(Z = z): the sum over all integers is sigma sqrt(2 pi), by the same part."""
        return math.exp(-((z / self.sigma) ** 2) / 2) / (self.sigma * math.sqrt(2 * math.pi))

    def draw(self, size: int, coins: Coins) -> Ints:
        """Draw noise exactly, shape (size,)."""
        noise = np.empty(size, dtype=np.int64)
        for some in slices(size, _ROWS):
            noise[some] = self._draw_some(some.stop - some.start, coins)
        return noise

    def _draw_some(self, size: int, coins: Coins) -> Ints:
        noise = self._proposals.draw(size, coins)
        missing = self._refused(noise, coins)
        while missing.size:
            noise[missing] = self._proposals.draw(missing.size, coins)
            missing = missing[self._refused(noise[missing], coins)]
        return noise

    def _refused(self, noise: Ints, coins: Coins) -> NDArray[np.intp]:
        """Return which proposals fall: those for which the coin of some digit shows tails."""
        exponent = (np.abs(noise) - self.sigma) ** 2
        if exponent.size and int(exponent.max()) >> len(self._keeping):
            raise DomainError("a draw that has probability e^-2000 came up; the coins are no coins")
        standing = np.arange(noise.size)
        for digit, bias in enumerate(self._keeping):
            tossed = (exponent[standing] >> digit & 1).nonzero()[0]
            tails = tossed[~bernoulli(bias, tossed.size, coins)]
            standing = np.delete(standing, tails)
        is_refused = np.ones(noise.size, dtype=np.bool_)
        is_refused[standing] = False
        return is_refused.nonzero()[0]
