"""This file holds padding and sampling: one of a person's picks is told, with all of epsilon.

Wang, Li, Jha, "Locally differentially private frequent itemset mining", IEEE Symposium on Security and
Privacy 2018, after Qin, Yang, Yu, Khalil, Xiao, Ren, CCS 2016.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hubbub import picks, registry
from hubbub.bit_laws import pairs, ticks_in_each
from hubbub.coins import Coins, SimulationCoins
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.frequencies import Channel, Shares, check_k, share_rows
from hubbub.laws import Law, laws_of_reports, supports, within
from hubbub.mechanism import Ints, Loss, Mask, Mechanism, Reports, Values
from hubbub.mechanisms.subset_selection import SubsetSelection
from hubbub.probability import Real
from hubbub.tally import Tally


@dataclass(frozen=True, slots=True, init=False)
class PaddedSampling:
    """Any of k options, of which a person picks ``most`` or fewer.

    A person's picks fill slots, ``most`` of them, and what is left is empty. One slot is drawn, and a
    frequency oracle over the k options and "empty" reports it. So a report supports an option that is picked
    with probability p = q + (p' - q) / most, where p' and q are the oracle's own.

    Of more picks than slots, so many count, drawn at random: a person with s > most picks adds most / s to
    the share of each, so that shares come out too low.

    >>> mechanism = PaddedSampling(epsilon="1.0", k=16, most=2, oracle="optimized_unary")
    >>> mechanism.channel.p, mechanism.channel.q
    (Real(0.384470710684...), Real(0.2689414213699951))
    """

    kind: ClassVar[str] = "padded_sampling"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    k: int
    most: int
    oracle: str
    channel: Channel = field(init=False, repr=False, compare=False)
    _oracle: Mechanism = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, k: int, *, most: int, oracle: str = "optimized_unary") -> None:
        if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= check_k(k):
            raise DomainError(f"most must be an integer from 1 to {k}, got {most}")
        if oracle not in registry.ORACLES:
            raise DomainError(f"oracle must be one of {', '.join(registry.ORACLES)}")
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "most", most)
        object.__setattr__(self, "oracle", oracle)
        made = registry.make(oracle, self.epsilon, k=k + 1)
        _refuse_slack(made, most)
        object.__setattr__(self, "_oracle", made)
        own = self._own
        object.__setattr__(self, "channel", Channel(own.q + (own.p - own.q) / most, own.q))

    @property
    def layout(self) -> "np.dtype[Any]":
        """The oracle's."""
        return self._oracle.layout

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of people who picked each option."""
        return share_rows(self.k)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a slot and let the oracle report what is in it."""
        return self._oracle.perturb(picks.draw(picks.rows_of(values, self.k), self.most, coins), coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports the oracle could have sent."""
        return self._oracle.check(reports)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each option; those that support "empty" tell nothing more."""
        counted = self._oracle.tally(reports)
        return Tally(counted.n, counted.cells[: self.k])

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the support of each option."""
        return [supports(tally.n, tally.cells, self.channel)]

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return the oracle's, since in a report it holds one option or "empty"."""
        if self.oracle != "optimized_unary":
            return within("of one pick or none", laws_of_reports(self._oracle, reports))
        p, q = float(self._own.p), float(self._own.q)
        return [ticks_in_each(reports, self.k + 1, p=p, q=q), pairs(reports, self.k)]

    @property
    def _own(self) -> Channel:
        channel: Channel = self._oracle.channel  # type: ignore[attr-defined]  # every frequency oracle has one
        return channel

    def estimate(self, tally: Tally) -> Shares:
        """Return the share of people who picked each option."""
        return Shares(tally.n, tally.cells, self.channel)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports, the luck of the slot included."""
        return self.channel.stderr(n, frequency)

    def loss(self) -> Loss:
        """Return the oracle's: who picked nothing and who picked ``most`` never share a slot's content."""
        return self._oracle.loss()

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return None: what people picked together is not counted."""

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return the rows of 0 and 1."""
        return picks.rows_of(values, self.k).astype(np.int64)

    def outputs(self) -> Reports:
        """Return every report of the oracle.

        Raises DomainError where they are too many.
        """
        return self._oracle.outputs()

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return the oracle's likelihood, averaged over the slots."""
        chances = picks.slots(np.asarray(held) == 1, self.most)
        return sum(
            (chance * self._oracle.likelihood(slot, report) for slot, chance in chances.items()), Real(0)
        )

    def sentence(self, names: Sequence[str]) -> str:
        """Say what the oracle says about one pick."""
        told = self._oracle.sentence([*names, "none"])
        return f'one of your picks, or "none" in its place, is drawn at random and told like this: {told}'


def _refuse_slack(oracle: Mechanism, most: int) -> None:
    """Refuse subsets of a size that can neither hold nor miss what is in all slots: they waste epsilon.

    Raises DomainError.
    """
    if isinstance(oracle, SubsetSelection) and oracle.k - oracle.omega < most > oracle.omega:
        raise DomainError(
            f"subset_selection with most = {most} wastes epsilon among {oracle.k - 1} options; take another "
            "oracle, or mechanism sampled_option"
        )
