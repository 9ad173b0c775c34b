"""This file holds the count-mean sketch: a public hash of a text, told by one noisy bit a symbol.

Apple's Differential Privacy Team, "Learning with privacy at scale", Apple Machine Learning Journal 2017; the
bits are those of optimized unary encoding: Wang, Blocki, Li, Jha, "Locally differentially private protocols
for frequency estimation", USENIX Security 2017.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.estimate import Quantity
from hubbub.frequencies import Channel, Ints
from hubbub.hashed_bits import HashedBits
from hubbub.laws import Law
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.probability import Real, percent
from hubbub.public_hashes import check_sketch, rows_of_texts
from hubbub.sketch import Sketch, TextShares, channel
from hubbub.tally import Tally
from hubbub.texts import check_length
from hubbub.unary import UnaryBits


@dataclass(frozen=True, slots=True, init=False)
class CountMeanSketch:
    """A text of at most ``length`` bytes.

    A report is the number of a hash in two bytes, little-endian, drawn evenly, then ``width`` independent
    bits: that of the text's symbol is 1 with probability p = 1/2, another with q = 1/(e^epsilon + 1). As many
    hashes as there are by default let a collector keep their sums.

    >>> CountMeanSketch("1.0", 16).layout.itemsize
    34
    """

    kind: ClassVar[str] = "count_mean_sketch"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    length: int
    hashes: int
    width: int
    _bits: HashedBits = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, length: int, hashes: int = 255, width: int = 256) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "length", check_length(length))
        check_sketch(hashes, width)
        object.__setattr__(self, "hashes", hashes)
        object.__setattr__(self, "width", width)
        told = Channel(Real(Fraction(1, 2)), 1 / (Real.exp(self.epsilon.exact) + 1))
        object.__setattr__(self, "_bits", HashedBits(length, hashes, 1, UnaryBits(width, told)))

    @property
    def layout(self) -> "np.dtype[Any]":
        """The bytes of a hash's number and its bits."""
        return self._bits.layout

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """Return none: the rows of an estimate are the texts that are asked for."""
        return ()

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a hash and perturb the bits of its symbols."""
        return self._bits.perturb(values, coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports have a hash that exists and no bits beyond the last symbol."""
        return self._bits.check(reports)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each hash, and of those each bit."""
        return self._bits.tally(reports)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the hashed bits."""
        return self._bits.laws(tally)

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of the hashed bits."""
        return self._bits.report_laws(reports)

    def estimate(self, tally: Tally, *, candidates: Sequence[str] = ()) -> TextShares:
        """Return the share of each text that is asked for.

        Raises DomainError for one that nobody can hold.
        """
        texts = rows_of_texts(candidates, self.length)
        sizes, counts = self._bits.counts(tally)
        told = self._bits.bits.channel
        return Sketch(sizes, counts[:, 0], told.p, told.q).shares(candidates, texts)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports, but for the collisions of hashes."""
        told = self._bits.bits.channel
        return channel(told.p, told.q, self.width).stderr(n, frequency)

    def loss(self) -> Loss:
        """Enclose the log of p (1 - q) / ((1 - p) q): the bits of two symbols may differ in law."""
        return self._bits.bits.loss()

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return nothing: texts are not numbered."""

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return each text's symbol in every hash, shape (n, hashes)."""
        return self._bits.inputs(values)

    def outputs(self) -> Reports:
        """Return every report.

        Raises DomainError if they are over 2**20.
        """
        return self._bits.outputs()

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return the product over all bits, evenly over the hashes."""
        return self._bits.likelihood(held, report)

    def sentence(self, names: Sequence[str]) -> str:  # noqa: ARG002 - no text is known beforehand
        """Say what is sent of a text."""
        p, q = (percent(chance) for chance in (self._bits.bits.channel.p, self._bits.bits.channel.q))
        return (
            f"your words are sorted into one of {self.width:,} boxes, in one of {self.hashes:,} ways that is "
            f"drawn; any number of boxes are sent as ticked: yours with probability {p}, each other one, "
            f"untrue, with {q}"
        )
