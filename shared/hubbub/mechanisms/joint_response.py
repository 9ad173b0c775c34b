"""This file holds a joint answer: all facts of a record as one category of their product, told by an oracle.

Several facts that are told one by one share epsilon out; one category has all of it, and tells how they go
together. The oracles are those of Wang, Blocki, Li, Jha, USENIX Security 2017.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from hubbub import registry
from hubbub.coins import Coins, SimulationCoins
from hubbub.domain import Domain
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import Quantity
from hubbub.frequencies import Channel
from hubbub.laws import Law, Names, laws_of_reports, laws_of_sums
from hubbub.marginals import Marginals, marginal_variance, table_rows
from hubbub.mechanism import Ints, Loss, Mask, Mechanism, Reports, Values
from hubbub.probability import Real, percent
from hubbub.tally import Tally

MOST_CELLS = 65_536


@dataclass(frozen=True, slots=True, init=False)
class JointResponse:
    """A record of booleans and choices.

    Its cell is the categories in mixed radix, the last attribute's running fastest. A report is that of the
    frequency oracle over all cells, at most 65,536.

    >>> from hubbub.domains.boolean import Boolean
    >>> from hubbub.domains.choice import Choice
    >>> record = (("dark", Boolean()), ("system", Choice(("linux", "mac", "other"))))
    >>> mechanism = JointResponse(epsilon="1.0", attributes=record)
    >>> mechanism.k, mechanism.sizes
    (6, (2, 3))
    """

    kind: ClassVar[str] = "joint_response"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    attributes: tuple[tuple[str, Domain], ...]
    oracle: str
    sizes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _oracle: Mechanism = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        epsilon: EpsilonLike,
        attributes: tuple[tuple[str, Domain], ...],
        *,
        oracle: str = "subset_selection",
    ) -> None:
        numbers = [name for name, domain in attributes if "k" not in domain.arguments]
        if numbers:
            raise DomainError(
                f"a joint answer is of booleans and choices, {numbers[0]} is a number; ask it as a choice of "
                "ranges, or take mechanism sampled_attribute"
            )
        if oracle not in registry.ORACLES:
            raise DomainError(f"oracle must be one of {', '.join(registry.ORACLES)}")
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "attributes", attributes)
        object.__setattr__(self, "oracle", oracle)
        object.__setattr__(self, "sizes", tuple(domain.arguments["k"] for _, domain in attributes))
        if len(attributes) < 2 or self.k > MOST_CELLS:
            raise DomainError(
                f"a joint answer has 2 attributes or more and at most {MOST_CELLS} cells, got {self.k}; "
                "take mechanism sampled_attribute"
            )
        object.__setattr__(self, "_oracle", registry.make(oracle, self.epsilon, k=self.k))

    @property
    def k(self) -> int:
        """The number of cells."""
        return math.prod(self.sizes)

    @property
    def channel(self) -> Channel:
        """The oracle's."""
        channel: Channel = self._oracle.channel  # type: ignore[attr-defined]  # every frequency oracle has one
        return channel

    @property
    def layout(self) -> "np.dtype[Any]":
        """The oracle's."""
        return self._oracle.layout

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The share of each category of each attribute, "1:0" being category 0 of attribute 1; then cells."""
        return table_rows(self.sizes)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Let the oracle report each record's cell."""
        return self._oracle.perturb(self._cells(values), coins)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports the oracle could have sent."""
        return self._oracle.check(reports)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each cell."""
        return self._oracle.tally(reports)

    def laws(self, tally: Tally) -> list[Law]:
        """Return the oracle's, of the cells."""
        return self._of_cells(laws_of_sums(self._oracle, tally))

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return the oracle's."""
        return self._of_cells(laws_of_reports(self._oracle, reports))

    def _of_cells(self, laws: list[Law]) -> list[Law]:
        return [
            replace(law, names=partial(self._cell_names, law.names)) if law.are_rows else law for law in laws
        ]

    def _cell_names(self, names: Names, place: int) -> Sequence[str]:
        cells = (np.unravel_index(int(name), self.sizes) for name in names(place))
        return [",".join(f"{at}:{category}" for at, category in enumerate(cell)) for cell in cells]

    def estimate(self, tally: Tally) -> Marginals:
        """Return the share of each category of each attribute, and of the cells."""
        joint = self._oracle.estimate(tally)
        return Marginals(joint, self.sizes)  # type: ignore[arg-type]  # an oracle's estimate is of shares

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the largest standard error of an attribute's share to expect of n reports."""
        if n < 1:
            raise TooFewReportsError(n, 1, "a share")
        if not 0 <= frequency <= 1:
            raise DomainError(f"a frequency must be from 0 to 1, got {frequency}")
        return math.sqrt(marginal_variance(self.channel, self.k, self.sizes, frequency) / n)

    def loss(self) -> Loss:
        """Return the oracle's."""
        return self._oracle.loss()

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return None: records are not numbered where populations are counted."""

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Return the cells."""
        return self._oracle.inputs(self._cells(values), coins)

    def outputs(self) -> Reports:
        """Return every report of the oracle.

        Raises DomainError where they are too many.
        """
        return self._oracle.outputs()

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return the oracle's."""
        return self._oracle.likelihood(held, report)

    def sentence(self, names: Sequence[str]) -> str:
        """Say that the facts are one answer, and how likely the true one is named."""
        last = (
            f"{name} = {domain.names[-1]}" for name, (_, domain) in zip(names, self.attributes, strict=True)
        )
        p, q = percent(self.channel.p), percent(self.channel.q)
        return (
            f'your facts together are one answer of {self.k}, such as "{", ".join(last)}"; yours is among '
            f"those sent with probability {p}, each other one, untrue, with {q}"
        )

    def _cells(self, values: Values) -> Ints:
        records = np.asarray(values)
        if records.ndim != 2 or records.shape[1] != len(self.sizes) or records.dtype.kind not in "iu":
            raise DomainError(f"records must be rows of {len(self.sizes)} integers")
        if records.size and not ((records >= 0) & (records < np.array(self.sizes))).all():
            raise DomainError("a category must be from 0 to one below its attribute's number of them")
        cells: Ints = np.ravel_multi_index(tuple(records.T), self.sizes).astype(np.int64)
        return cells
