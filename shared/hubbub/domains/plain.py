"""This file keeps what people write plain: clean names, and decimals of few digits."""

import re
import unicodedata
from decimal import Decimal

from hubbub.errors import DomainError

PLAIN = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,3})?", re.IGNORECASE)


def check_texts(what: str, texts: tuple[str, ...], *, least: int, most: int) -> None:
    """Refuse a list of names that is not clean: wrong length, doubles, blanks, control characters.

    Raises DomainError.
    """
    if not least <= len(texts) <= most:
        raise DomainError(f"{what} must be {least} to {most} different strings, got {len(texts)}")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise DomainError(f"{what} must be strings, got {article(text)} at position {position}")
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


def decimal(value: object) -> Decimal:
    """Read a number as the decimal it is written as.

    Raises DomainError.
    """
    if isinstance(value, bool) or not isinstance(value, int | str | float | Decimal):
        raise DomainError(f"a number is expected, got {article(value)}")
    is_long = isinstance(value, int) and abs(value) >= 10**40  # which Python may refuse to write out
    if is_long or not PLAIN.fullmatch(str(value)):
        raise DomainError("a plain decimal number of at most 40 digits is expected")
    number = Decimal(str(value))
    is_large = number and abs(number.adjusted()) > 100
    if is_large or not PLAIN.fullmatch(plain_decimal(number)):  # what is written must be read back
        raise DomainError("a number of at most 40 digits before and 40 behind the point is expected")
    return number


def texts(value: object) -> tuple[str, ...]:
    """Return a list of names as a tuple; ``check_texts`` looks at what is in it.

    Raises DomainError if it is no list.
    """
    if not isinstance(value, list | tuple):
        raise DomainError("must be a list")
    return tuple(value)


def whole(what: str, value: object, *, least: int, most: int) -> int:
    """Return a whole number, refusing what is none or lies outside ``least`` to ``most``.

    Raises DomainError.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise DomainError(f"{what} must be a whole number from {least} to {most}")
    return value


def article(value: object) -> str:
    """Name the type of a value, and never the value."""
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"a value of type {module}{kind.__name__}"
