"""This file holds sampling of an option: one of k is drawn in public, and told by randomized response.

Sampling and spending all of epsilon on one answer is how Nguyen, Xiao, Yang, Hui, Shin, Shin, "Collecting and
analyzing data from smart device users with local differential privacy", arXiv 1606.05053, 2016, ask for many
facts; the answer is that of Warner, JASA 1965.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import CHUNK, Coins, SimulationCoins, bernoulli, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.frequencies import Channel, Shares, check_k, share_rows
from hubbub.laws import Law, counted
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.parts import Part, Parts
from hubbub.picks import rows_of
from hubbub.probability import Real, percent
from hubbub.tally import Tally


@dataclass(frozen=True, slots=True, init=False)
class SampledOption:
    """Any of k options, however many a person picks.

    An option v is drawn, each with the same chance, whatever is picked. A report is 2 v + answer: one byte up
    to k = 128, else two, little-endian. The answer, 1 for picked, is true with probability p.

    >>> mechanism = SampledOption(epsilon="1.0", k=16)
    >>> mechanism.channel.p, mechanism.channel.q
    (Real(0.7310585786300049), Real(0.2689414213699951))
    """

    kind: ClassVar[str] = "sampled_option"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    k: int
    channel: Channel = field(init=False, repr=False, compare=False)  # of one option's answers

    def __init__(self, epsilon: EpsilonLike, k: int, *, most: int = 0) -> None:  # noqa: ARG002 - of any length
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", check_k(k))
        e = Real.exp(self.epsilon.exact)
        object.__setattr__(self, "channel", Channel(p=e / (e + 1), q=1 / (e + 1)))

    @property
    def layout(self) -> "np.dtype[Any]":
        """An option and an answer in one integer."""
        return np.dtype("<u1" if 2 * self.k <= 256 else "<u2" if 2 * self.k <= 65_536 else "<u4")

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of people who picked each option."""
        return share_rows(self.k)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw an option and tell the truth about it with probability p."""
        picked = rows_of(values, self.k)
        reports = np.empty(len(picked), dtype=self.layout)
        for some in slices(len(picked), CHUNK // 8):
            size = some.stop - some.start
            options = integers(self.k, size, coins).astype(np.int64)
            is_true = bernoulli(self.channel.p, size, coins)
            reports[some] = 2 * options + (picked[some][np.arange(size), options] == is_true)
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are about an option."""
        return (reports >= 0) & (reports < 2 * self.k)

    def tally(self, reports: Reports) -> Tally:
        """Count the noes and the yesses about each option, shape (2 k,)."""
        cells = np.zeros(2 * self.k, dtype=np.int64)
        for some in slices(len(reports), 1 << 20):
            counts = np.bincount(reports[some], minlength=2 * self.k)
            if counts.size > 2 * self.k:
                raise DomainError(f"a report must be from 0 to {2 * self.k - 1}")
            cells += counts
        return Tally(len(reports), cells)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the options asked about, drawn evenly, and of the answers about each."""
        no, yes = tally.cells.reshape(-1, 2).T
        part, lie, truth = 1 / self.k, float(self.channel.q), float(self.channel.p)
        return [
            counted("reports about {}", no + yes, tally.n, part, part, are_rows=True),
            counted("reports that affirm {}", yes, no + yes, lie, truth, are_rows=True),
        ]

    def estimate(self, tally: Tally) -> Parts:
        """Return the share of people who picked each option, from those who were asked about it."""
        asked = zip(self.rows, tally.cells.reshape(-1, 2).tolist(), strict=True)
        return Parts(tally.n, [Part((row,), self._share(no, yes)) for row, (no, yes) in asked])

    def _share(self, no: int, yes: int) -> Shares | None:
        return Shares(no + yes, np.array([yes]), self.channel) if no + yes else None

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports, of which one in k is about it."""
        noise, own = self.channel.stderr(n, frequency) ** 2, frequency * (1 - frequency) / n
        return math.sqrt(self.k * noise + (self.k - 1) * own)

    def loss(self) -> Loss:
        """Enclose log(p / q): the option drawn tells nothing, and two people may differ in its answer."""
        return Loss(*Real.log(self.channel.p / self.channel.q).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return None: what people picked together is not counted."""

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return the rows of 0 and 1."""
        return rows_of(values, self.k).astype(np.int64)

    def outputs(self) -> Reports:
        """Return every option with either answer."""
        return np.arange(2 * self.k).astype(self.layout)

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return the chance of the option times that of the answer."""
        option, answer = divmod(int(report), 2)
        return (self.channel.p if held[option] == answer else self.channel.q) / self.k

    def sentence(self, names: Sequence[str]) -> str:
        """Say what is drawn and how likely the answer is."""
        truth, other = percent(self.channel.p), percent(self.channel.q)
        return (
            f"one of the {len(names)} options is drawn, whatever you picked, and whether you picked it is "
            f"sent truly with probability {truth} and falsely with {other}"
        )
