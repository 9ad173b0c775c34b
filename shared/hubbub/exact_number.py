"""This file reads a number that must be exact: never a float, and of no size that takes for ever to write."""

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from hubbub.errors import DomainError

ExactNumber = Decimal | Fraction | str | int

_LARGEST = 400  # decimal digits before or behind the point: all that a float can tell from 0 and infinity


def exact_number(value: ExactNumber, what: str) -> Fraction:
    """Return a number as a fraction.

    what: it is, such as "an end of a range".

    Raises DomainError for floats, texts that are no decimals, and numbers beyond 1e-400 to 1e400.

    >>> exact_number("2.5", "a norm")
    Fraction(5, 2)
    """
    if isinstance(value, bool) or not isinstance(value, Decimal | Fraction | str | int):
        raise DomainError(f"{what} must be exact, got a {type(value).__name__}; write it as a string")
    if isinstance(value, int | Fraction):
        exact = Fraction(value)
        if exact and not Fraction(1, 10**_LARGEST) <= abs(exact) <= 10**_LARGEST:
            raise DomainError(f"{what} must be from 1e-400 to 1e400")
        return exact
    try:
        number = Decimal(value)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or (number and abs(number.adjusted()) > _LARGEST):
        raise DomainError(f"{what} must be a finite decimal of a sensible size, got {str(value)[:40]}")
    return Fraction(number)
