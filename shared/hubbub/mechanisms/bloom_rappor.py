"""This file holds one-time RAPPOR: a Bloom filter of a text, told bit by noisy bit.

Erlingsson, Pihur, Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response", CCS 2014;
here without the memo, so for one answer, and with the bits of optimized unary encoding: Wang, Blocki, Li,
Jha, "Locally differentially private protocols for frequency estimation", USENIX Security 2017.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub.candidate_bits import CandidateShares, candidate_shares
from hubbub.coins import Coins, SimulationCoins
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.frequencies import Channel, Ints
from hubbub.hashed_bits import HashedBits
from hubbub.laws import Law
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.probability import Real, percent
from hubbub.public_hashes import rows_of_texts
from hubbub.tally import Tally
from hubbub.texts import check_length
from hubbub.unary import UnaryBits


@dataclass(frozen=True, slots=True, init=False)
class BloomRappor:
    """A text of at most ``length`` bytes.

    A report is the number of a cohort in two bytes, little-endian, drawn evenly, then ``bits`` independent
    bits in ``marks`` equal rows. In each row one bit is the text's: it is 1 with
    probability p = 1/2, another with q = 1 / (e^(epsilon / marks) + 1).

    >>> BloomRappor("1.0", 16).layout.itemsize
    18
    """

    kind: ClassVar[str] = "bloom_rappor"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    length: int
    bits: int
    marks: int
    cohorts: int
    _told: HashedBits = field(init=False, repr=False, compare=False)

    def __init__(
        self, epsilon: EpsilonLike, length: int, bits: int = 128, marks: int = 2, cohorts: int = 64
    ) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "length", check_length(length))
        for name, given, least, most in (
            ("bits", bits, 2, 1024),
            ("marks", marks, 1, 8),
            ("cohorts", cohorts, 1, 1024),
        ):
            if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
                raise DomainError(f"{name} must be an integer from {least} to {most}, got {given}")
            object.__setattr__(self, name, given)
        if bits % marks or bits < 2 * marks:
            raise DomainError(f"bits must be at least 2 for each of {marks} marks, and as many, got {bits}")
        channel = Channel(Real(Fraction(1, 2)), 1 / (Real.exp(self.epsilon.exact / marks) + 1))
        told = HashedBits(length, cohorts, marks, UnaryBits(bits // marks, channel))
        object.__setattr__(self, "_told", told)

    @property
    def layout(self) -> "np.dtype[Any]":
        """The bytes of a cohort and its bits."""
        return self._told.layout

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """Return none: the rows of an estimate are the texts that are asked for."""
        return ()

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a cohort and perturb the bits of its hashes."""
        return self._told.perturb(values, coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports have a cohort that exists and no bits beyond the last."""
        return self._told.check(reports)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each cohort, and of those each bit."""
        return self._told.tally(reports)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the hashed bits."""
        return self._told.laws(tally)

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of the hashed bits."""
        return self._told.report_laws(reports)

    def estimate(self, tally: Tally, *, candidates: Sequence[str] = ()) -> CandidateShares:
        """Return the share of each text that is asked for.

        Raises DomainError for one that nobody can hold, and if they can't be told apart.
        """
        symbols = self._told.inputs(rows_of_texts(candidates, self.length))
        first = np.arange(symbols.shape[1]) * self._told.bits.k
        sizes, counts = self._told.counts(tally)
        channel = self._told.bits.channel
        return candidate_shares(
            candidates, list(first + symbols), sizes, counts.reshape(self.cohorts, -1), channel
        )

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports, of texts that share no bits."""
        return self._told.bits.channel.stderr(n * self.marks, frequency)

    def loss(self) -> Loss:
        """Enclose the sum of log p (1 - q) / ((1 - p) q) over all hashes: every row's bit may differ."""
        p, q = self._told.bits.channel.p, self._told.bits.channel.q
        return Loss(*(self.marks * Real.log(p / (1 - p) * ((1 - q) / q))).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return nothing: texts are not numbered."""

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return each text's place in every row, shape (n, cohorts * hashes)."""
        return self._told.inputs(values)

    def outputs(self) -> Reports:
        """Return every report.

        Raises DomainError if they are over 2**20.
        """
        return self._told.outputs()

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return the product over all bits, evenly over the cohorts."""
        return self._told.likelihood(held, report)

    def sentence(self, names: Sequence[str]) -> str:  # noqa: ARG002 - no text is known beforehand
        """Say what is sent of a text."""
        p, q = (percent(chance) for chance in (self._told.bits.channel.p, self._told.bits.channel.q))
        return (
            f"your words set {self.marks} of {self.bits} bits, in one of {self.cohorts:,} ways that is "
            f"drawn; each of these is sent as set with probability {p}, each other one, untrue, with {q}"
        )
