"""This file says what a mechanism's parameters are: whole numbers, exact decimals or words, each in a range.

A metric keeps all of them, defaults filled in, so that its id pins them.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from hubbub.domains.plain import decimal, plain_decimal
from hubbub.errors import DomainError

Setting = int | str  # a whole number; a decimal as text; a word


class Parameter(Protocol):
    """One thing that a mechanism is told beyond epsilon and the domain."""

    @property
    def name(self) -> str:
        """What it is called in a manifest and by the mechanism's constructor."""
        ...

    @property
    def default(self) -> Setting | None:
        """What is meant where a manifest is silent; None if a manifest must say it."""
        ...

    def read(self, value: object) -> Setting:
        """Return a value in its canonical form.

        Raises DomainError if it is not allowed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from ``lowest`` to ``highest``."""

    name: str
    default: int | None
    lowest: int
    highest: int

    def read(self, value: object) -> int:
        """Return the number.

        >>> Whole("steps", 1024, 1, 2**20).read(16)
        16
        """
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not isinstance(value, int) or not is_whole or not self.lowest <= value <= self.highest:
            raise DomainError(f"{self.name} must be an integer from {self.lowest} to {self.highest}")
        return value


@dataclass(frozen=True, slots=True)
class Exact:
    """A decimal with at most six places from ``lowest`` to ``highest``, written as a string or an integer."""

    name: str
    default: str | None
    lowest: str
    highest: str

    def read(self, value: object) -> str:
        """Return the decimal without exponent or trailing zeros.

        >>> Exact("first", None, "0.001", "20").read("1.50")
        '1.5'
        """
        rule = f'{self.name} must be a decimal from {self.lowest} to {self.highest}, written like "0.5"'
        if isinstance(value, float):
            raise DomainError(rule)
        try:
            number = decimal(value)
        except DomainError:
            raise DomainError(rule) from None
        if not Decimal(self.lowest) <= number <= Decimal(self.highest) or number != round(number, 6):
            raise DomainError(f"{rule}, with at most 6 places")
        return plain_decimal(number)


@dataclass(frozen=True, slots=True)
class Word:
    """One of some words."""

    name: str
    default: str | None
    words: tuple[str, ...]

    def read(self, value: object) -> str:
        """Return the word.

        >>> Word("form", "bits", ("bits", "indices")).read("indices")
        'indices'
        """
        if not isinstance(value, str) or value not in self.words:
            raise DomainError(f"{self.name} must be one of {', '.join(self.words)}")
        return value
