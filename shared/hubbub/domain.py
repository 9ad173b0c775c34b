"""This file says what a domain is: the values that a question can be answered with.

A domain turns a value into the input of a mechanism, or refuses it, without ever naming the value. Adding one
takes a file in ``domains/`` and a line in ``domains/kinds.py``.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, Self, TypeVar

T = TypeVar("T")


class Read(Protocol):
    """Reads the keys of a metric's table one by one, so that a fault names its key."""

    def __call__(self, key: str, reader: Callable[[Any], T], *, default: Any = None, example: str = "") -> T:
        """Return what ``reader`` makes of a key; without an example the key may be left out.

        reader: raises DomainError. example: what to write, for the error that a missing key makes.
        """
        ...


class Domain(Protocol):
    """The values of a question."""

    kind: ClassVar[str]  # in a manifest

    @classmethod
    def read(cls, read: Read) -> Self:
        """Make one from a metric's table."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The categories in order, or the ends of the range: what a sentence to the owner speaks of."""
        ...

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What a mechanism's constructor is told about the domain."""
        ...

    @property
    def canonical(self) -> dict[str, Any]:
        """The part of the metric's canonical definition that this domain is."""
        ...

    def encode(self, value: object) -> Any:
        """Return a value as one row of what a mechanism perturbs: a number, or a tuple of them.

        Raises DomainError, which never repeats the value.
        """
        ...

    def plain(self, value: object) -> Any:
        """Return a value that belongs to the domain in its canonical form, which JSON can carry."""
        ...

    def every(self) -> list[Any]:
        """List every encoded value.

        Raises DomainError where there are over 65,536 of them.
        """
        ...

    def title(self, row: str) -> str | None:
        """Return what people call a row of an estimate; None for one that tells nothing of its own."""
        ...
