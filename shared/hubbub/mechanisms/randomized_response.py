"""This file holds randomized response: tell the truth with probability p, else name any other category.

Warner, "Randomized response: a survey technique for eliminating evasive answer bias", JASA 1965, for two;
Kairouz, Bonawitz, Ramage, "Discrete distribution estimation under local privacy", ICML 2016, for k.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hubbub.coins import Coins, SimulationCoins, bernoulli, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.frequencies import Channel, Ints, Shares, categories, check_k, share_rows
from hubbub.laws import Law, supports
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.probability import Real, percent
from hubbub.tally import Tally

_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse:
    """One of k categories.

    A report is a category index: one byte up to k = 256, else two, little-endian. p = e^epsilon q, and
    p + (k - 1) q = 1.

    >>> mechanism = RandomizedResponse(epsilon="1.0", k=4)
    >>> mechanism.channel.p, mechanism.channel.q
    (Real(0.4753668864186717), Real(0.17487770452710943))
    """

    kind: ClassVar[str] = "randomized_response"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    k: int
    channel: Channel = field(init=False, repr=False, compare=False)
    _kept: Real = field(init=False, repr=False, compare=False)  # p - q: else any of all k is drawn

    def __init__(self, epsilon: EpsilonLike, k: int) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", check_k(k))
        e = Real.exp(self.epsilon.exact)
        both = Real(0)  # a report names one category
        channel = Channel(p=e / (e + (k - 1)), q=1 / (e + (k - 1)), pq=both, qq=both, size=1)
        object.__setattr__(self, "channel", channel)
        object.__setattr__(self, "_kept", self.channel.p - self.channel.q)

    @property
    def layout(self) -> "np.dtype[Any]":
        """One category index."""
        return np.dtype("<u1" if self.k <= 256 else "<u2")

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category."""
        return share_rows(self.k)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Keep each category with probability p - q, else draw any of all k, which is the same law."""
        held = categories(values, self.k)
        reports = np.empty(held.size, dtype=self.layout)
        for some in slices(held.size, _ROWS):
            size = some.stop - some.start
            reports[some] = integers(self.k, size, coins)
            np.copyto(reports[some], held[some], where=bernoulli(self._kept, size, coins), casting="unsafe")
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are categories."""
        return (reports >= 0) & (reports < self.k)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each category."""
        cells = np.zeros(self.k, dtype=np.int64)
        for some in slices(len(reports), 1 << 20):  # bincount copies each report into 8 bytes
            counts = np.bincount(reports[some], minlength=self.k)
            if counts.size > self.k:
                raise DomainError(f"a report must be from 0 to {self.k - 1}")
            cells += counts
        return Tally(len(reports), cells)

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the support of each category."""
        return [supports(tally.n, tally.cells, self.channel)]

    def estimate(self, tally: Tally) -> Shares:
        """Return the share of each category."""
        return Shares(tally.n, tally.cells, self.channel)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports."""
        return self.channel.stderr(n, frequency)

    def loss(self) -> Loss:
        """Enclose log(p / q): a report names one category, and any two categories may be compared."""
        return Loss(*Real.log(self.channel.p / self.channel.q).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Keep some of each category and scatter the rest evenly over all k, which is the same law."""
        kept = coins.binomial(counts, self._kept)
        scattered = coins.multinomial(int((counts - kept).sum()), np.full(self.k, 1 / self.k))
        return Tally(int(counts.sum()), kept + scattered)

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return the categories."""
        return categories(values, self.k).astype(np.int64)

    def outputs(self) -> Reports:
        """Return every category."""
        return np.arange(self.k).astype(self.layout)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return p for the category held and q for another."""
        return self.channel.p if held == report else self.channel.q

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely each answer is."""
        truth, other = percent(self.channel.p), percent(self.channel.q)
        if self.k == 2:
            return (
                f'if your answer is "{names[1]}", "{names[1]}" is sent with probability {truth} and '
                f'"{names[0]}" with {other}; if it is "{names[0]}", the other way round'
            )
        return (
            f"your answer is sent with probability {truth}, and each of the {self.k - 1} other answers, "
            f"untrue, with {other}"
        )
