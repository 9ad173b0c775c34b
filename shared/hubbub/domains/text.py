"""This file holds the domain of a question that is answered in free words, which nobody can list."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hubbub.domain import Read
from hubbub.domains.plain import article
from hubbub.errors import DomainError
from hubbub.texts import canonical, check_length, padded


@dataclass(frozen=True, slots=True)
class Text:
    """A text of at most ``length`` bytes of UTF-8, in Unicode form NFC; it may be empty.

    >>> Text(4).encode("mac")
    (109, 97, 99, 0)
    """

    kind: ClassVar[str] = "text"

    length: int

    def __post_init__(self) -> None:
        check_length(self.length)

    @classmethod
    def read(cls, read: Read) -> "Text":
        """Make one from a metric's table."""
        return read("length", cls, example="length = 16")

    @property
    def names(self) -> tuple[str, ...]:
        """Return none: no text is known beforehand."""
        return ()

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What a mechanism's constructor is told about the domain."""
        return {"length": self.length}

    @property
    def canonical(self) -> dict[str, Any]:
        """The part of the metric's canonical definition that this domain is."""
        return {"kind": self.kind, "length": self.length}

    def encode(self, value: object) -> tuple[int, ...]:
        """Return the bytes of a text with zeros behind, ``length`` in all.

        Raises DomainError if value is no text, too long, or has control characters.
        """
        return tuple(padded(self._text(value), self.length))

    def plain(self, value: object) -> str:
        """Return a value that belongs to the domain in its canonical form."""
        return canonical(self._text(value), self.length)

    def every(self) -> list[tuple[int, ...]]:
        """List all texts of one byte and the empty one.

        Raises DomainError for a longer length: texts are too many to list.
        """
        if self.length > 1:
            raise DomainError("texts are too many to list")
        return [self.encode(text) for text in ("", *map(chr, range(32, 127)))]

    def title(self, row: str) -> str:
        """Return the row as it is: it is a text that was asked for or found."""
        return row

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise DomainError(f"value must be a string, got {article(value)}")
        return value
