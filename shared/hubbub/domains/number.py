"""This file holds the domain of a question for a number in a range."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar

from hubbub.domain import Read
from hubbub.domains.plain import PLAIN, article, decimal, plain_decimal
from hubbub.errors import DomainError


@dataclass(frozen=True, slots=True)
class Number:
    """A number; what lies outside the range counts as the nearer end.

    >>> Number(Decimal(0), Decimal(10)).encode(2.5)
    2.5
    """

    kind: ClassVar[str] = "number"

    low: Decimal
    high: Decimal

    def __post_init__(self) -> None:
        if not (self.low.is_finite() and self.high.is_finite()):
            raise DomainError("range must have finite ends")
        if not self.low < self.high:
            raise DomainError(f"range must rise from low to high, got [{self.low}, {self.high}]")
        if not _floats_can_hold(self.low, self.high) or not all(map(PLAIN.fullmatch, self.names)):
            raise DomainError(
                "range must suit double precision: ends of at most 1e30 and 40 decimals, the larger at least "
                "1e-30, and a width of at least 1e-9 of it"
            )

    @classmethod
    def read(cls, read: Read) -> "Number":
        """Make one from a metric's table."""
        return read("range", cls.parse, example="range = [0, 10]")

    @classmethod
    def parse(cls, ends: object) -> "Number":
        """Read a range from a pair of integers, decimal strings or Decimals.

        Raises DomainError for anything else. A float is taken as the decimal it prints.
        """
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            raise DomainError("range must be a pair [low, high]")
        return cls(decimal(ends[0]), decimal(ends[1]))

    @property
    def names(self) -> tuple[str, ...]:
        """The categories in order, or the ends of the range."""
        return (plain_decimal(self.low), plain_decimal(self.high))

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What a mechanism's constructor is told about the domain."""
        return {"low": self.low, "high": self.high}

    @property
    def canonical(self) -> dict[str, Any]:
        """The part of the metric's canonical definition that this domain is."""
        return {"kind": self.kind, "range": list(self.names)}

    def encode(self, value: object) -> float:
        """Return the number as a float, not yet clamped.

        Raises DomainError if value is not a finite number.
        """
        if isinstance(value, bool) or not isinstance(value, Real | Decimal):
            raise DomainError(f"value must be a number, got {article(value)}")
        try:
            number = float(value)
        except (OverflowError, ValueError):
            number = math.inf
        if not math.isfinite(number):
            raise DomainError("value must be a finite number")
        return number

    def plain(self, value: object) -> str:
        """Return a value that belongs to the domain in its canonical form, text, which is read back too."""
        return plain_decimal(min(max(decimal(value), self.low), self.high))

    def every(self) -> list[float]:
        """Raise DomainError: numbers are too many to list."""
        raise DomainError("the numbers of a range are too many to list")

    def title(self, row: str) -> str:
        """Return the row as it is: an estimate of numbers names its rows itself."""
        return row


def _floats_can_hold(low: Decimal, high: Decimal) -> bool:
    largest = max(abs(low), abs(high))
    return Decimal("1e-30") <= largest <= Decimal("1e30") and high - low >= largest * Decimal("1e-9")
