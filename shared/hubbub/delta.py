"""This file holds delta: the chance that a mechanism fails its epsilon, counted in units of 10^-18.

It is 0 for every mechanism but those that add Gaussian noise, and a device agrees to 0 by default.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from hubbub.errors import DomainError

ATTO = 10**18
HIGHEST = ATTO // 1000  # 0.001
_FORM = re.compile(r"[0-9]{1,3}(\.[0-9]{1,30})?(e-[0-9]{1,2})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Delta:
    """A chance of failure, from 0 to 0.001 with at most 18 decimals.

    >>> str(Delta.parse("1e-9")), Delta.parse("1e-9").exact
    ('0.000000001', Fraction(1, 1000000000))
    """

    atto: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.atto <= HIGHEST:
            raise DomainError(f"delta must be from 0 to 0.001, got {self.exact}")

    @classmethod
    def parse(cls, value: "DeltaLike") -> "Delta":
        """Read delta from a string, 0 or a Decimal.

        Raises DomainError for anything else, a float first of all, and outside 0 to 0.001.
        """
        if isinstance(value, Delta):
            return value
        if isinstance(value, float | bool) or not isinstance(value, str | int | Decimal):
            raise DomainError(f'delta must be a string like "1e-9", got {type(value).__name__}')
        text = str(value)
        if not _FORM.fullmatch(text):
            raise DomainError(f'delta must be a decimal like "1e-9", got {text[:40]!r}')
        atto = Fraction(text) * ATTO
        if atto.denominator != 1:
            raise DomainError(f"delta must have at most 18 decimals, got {text[:40]}")
        return cls(int(atto))

    @property
    def exact(self) -> Fraction:
        """Delta as a fraction."""
        return Fraction(self.atto, ATTO)

    def __str__(self) -> str:
        return f"0.{self.atto:018d}".rstrip("0").rstrip(".")


DeltaLike = Delta | str | int | Decimal
