"""This file holds the domain of a yes or no question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hubbub.domain import Read
from hubbub.domains.plain import article
from hubbub.errors import DomainError


@dataclass(frozen=True, slots=True)
class Boolean:
    """Yes or no.

    >>> Boolean().encode(True)
    1
    """

    kind: ClassVar[str] = "boolean"

    @classmethod
    def read(cls, read: Read) -> "Boolean":  # noqa: ARG003 - it has no keys of its own
        """Make one from a metric's table."""
        return cls()

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

        Raises DomainError if value is not True or False, Python's or numpy's; 1 and "yes" are not.
        """
        kind = type(value)
        is_of_numpy = kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")
        if not isinstance(value, bool) and not is_of_numpy:
            raise DomainError(f"value must be True or False, got {article(value)}")
        return int(bool(value))

    def plain(self, value: object) -> bool:
        """Return a value that belongs to the domain in its canonical form."""
        return bool(self.encode(value))

    def every(self) -> list[int]:
        """List 0 and 1."""
        return [0, 1]

    def title(self, row: str) -> str | None:
        """Name the share that says yes; the other one is what is left of 1."""
        return {"1": "yes"}.get(row)
