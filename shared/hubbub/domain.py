"""This file holds the three domains a metric can have: yes or no, one of some options, a number in a range.

A domain turns a value into the input of a mechanism, or refuses it, without ever naming the value.
"""

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar

from hubbub.errors import DomainError

MOST_OPTIONS = 65_536
_PLAIN = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,3})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Boolean:
    """Yes or no.

    >>> Boolean().encode(True)
    1
    """

    kind: ClassVar[str] = "boolean"

    @property
    def names(self) -> tuple[str, ...]:
        """The categories in order, or the ends of the range."""
        return ("no", "yes")

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What a mechanism's constructor is told about the domain."""
        return {"k": 2}

    @property
    def canonical(self) -> dict[str, Any]:
        """The part of the metric's canonical definition that this domain is."""
        return {"kind": self.kind}

    def encode(self, value: object) -> int:
        """Return 0 or 1.

        Raises DomainError if value is not True or False; 1 and "yes" are not.
        """
        if not isinstance(value, bool):
            raise DomainError(f"value must be True or False, got {_article(value)}")
        return int(value)

    def plain(self, value: object) -> bool:
        """Return a value that belongs to the domain in its canonical form."""
        return bool(self.encode(value))


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some options, in the order given.

    >>> Choice(("linux", "mac", "other")).encode("mac")
    1
    """

    kind: ClassVar[str] = "choice"
    options: tuple[str, ...]
    _positions: Mapping[str, int] = field(init=False, repr=False, compare=False)  # equally fast for each

    def __post_init__(self) -> None:
        check_texts("options", self.options, least=2, most=MOST_OPTIONS)
        positions = {option: position for position, option in enumerate(self.options)}
        object.__setattr__(self, "_positions", positions)

    @property
    def names(self) -> tuple[str, ...]:
        """The categories in order, or the ends of the range."""
        return self.options

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What a mechanism's constructor is told about the domain."""
        return {"k": len(self.options)}

    @property
    def canonical(self) -> dict[str, Any]:
        """The part of the metric's canonical definition that this domain is."""
        return {"kind": self.kind, "options": list(self.options)}

    def encode(self, value: object) -> int:
        """Return the index of an option.

        Raises DomainError if value is none of the options.
        """
        if not isinstance(value, str):
            raise DomainError(f"value must be one of the options, a string, got {_article(value)}")
        position = self._positions.get(value)
        if position is None:
            raise DomainError(
                f'value is none of the {len(self.options)} options; add one such as "other" and map to it'
            )
        return position

    def plain(self, value: object) -> str:
        """Return a value that belongs to the domain in its canonical form."""
        return self.options[self.encode(value)]


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
        if not _floats_can_hold(self.low, self.high) or not all(map(_PLAIN.fullmatch, self.names)):
            raise DomainError(
                "range must suit double precision: ends of at most 1e30 and 40 decimals, the larger at least "
                "1e-30, and a width of at least 1e-9 of it"
            )

    @classmethod
    def parse(cls, ends: object) -> "Number":
        """Read a range from a pair of integers, decimal strings or Decimals.

        Raises DomainError for anything else. A float is taken as the decimal it prints.
        """
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            raise DomainError("range must be a pair [low, high]")
        return cls(_decimal(ends[0]), _decimal(ends[1]))

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
            raise DomainError(f"value must be a number, got {_article(value)}")
        try:
            number = float(value)
        except (OverflowError, ValueError):
            number = math.inf
        if not math.isfinite(number):
            raise DomainError("value must be a finite number")
        return number

    def plain(self, value: object) -> str:
        """Return a value that belongs to the domain in its canonical form, text, which is read back too."""
        return plain_decimal(min(max(_decimal(value), self.low), self.high))


Domain = Boolean | Choice | Number


def check_texts(what: str, texts: tuple[str, ...], *, least: int, most: int) -> None:
    """Refuse a list of names that is not clean: wrong length, doubles, blanks, control characters.

    Raises DomainError.
    """
    if not least <= len(texts) <= most:
        raise DomainError(f"{what} must be {least} to {most} different strings, got {len(texts)}")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise DomainError(f"{what} must be strings, got {_article(text)} at position {position}")
        if not 1 <= len(text) <= 100 or text != text.strip() or not text.isprintable():
            raise DomainError(
                f"{what} must be 1 to 100 printable characters, no blanks around, not so at {position}"
            )
        if unicodedata.normalize("NFC", text) != text:
            raise DomainError(f"{what} must be in Unicode form NFC, not so at position {position}")
    if len(set(texts)) != len(texts):
        raise DomainError(f"{what} must be different from each other")


def plain_decimal(number: Decimal) -> str:
    """Write a decimal without exponent or trailing zeros.

    >>> plain_decimal(Decimal("1.50")), plain_decimal(Decimal("1E+2")), plain_decimal(Decimal("-0"))
    ('1.5', '100', '0')
    """
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"-0", ""} else text


def _decimal(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | str | float | Decimal):
        raise DomainError(f"a number is expected, got {_article(value)}")
    is_long = isinstance(value, int) and abs(value) >= 10**40  # which Python may refuse to write out
    if is_long or not _PLAIN.fullmatch(str(value)):
        raise DomainError("a plain decimal number of at most 40 digits is expected")
    number = Decimal(str(value))
    if len(number.as_tuple().digits) > 40 or (number and abs(number.adjusted()) > 100):
        raise DomainError("a number of at most 40 digits and of 1e-100 to 1e100 is expected")
    return number


def _floats_can_hold(low: Decimal, high: Decimal) -> bool:
    largest = max(abs(low), abs(high))
    return Decimal("1e-30") <= largest <= Decimal("1e30") and high - low >= largest * Decimal("1e-9")


def _article(value: object) -> str:
    return f"a value of type {type(value).__name__}"
