"""This file says what settings may be; a rule reads one from text, of flags and variables, and judges it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://([A-Za-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


class Rule(Protocol):
    """What a setting may be."""

    @property
    def words(self) -> str:
        """The end of the sentence "it must be ..."."""
        ...

    def read(self, text: str) -> object:
        """Return the value that a text stands for, which ``allows`` may still refuse."""
        ...

    def allows(self, value: object) -> bool:
        """Tell whether a value keeps the rule."""
        ...


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds, and 0 or None too where that means "not at all".

    >>> rule = Whole(1, 256)
    >>> rule.allows(rule.read("32")), rule.allows(rule.read("many")), rule.allows(True)
    (True, False, False)
    """

    least: int
    most: int
    or_zero: bool = False
    or_none: bool = False

    @property
    def words(self) -> str:
        """The end of the sentence "it must be ..."."""
        return f"{'0 or ' if self.or_zero else ''}a whole number from {self.least} to {self.most}"

    def read(self, text: str) -> object:
        """Return the number; the text itself, which is none, if it is none."""
        return int(text) if re.fullmatch("-?[0-9]{1,20}", text) else text

    def allows(self, value: object) -> bool:
        """Tell whether a value keeps the rule."""
        if value is None:
            return self.or_none
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        return self.least <= value <= self.most or (self.or_zero and value == 0)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some words."""

    options: tuple[str, ...]

    @property
    def words(self) -> str:
        """The end of the sentence "it must be ..."."""
        return " or ".join(self.options)

    def read(self, text: str) -> object:
        """Return the text."""
        return text

    def allows(self, value: object) -> bool:
        """Tell whether a value keeps the rule."""
        return value in self.options


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    words: str = 'an address to listen on, like "127.0.0.1"'

    def read(self, text: str) -> object:
        """Return the text."""
        return text

    def allows(self, value: object) -> bool:
        """Tell whether a value keeps the rule."""
        return isinstance(value, str) and bool(value) and value == value.strip()


@dataclass(frozen=True, slots=True)
class Origins:
    """Web origins, or "*" for every one; in text with commas between them.

    >>> rule = Origins()
    >>> rule.allows(rule.read("https://app.example, http://localhost:3000")), rule.allows(("https://app.example/",))
    (True, False)
    """

    words: str = 'a list of origins like "https://app.example", or of "*"'

    def read(self, text: str) -> object:
        """Return the origins of a text."""
        return tuple(part.strip() for part in text.split(",") if part.strip())

    def allows(self, value: object) -> bool:
        """Tell whether a value keeps the rule."""
        return isinstance(value, tuple) and all(
            isinstance(one, str) and _ORIGIN.fullmatch(one) for one in value
        )


@dataclass(frozen=True, slots=True)
class Location:
    """A file in a directory that is there, or the URL of a PostgreSQL database."""

    words: str = "the path of a file, in a directory that is there, or a postgresql:// URL"

    def read(self, text: str) -> object:
        """Return the text."""
        return text

    def allows(self, value: object) -> bool:
        """Tell whether a value keeps the rule."""
        return is_url(value) or (isinstance(value, Path) and value.parent.is_dir())


def is_url(value: object) -> bool:
    """Tell whether a database is named by the URL of a PostgreSQL server."""
    return isinstance(value, str) and value.startswith(("postgresql://", "postgres://"))
