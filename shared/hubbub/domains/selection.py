"""This file holds the domain of a question that a device answers by its own preferences: one of several."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from hubbub.domain import Read
from hubbub.domains.facts import facts, number_in
from hubbub.domains.number import Number
from hubbub.domains.plain import check_texts, texts
from hubbub.errors import DomainError

MOST_CANDIDATES = 1024
UTILITIES = Number(Decimal(0), Decimal(1))


@dataclass(frozen=True, slots=True)
class Selection:
    """How useful each option is, from 0 to 1; what lies outside counts as the nearer end.

    >>> Selection(("small", "large")).encode({"large": 0.75, "small": 0})
    (0.0, 0.75)
    """

    kind: ClassVar[str] = "selection"

    options: tuple[str, ...]
    _known: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_texts("options", self.options, least=2, most=MOST_CANDIDATES)
        object.__setattr__(self, "_known", frozenset(self.options))

    @classmethod
    def read(cls, read: Read) -> "Selection":
        """Make one from a metric's table."""
        return read("options", lambda options: cls(texts(options)), example='options = ["a", "b"]')

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

    def encode(self, value: object) -> tuple[float, ...]:
        """Return the utilities in the order of the options, not yet clamped.

        Raises DomainError if value does not give every option a finite number.
        """
        said = self._facts(value)
        return tuple(UTILITIES.encode(number_in(value, said[option])) for option in self.options)

    def plain(self, value: object) -> tuple[tuple[str, str], ...]:
        """Return a value that belongs to the domain in its canonical form: pairs with a number."""
        said = self._facts(value)
        return tuple((option, UTILITIES.plain(said[option])) for option in self.options)

    def _facts(self, value: object) -> Mapping[str, object]:
        said = facts(value, self._known)
        if len(said) < len(self.options):
            raise DomainError("value must give each option a utility")
        return said

    def every(self) -> list[tuple[float, ...]]:
        """Raise DomainError: numbers are too many to list."""
        raise DomainError("the utilities of options are too many to list")

    def title(self, row: str) -> str:
        """Name the option that a row, its index, is about."""
        return self.options[int(row)]
