"""This file holds sampling of an attribute: one fact of a record is drawn in public and has all of epsilon.

Nguyen, Xiao, Yang, Hui, Shin, Shin, "Collecting and analyzing data from smart device users with local
differential privacy", arXiv 1606.05053, 2016; called SMP by Arcolezi, Couchot, Al Bouna, Xiao, "Random
sampling plus fake data", CIKM 2021.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub import registry
from hubbub.coins import Coins, SimulationCoins, integers
from hubbub.domain import Domain
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.laws import Law, evenly, laws_of_reports, laws_of_sums, within
from hubbub.mechanism import Ints, Loss, Mask, Mechanism, Reports, Values
from hubbub.parts import Part, Parts
from hubbub.probability import Real, percent
from hubbub.tally import Tally

_DEFAULTS = registry.DEFAULTS[1]  # of format 1, for ever


@dataclass(frozen=True, slots=True, init=False)
class SampledAttribute:
    """A record of attributes, each told by the mechanism that its kind has by default.

    An attribute is drawn, each with the same chance, whatever the record says. A report is its number, one
    byte, and the bytes of its own report, zeros after them up to the longest of all attributes.

    >>> from hubbub.domains.boolean import Boolean
    >>> from hubbub.domains.choice import Choice
    >>> record = (("dark", Boolean()), ("system", Choice(("linux", "mac", "other"))))
    >>> mechanism = SampledAttribute(epsilon="1.0", attributes=record)
    >>> mechanism.layout.itemsize, round(mechanism.stderr(100), 6)
    (2, 0.158705)
    """

    kind: ClassVar[str] = "sampled_attribute"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    attributes: tuple[tuple[str, Domain], ...]
    _each: tuple[Mechanism, ...] = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, attributes: tuple[tuple[str, Domain], ...]) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "attributes", attributes)
        if not 2 <= len(attributes) <= 256:
            raise DomainError(f"attributes must be 2 to 256, got {len(attributes)}")
        each = (
            registry.make(_DEFAULTS[domain.kind], self.epsilon, **domain.arguments)
            for _, domain in attributes
        )
        object.__setattr__(self, "_each", tuple(each))

    @property
    def layout(self) -> "np.dtype[Any]":
        """One byte and the longest report of an attribute."""
        return np.dtype(("u1", (1 + max(each.layout.itemsize for each in self._each),)))

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The rows of each attribute: "1:0" is row 0 of attribute 1."""
        return tuple(row for at in range(len(self._each)) for row in self._rows(at))

    def _rows(self, at: int) -> tuple[Quantity, ...]:
        return tuple(Quantity(f"{at}:{row.name}", row.unit) for row in self._each[at].rows)

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw an attribute for each record and report what it says about that."""
        records = self._records(values)
        drawn = integers(len(self._each), len(records), coins)
        reports = np.zeros(len(records), dtype=self.layout)
        reports[:, 0] = drawn
        for at, each in enumerate(self._each):
            asked = drawn == at
            own = each.perturb(self._column(records[asked], at), coins)
            reports[asked, 1 : 1 + each.layout.itemsize] = _as_bytes(own, each)
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are about an attribute that could be told so, and have zeros after it."""
        is_possible = np.zeros(len(reports), dtype=np.bool_)
        for at, asked in self._asked(reports):
            end = 1 + self._each[at].layout.itemsize
            own = self._each[at].check(self._own(reports[asked], at))
            is_possible[asked] = own & ~reports[asked, end:].any(axis=1)
        return is_possible

    def tally(self, reports: Reports) -> Tally:
        """Count the reports about each attribute, each count before the cells of that attribute's tally."""
        tallies = [self._each[at].tally(self._own(reports[asked], at)) for at, asked in self._asked(reports)]
        if sum(tally.n for tally in tallies) < len(reports):
            raise DomainError(f"a report must be about one of {len(self._each)} attributes")
        return Tally(len(reports), np.concatenate([[tally.n, *tally.cells] for tally in tallies]))

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the attributes drawn, evenly, and of each attribute's own mechanism."""
        parts = list(self._parts(tally))
        found = [evenly("reports about fact {}", [own.n for own in parts], tally.n)]
        for at, (each, own) in enumerate(zip(self._each, parts, strict=True)):
            found += within(f"about fact {at}", laws_of_sums(each, own), f"{at}:")
        return found

    def report_laws(self, reports: Reports) -> list[Law]:
        """Return those of each attribute's own mechanism."""
        found = []
        for at, asked in self._asked(reports):
            laws = laws_of_reports(self._each[at], self._own(reports[asked], at))
            found += within(f"about fact {at}", laws, f"{at}:")
        return found

    def estimate(self, tally: Tally) -> Parts:
        """Return the estimate of each attribute, from those who were asked about it."""
        told = enumerate(zip(self._each, self._parts(tally), strict=True))
        parts = [Part(self._rows(at), each.estimate(own) if own.n else None) for at, (each, own) in told]
        return Parts(tally.n, parts)

    def _parts(self, tally: Tally) -> Iterator[Tally]:
        """Go through the tallies of the attributes."""
        start = 0
        for each in self._each:
            end = start + 1 + each.tally(np.zeros(0, dtype=each.layout)).cells.size
            yield Tally(int(tally.cells[start]), tally.cells[start + 1 : end])
            start = end

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the largest standard error of an attribute to expect of n reports.

        Of a share, or of a mean as a part of its range, for numbers that lie at the ends, half at each.
        """
        return max(self._stderr(at, n, frequency) for at in range(len(self._each)))

    def _stderr(self, at: int, n: int, frequency: float) -> float:
        domain, each, fold = self.attributes[at][1], self._each[at], len(self._each)
        is_number = domain.kind == "number"
        width = float(domain.arguments["high"] - domain.arguments["low"]) if is_number else 1.0
        own = 0.25 if is_number else frequency * (1 - frequency)
        noise = (each.stderr(n, frequency=frequency) / width) ** 2
        return math.sqrt(fold * noise + (fold - 1) * own / n)

    def loss(self) -> Loss:
        """Return the largest of an attribute: the one drawn tells nothing, and each may differ."""
        losses = [each.loss() for each in self._each]
        return Loss(max(loss.lower for loss in losses), max(loss.upper for loss in losses))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return None: whole records are not counted."""

    def inputs(self, values: Values, coins: Coins) -> Ints:
        """Return the inputs of all attributes."""
        records = self._records(values)
        columns = [each.inputs(self._column(records, at), coins) for at, each in enumerate(self._each)]
        return np.stack(columns, axis=1)

    def outputs(self) -> Reports:
        """Return every report of every attribute.

        Raises DomainError where they are too many.
        """
        listed = []
        for at, each in enumerate(self._each):
            own = each.outputs()
            rows = np.zeros(len(own), dtype=self.layout)
            rows[:, 0], rows[:, 1 : 1 + each.layout.itemsize] = at, _as_bytes(own, each)
            listed.append(rows)
        return np.concatenate(listed)

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return the chance of the attribute times that of its own report."""
        at = int(report[0])
        return self._each[at].likelihood(held[at], self._own(report[None], at)[0]) / len(self._each)

    def sentence(self, names: Sequence[str]) -> str:
        """Say what is drawn, and what each attribute says of itself."""
        chance = percent(Real(1) / len(self._each))
        told = (
            f'for "{name}", {each.sentence(domain.names)}'
            for name, (_, domain), each in zip(names, self.attributes, self._each, strict=True)
        )
        return (
            f"one of {len(names)} facts is drawn, each with probability {chance}, and only that one is told: "
            f"{'; '.join(told)}"
        )

    def _records(self, values: Values) -> NDArray[Any]:
        records = np.asarray(values)
        if records.ndim != 2 or records.shape[1] != len(self._each) or records.dtype.kind not in "iuf":
            raise DomainError(f"records must be rows of {len(self._each)} numbers")
        return records

    def _column(self, records: NDArray[Any], at: int) -> Values:
        """Return one attribute as its mechanism takes it: beside a number, category indices are floats."""
        column = records[:, at]
        if self.attributes[at][1].kind == "number":
            return column
        whole = column.astype(np.int64)
        if (whole != column).any():
            raise DomainError("a category must be an integer")
        return whole

    def _asked(self, reports: Reports) -> Iterator[tuple[int, Mask]]:
        return ((at, reports[:, 0] == at) for at in range(len(self._each)))

    def _own(self, reports: Reports, at: int) -> Reports:
        """Cut an attribute's own reports out of reports about it."""
        layout = self._each[at].layout
        own = np.ascontiguousarray(reports[:, 1 : 1 + layout.itemsize])
        return np.frombuffer(own.tobytes(), dtype=layout)


def _as_bytes(reports: Reports, mechanism: Mechanism) -> NDArray[np.uint8]:
    data = np.frombuffer(reports.astype(mechanism.layout.base, copy=False).tobytes(), dtype=np.uint8)
    return data.reshape(len(reports), mechanism.layout.itemsize)
