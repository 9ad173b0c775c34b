"""This file holds a channel for numbers that is written as a table of whole numbers, and checks it as such.

The chance of a report is its weight out of 2^40. Nothing is taken on trust: a table that does not keep every
promise, compared in integers, is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from hubbub.errors import DomainError
from hubbub.probability import Real

TOTAL = 1 << 40
MOST_REPORTS = 256
_BITS = 64  # of e^epsilon, rounded down

# a number times the unit; the weight of a report of it from most points, and from others; a letter a point,
# L, H or "." for yet another weight; these, in the order of the points
Column = tuple[int, int, int, str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class WeightTable:
    """The weight of each report at each point of a grid, which is taken for that from -1 to 1.

    numbers: what each report stands for, times ``unit``. weights: shape (points, reports).
    """

    epsilon: Fraction
    unit: int
    numbers: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Check every promise, each given the ones before it.

        Raises DomainError if one is broken.
        """
        rows, numbers, e = self.weights, self.numbers, Real.exp(self.epsilon).leading(_BITS)
        steps, mirrored = len(rows) - 1, [row[::-1] for row in reversed(rows)]
        means = [sum(map(int.__mul__, row, numbers)) for row in rows]
        self._require(steps >= 1 and self.unit >= 1 and 2 <= len(numbers) <= MOST_REPORTS, "its size is off")
        self._require({len(row) for row in rows} == {len(numbers)}, "a weight is missing")
        self._require(min(map(min, rows)) > 0, "a report has no weight")
        self._require(all(sum(row) == TOTAL for row in rows), "the chances of a point do not add up to 1")
        self._require(all(low < high for low, high in pairwise(numbers)), "its numbers do not rise")
        self._require(numbers == tuple(-number for number in reversed(numbers)), "its numbers are lopsided")
        self._require(list(rows) == mirrored, "its weights are lopsided")
        self._require(
            all(steps * mean == TOTAL * self.unit * (2 * i - steps) for i, mean in enumerate(means)),
            "a mean is biased",
        )
        self._require(
            all(max(column) << _BITS <= e * min(column) for column in zip(*rows, strict=True)),
            "a report tells more than epsilon",
        )

    def _require(self, holds: bool, problem: str) -> None:  # noqa: FBT001 - it is the fact itself
        if not holds:
            raise DomainError(f"the table for epsilon {float(self.epsilon):g} is refused: {problem}")

    @classmethod
    def of_columns(cls, epsilon: Fraction, unit: int, columns: Sequence[Column]) -> "WeightTable":
        """Read the reports of negative numbers, and of 0 if it is one; the others are their mirror images."""
        numbers, read = [], []
        for number, low, high, letters, others in columns:
            rest = iter(others)
            numbers.append(number)
            read.append([{"L": low, "H": high}.get(letter) or next(rest) for letter in letters])
        mirrored = slice(-2 if numbers[-1] == 0 else -1, None, -1)
        numbers += [-number for number in numbers[mirrored]]
        read += [column[::-1] for column in read[mirrored]]
        return cls(epsilon, unit, tuple(numbers), tuple(zip(*read, strict=True)))
