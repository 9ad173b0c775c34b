"""This file holds the domain of a question with one answer of several."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hubbub.domain import Read
from hubbub.domains.plain import article, check_texts, texts
from hubbub.errors import DomainError

MOST_OPTIONS = 65_536


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

    @classmethod
    def read(cls, read: Read) -> "Choice":
        """Make one from a metric's table."""
        example = 'options = ["a", "b", "other"]'
        return read("options", lambda options: cls(texts(options)), example=example)

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
            raise DomainError(f"value must be one of the options, a string, got {article(value)}")
        position = self._positions.get(value)
        if position is None:
            raise DomainError(
                f'value is none of the {len(self.options)} options; add one such as "other" and map to it'
            )
        return position

    def plain(self, value: object) -> str:
        """Return a value that belongs to the domain in its canonical form."""
        return self.options[self.encode(value)]

    def every(self) -> list[int]:
        """List the indices of all options."""
        return list(range(len(self.options)))

    def title(self, row: str) -> str:
        """Name the option that a row, its index, is about."""
        return self.options[int(row)]
