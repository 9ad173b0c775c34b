"""This file reads a metric's table key by key, so that every fault names its key and what to write.

Its functions each take one kind of value, and raise DomainError for any other.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from hubbub.errors import DomainError, ManifestError

T = TypeVar("T")


class Reader:
    """Reads one key after the other.

    >>> Reader("tabs", {"once": 1})("once", flag)
    Traceback (most recent call last):
    hubbub.errors.ManifestError: metric "tabs" once: must be true or false
    """

    def __init__(self, name: str, table: Mapping[str, Any]) -> None:
        self.name, self.table = name, table

    def __call__(self, key: str, reader: Callable[[Any], T], *, default: Any = None, example: str = "") -> T:
        """Return what ``reader`` makes of a key; without an example the key may be left out.

        Raises ManifestError.
        """
        if key not in self.table:
            if example:
                raise self.error("kind", f"has no {key}", remedy=f"add {example}")
            return default  # type: ignore[no-any-return]  # the default is of the reader's type
        try:
            return reader(self.table[key])
        except DomainError as error:
            raise self.error(key, f"{key}: {error}") from None

    def refuse_unknown(self, known: Sequence[str]) -> None:
        """Raise ManifestError if there is any other key."""
        for key in self.table:
            if key not in known:
                problem = f"has an unknown key {str(key)[:64]!r}"
                raise self.error(str(key), problem, remedy=f"known are {', '.join(known)}")

    def error(self, key: str, problem: str, *, remedy: str = "") -> ManifestError:
        """Return the error about a key."""
        return ManifestError(f'metric "{self.name}" {problem}', remedy=remedy, path=(self.name, key))


def text(value: object) -> str:
    """Return a string that UTF-8 can hold."""
    text = _only(str, value, "a string")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise DomainError("must be text that UTF-8 can hold, without lone surrogates")
    return text


def flag(value: object) -> bool:
    """Return true or false."""
    return _only(bool, value, "true or false")


def table(value: object) -> dict[str, Any]:
    """Return a table."""
    return _only(dict, value, "a table")


def items(value: object) -> list[Any]:
    """Return a list."""
    return _only(list, value, "a list")


def count(value: object) -> int:
    """Return a whole number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DomainError("must be a whole number, 0 or more")
    return value


def day(value: object) -> date:
    """Return a date, written as one or as text."""
    try:
        return date.fromisoformat(value) if isinstance(value, str) else _plain_date(value)
    except ValueError:
        raise DomainError("must be a date like 2027-06-01") from None


def _plain_date(value: object) -> date:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError
    return value


def _only(kind: type[T], value: object, words: str) -> T:
    if not isinstance(value, kind):
        raise DomainError(f"must be {words}")
    return value
