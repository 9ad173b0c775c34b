"""This file holds epsilon: an exact decimal, counted in whole millionths.

Floats are refused, since 0.1 is not a float: ten charges of it would not make one.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from hubbub.errors import DomainError

MICRO = 1_000_000
LOWEST, HIGHEST = 1_000, 20 * MICRO  # 0.001 to 20
_PLAIN = re.compile(r"[0-9]{1,9}(\.[0-9]{1,30})?")


@dataclass(frozen=True, slots=True, order=True)
class Epsilon:
    """A privacy parameter of a metric, from 0.001 to 20 with at most 6 decimals.

    micro: millionths, so that sums are exact.

    >>> Epsilon.parse("1.50")
    Epsilon(micro=1500000)
    >>> str(Epsilon.parse("1.50"))
    '1.5'
    """

    micro: int

    def __post_init__(self) -> None:
        if not LOWEST <= self.micro <= HIGHEST:
            raise DomainError(f"epsilon must be from 0.001 to 20, got {decimal_text(self.micro)}")

    @classmethod
    def parse(cls, value: "EpsilonLike") -> "Epsilon":
        """Read epsilon from a string, an integer or a Decimal.

        Raises DomainError for anything else, a float first of all, and outside 0.001 to 20.

        >>> Epsilon.parse(0.1)
        Traceback (most recent call last):
        hubbub.errors.DomainError: epsilon must be exact, got a float; write epsilon as a string, like "0.5"
        """
        if isinstance(value, Epsilon):
            return value
        return cls(parse_micro(value, what="epsilon"))

    @property
    def exact(self) -> Fraction:
        """Epsilon as a fraction."""
        return Fraction(self.micro, MICRO)

    def __str__(self) -> str:
        return decimal_text(self.micro)


EpsilonLike = Epsilon | str | int | Decimal


def parse_micro(value: object, *, what: str) -> int:
    """Read a plain decimal with at most 6 decimals as a whole number of millionths.

    Raises DomainError, naming ``what``.
    """
    if isinstance(value, float):
        raise DomainError(f'{what} must be exact, got a float; write {what} as a string, like "0.5"')
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise DomainError(
            f'{what} must be a string, integer or Decimal, got {type(value).__name__}; write it like "0.5"'
        )
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    if not _PLAIN.fullmatch(text):
        raise DomainError(f'{what} must be a plain decimal like "0.5", got {text[:40]!r}')
    micro = Fraction(text) * MICRO
    if micro.denominator != 1:
        raise DomainError(f"{what} must have at most 6 decimals, got {text[:40]}")
    return int(micro)


def decimal_text(micro: int) -> str:
    """Write millionths in the shortest plain decimal form.

    >>> decimal_text(1_500_000), decimal_text(4_000_000), decimal_text(1)
    ('1.5', '4', '0.000001')
    """
    whole, rest = divmod(abs(micro), MICRO)
    sign = "-" * (micro < 0)
    return f"{sign}{whole}.{rest:06d}".rstrip("0").rstrip(".") if rest else f"{sign}{whole}"
