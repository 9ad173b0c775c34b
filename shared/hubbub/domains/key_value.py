"""This file holds the domain of a question for some numbers of many: which keys, and how much of each."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hubbub.domain import Read
from hubbub.domains.facts import facts, number_in
from hubbub.domains.number import Number
from hubbub.domains.plain import check_texts, texts, whole
from hubbub.errors import DomainError

MOST_KEYS = 1024
ABSENT = math.nan  # the number of a key that a value does not have


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A number for each key that a person has; what lies outside the range counts as the nearer end.

    listed: all keys. most: how many an answer is made for. Of a person with more, only some are counted.

    >>> KeyValue(("maps", "mail"), Number.parse([0, 60]), most=1).encode({"mail": 12})
    (nan, 12.0)
    """

    kind: ClassVar[str] = "key_value"

    listed: tuple[str, ...]
    number: Number
    most: int
    _positions: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_texts("keys", self.listed, least=2, most=MOST_KEYS)
        whole("most", self.most, least=1, most=len(self.listed))
        object.__setattr__(self, "_positions", {key: place for place, key in enumerate(self.listed)})

    @classmethod
    def read(cls, read: Read) -> "KeyValue":
        """Make one from a metric's table."""
        number = Number.read(read)
        listed = read("keys", lambda keys: cls(texts(keys), number, 1).listed, example='keys = ["a", "b"]')
        return read("most", lambda most: cls(listed, number, most), example="most = 3")

    @property
    def names(self) -> tuple[str, ...]:
        """The keys in order, then the ends of the range."""
        return (*self.listed, *self.number.names)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What a mechanism's constructor is told about the domain."""
        return {"k": len(self.listed), "most": self.most, **self.number.arguments}

    @property
    def canonical(self) -> dict[str, Any]:
        """The part of the metric's canonical definition that this domain is."""
        return {
            "kind": self.kind,
            "keys": list(self.listed),
            "range": list(self.number.names),
            "most": self.most,
        }

    def encode(self, value: object) -> tuple[float, ...]:
        """Return a row of the numbers of all keys, nan for those that the value does not have.

        Raises DomainError if value is no mapping of keys to finite numbers.
        """
        row = [ABSENT] * len(self.listed)
        for key, fact in facts(value, self._positions).items():
            row[self._positions[key]] = self.number.encode(number_in(value, fact))
        return tuple(row)

    def plain(self, value: object) -> tuple[tuple[str, str], ...]:
        """Return a value that belongs to the domain in its canonical form: pairs of a key and a number."""
        said = facts(value, self._positions)
        return tuple((key, self.number.plain(said[key])) for key in self.listed if key in said)

    def every(self) -> list[tuple[float, ...]]:
        """Raise DomainError: numbers are too many to list."""
        raise DomainError("the numbers of a range are too many to list")

    def title(self, row: str) -> str:
        """Name what a row is about: "0" is the share with key 0, "0:mean" the mean of those who have it."""
        position, _, inner = row.partition(":")
        return f"{self.listed[int(position)]}: {inner}" if inner else self.listed[int(position)]
