"""This file says what a mechanism is: one frozen object that holds all that depends on its parameters.

Read this first. A device calls ``perturb``; a collector calls ``check``, ``tally`` and ``estimate``; a plan
calls ``stderr``; an audit compares ``loss`` with the claim. Adding a mechanism takes one file in
``mechanisms/`` and one line in ``registry.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import Coins, SimulationCoins
from hubbub.epsilon import Epsilon
from hubbub.estimate import Estimate, Quantity
from hubbub.probability import Real
from hubbub.tally import Tally

Values = NDArray[Any]  # one row a value as its domain encodes it: shape (n,), or (n, width)
Reports = NDArray[Any]  # shape (n,) or (n, width): little-endian integers; their bytes are the wire form
Mask = NDArray[np.bool_]  # shape (n,)
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Loss:
    """The worst-case privacy loss of one report, enclosed.

    lower, upper: bounds of epsilon, less than 1e-30 apart. delta: 0 for a pure mechanism.
    """

    lower: Fraction
    upper: Fraction
    delta: Fraction = Fraction(0)


class Mechanism(Protocol):
    """A randomizer with its decoder, its error and its proof."""

    kind: ClassVar[str]  # name on the wire and in the registry
    exact: ClassVar[bool]  # every probability is exact; False is refused by the default policy
    unbiased: ClassVar[bool]

    @property
    def epsilon(self) -> Epsilon:
        """The claim: what one report costs."""
        ...

    @property
    def layout(self) -> "np.dtype[Any]":
        """The numpy type of one report, little-endian; its itemsize is the width on the wire."""
        ...

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """What an estimate has rows for; none where that depends on what the collector asks."""
        ...

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Randomize values: the only method that sees a true value, and nothing else may leave."""
        ...

    def check(self, reports: Reports) -> Mask:
        """Tell which reports an honest device could have sent."""
        ...

    def tally(self, reports: Reports) -> Tally:
        """Add checked reports up into the additive statistic that an estimate needs."""
        ...

    def estimate(self, tally: Tally) -> Estimate:
        """Turn a tally into values with standard errors.

        Raises TooFewReportsError without reports.
        """
        ...

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error about the respondents to expect of n reports.

        frequency: the true share of the category in question. A mechanism for numbers ignores it and plans
        for the value in its range that is worst.
        """
        ...

    def loss(self) -> Loss:
        """Enclose the worst-case privacy loss of one report, computed from the probabilities in use."""
        ...

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally | None:
        """Draw everybody's tally at once, exact in joint law; None where no such law is implemented.

        counts: how many people hold each input, shape (number of inputs,), where inputs are numbered.
        """
        ...

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Map values to inputs, rounding included, which ``likelihood`` speaks of.

        An input is an index, which ``simulate`` counts, or a row of them.
        """
        ...

    def outputs(self) -> Reports:
        """List every report an honest device can send.

        Raises DomainError where there are over 2**20 of them.
        """
        ...

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return the probability that a holder of an input sends a report.

        held: what ``inputs`` returns of one value.
        """
        ...

    def sentence(self, names: Sequence[str]) -> str:
        """Say in one true sentence, for the owner of a device, what is sent and how likely.

        names: of the metric's domain.
        """
        ...
