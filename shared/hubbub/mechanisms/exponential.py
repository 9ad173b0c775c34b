"""This file holds the exponential mechanism: a device picks one of k options, likelier the more useful it is.

McSherry, Talwar, "Mechanism design via differential privacy", FOCS 2007. Of all utilities from 0 to 1 the
worst case is known, so that the exponent is solved for, where the general proof takes epsilon / 2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import CHUNK, Coins, SimulationCoins, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import About, Floats, Quantity
from hubbub.frequencies import Channel, Shares, check_k, share_rows
from hubbub.laws import Law, counted
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.probability import Real, percent
from hubbub.reach import Reach
from hubbub.tally import Tally

_TOTAL = 59  # the weights of all options add up to less than 2**60


@dataclass(frozen=True, slots=True, init=False)
class Exponential:
    """One of k options by a person's own utilities, rounded to i / steps.

    An option is picked with probability weights[i] / (the sum of all options' weights): integers in
    proportion to x^(i / steps), rounded up. So an option's chance is at least 1 / (1 + (k - 1) x) and at most
    x / (x + k - 1), and x makes the ratio of the two e^epsilon: it is e^epsilon for k = 2 and nears
    e^(epsilon / 2) for many options. A report is the option picked: one byte up to k = 256, else two,
    little-endian.

    >>> mechanism = Exponential(epsilon="1.0", k=4)
    >>> round(math.log(mechanism.weights[-1] / mechanism.weights[0]), 6)
    0.672837
    """

    kind: ClassVar[str] = "exponential"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    k: int
    steps: int
    weights: tuple[int, ...] = field(init=False, repr=False, compare=False)  # shape (steps + 1,), rising

    def __init__(self, epsilon: EpsilonLike, k: int, *, steps: int = 16) -> None:
        if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= 256:
            raise DomainError(f"steps must be an integer from 1 to 256, got {steps}")
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", check_k(k))
        object.__setattr__(self, "steps", steps)
        bits = _TOTAL - (k - 1).bit_length()
        slope = Real.log(_growth(self.epsilon, k)) / steps
        rising = [Real.exp(-below * slope).leading(bits) + 1 for below in range(steps, 0, -1)]
        object.__setattr__(self, "weights", (*rising, 1 << bits))

    @property
    def layout(self) -> "np.dtype[Any]":
        """The option picked."""
        return np.dtype("<u1" if self.k <= 256 else "<u2")

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of devices that pick each option."""
        return share_rows(self.k)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Pick an option for each row of utilities."""
        reports = np.empty(len(values), dtype=self.layout)
        weights = np.array(self.weights)
        for some in slices(len(values), max(1, CHUNK // (8 * self.k))):
            bounds = np.cumsum(weights[self.inputs(values[some], coins)], axis=1)
            reports[some] = (bounds <= _below(bounds[:, -1], coins)[:, None]).sum(axis=1)
        return reports

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - rounding draws nothing
        """Clamp utilities to 0 and 1 and round each to the nearest step.

        Raises DomainError for what is no finite number, naming no value.
        """
        utilities = np.asarray(values)
        if utilities.ndim != 2 or utilities.shape[1] != self.k or utilities.dtype.kind not in "iuf":
            raise DomainError(f"utilities must be rows of {self.k} numbers")
        if not np.isfinite(utilities).all():
            raise DomainError("utilities must be finite numbers")
        clamped = np.minimum(np.maximum(utilities, 0.0), 1.0)
        nearest: Ints = np.floor(clamped * self.steps + 0.5).astype(np.int64)
        return nearest

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are options."""
        return (reports >= 0) & (reports < self.k)

    def tally(self, reports: Reports) -> Tally:
        """Count the picks of each option."""
        cells = np.bincount(reports, minlength=self.k)
        if cells.size > self.k:
            raise DomainError(f"a report must be from 0 to {self.k - 1}")
        return Tally(len(reports), cells)

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the picks of each option."""
        low, high = self.weights[0], self.weights[-1]
        chances = low / (low + (self.k - 1) * high), high / (high + (self.k - 1) * low)
        return [counted("picks of {}", tally.cells, tally.n, *chances, are_rows=True)]

    def estimate(self, tally: Tally) -> "Picks":
        """Return the share of devices that pick each option; of utilities it tells nothing."""
        return Picks(Shares(tally.n, tally.cells, Channel(Real(1), Real(0))))

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share of picks to expect of n reports, at most."""
        if n < 1:
            raise TooFewReportsError(n, 1, "a share")
        if not 0 <= frequency <= 1:
            raise DomainError(f"a frequency must be from 0 to 1, got {frequency}")
        return math.sqrt(frequency * (1 - frequency) / n)

    def loss(self) -> Loss:
        """Enclose the log of the largest chance of an option, all others useless, over the smallest."""
        low, high = self.weights[0], self.weights[-1]
        likeliest = Fraction(high, high + (self.k - 1) * low)
        least = Fraction(low, low + (self.k - 1) * high)
        return Loss(*Real.log(likeliest / least).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return None: rows of utilities are not numbered."""

    def outputs(self) -> Reports:
        """Return every option."""
        return np.arange(self.k).astype(self.layout)

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return the option's weight over the sum of all."""
        weights = [self.weights[step] for step in held]
        return Real(Fraction(weights[int(report)], sum(weights)))

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely each option is, at best and at worst."""
        low, high = self.weights[0], self.weights[-1]
        least, most = (
            Real(Fraction(one, one + (self.k - 1) * rest)) for one, rest in ((low, high), (high, low))
        )
        return (
            f"one of {len(names)} options is picked at random and sent, likelier the more useful it is to "
            f"you: each has a probability from {percent(least)} to {percent(most)}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Picks:
    """The share of devices that pick each option.

    Who would pick what is drawn anew by each device, so that about the respondents the error is at most that
    about the population: less by the spread of their chances, which nothing tells.
    """

    shares: Shares

    @property
    def n(self) -> int:
        """How many reports it is made of."""
        return self.shares.n

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of picks of each option."""
        return self.shares.rows

    @property
    def values(self) -> Floats:
        """The shares, shape (k,): unbiased for the mean chance of the respondents to pick each option."""
        return self.shares.values

    def reach(self) -> Reach:
        """Return that of shares."""
        return self.shares.reach()

    def stderr(self, about: About) -> Floats:  # noqa: ARG002 - at most the same
        """Return standard errors, shape (k,)."""
        return self.shares.stderr("population")

    def interval(self, level: float, about: About) -> Floats:  # noqa: ARG002 - at most the same
        """Return confidence intervals, shape (k, 2)."""
        return self.shares.interval(level, "population")


def _growth(epsilon: Epsilon, k: int) -> Real:
    """Solve x (1 + (k - 1) x) = e^epsilon (x + k - 1): the root of (k-1) x^2 - (e-1) x - (k-1) e."""
    e, others = Real.exp(epsilon.exact), k - 1
    root = Real.exp(Real.log((e - 1) ** 2 + 4 * e * others**2) / 2)
    return (e - 1 + root) / (2 * others)


def _below(totals: NDArray[np.int64], coins: Coins) -> NDArray[np.int64]:
    """Draw a uniform integer below each total, exactly; under one word in 16 is drawn again."""
    limits = totals.astype(np.uint64)
    words = coins.words(8 * limits.size).view("<u8")
    # the words from the last whole multiple of a total on would make some integers likelier
    last = np.uint64(2**64 - 1) - (np.uint64(2**64 - 1) % limits + np.uint64(1)) % limits
    drawn = words % limits
    refused = (words > last).nonzero()[0]
    while refused.size:
        words = coins.words(8 * refused.size).view("<u8")
        drawn[refused] = words % limits[refused]
        refused = refused[words > last[refused]]
    return drawn.astype(np.int64)
