"""This file holds the domain of a question for a vector of bounded length, such as a gradient."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar

from hubbub.domain import Read
from hubbub.domains.plain import article, decimal, plain_decimal
from hubbub.errors import DomainError

LONGEST = 16_384  # which a device perturbs while it holds its file


@dataclass(frozen=True, slots=True)
class Vector:
    """So many numbers; a vector whose Euclidean length is over ``norm`` counts as the one shortened to it.

    >>> Vector(2, Decimal(1)).encode([0.5, -3])
    (0.5, -3.0)
    """

    kind: ClassVar[str] = "vector"

    size: int
    norm: Decimal

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, int) or not 1 <= self.size <= LONGEST:
            raise DomainError(f"size must be an integer from 1 to {LONGEST}")
        if not (self.norm.is_finite() and Decimal("1e-30") <= self.norm <= Decimal("1e30")):
            raise DomainError("norm must be a decimal from 1e-30 to 1e30")

    @classmethod
    def read(cls, read: Read) -> "Vector":
        """Make one from a metric's table."""
        size = read("size", _whole, example="size = 64")
        return cls(size, read("norm", decimal, example='norm = "1"'))

    @property
    def names(self) -> tuple[str, ...]:
        """How many numbers, and the longest Euclidean length."""
        return (str(self.size), plain_decimal(self.norm))

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What a mechanism's constructor is told about the domain."""
        return {"size": self.size, "norm": self.norm}

    @property
    def canonical(self) -> dict[str, Any]:
        """The part of the metric's canonical definition that this domain is."""
        return {"kind": self.kind, "size": self.size, "norm": plain_decimal(self.norm)}

    def encode(self, value: object) -> tuple[float, ...]:
        """Return the numbers as floats, not yet shortened; in the plain form they may be texts.

        Raises DomainError if value is not a sequence of so many finite numbers.
        """
        numbers = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(numbers, list | tuple):
            raise DomainError(f"value must be a list of numbers, got {article(value)}")
        if len(numbers) != self.size:
            raise DomainError(f"value must be {self.size} numbers, got {len(numbers)}")
        is_plain = isinstance(value, tuple) and all(isinstance(number, str) for number in value)
        return tuple(_finite(decimal(number) if is_plain else number) for number in numbers)

    def plain(self, value: object) -> tuple[str, ...]:
        """Return a value that belongs to the domain in its canonical form, texts, which are read back too."""
        if not isinstance(value, list | tuple) or len(value) != self.size:
            raise DomainError(f"must be a list of {self.size} numbers")
        return tuple(plain_decimal(decimal(number)) for number in value)

    def every(self) -> list[Any]:
        """Raise DomainError: vectors are too many to list."""
        raise DomainError("vectors are too many to list")

    def title(self, row: str) -> str:
        """Name a coordinate by its index."""
        return row


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise DomainError(f"must be an integer from 1 to {LONGEST}")
    return value


def _finite(number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, Real | Decimal):
        raise DomainError("value must be a list of numbers, and one is none")
    try:
        as_float = float(number)
    except (OverflowError, ValueError):
        as_float = math.inf
    if not math.isfinite(as_float):
        raise DomainError("value must be a list of finite numbers")
    return as_float
