"""This file holds the domain of a record: several facts about one person, asked as one question."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, ClassVar, TypeVar

from hubbub.domain import Domain, Read
from hubbub.domains.facts import facts, number_in
from hubbub.domains.kinds import KINDS
from hubbub.domains.plain import article, check_texts
from hubbub.errors import DomainError

ATTRIBUTES = ("boolean", "choice", "number")
MOST_ATTRIBUTES = 16

_LISTED = 65_536
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Record:
    """A boolean, choice or number for each attribute, by name, in the order given.

    >>> from hubbub.domains.boolean import Boolean
    >>> from hubbub.domains.choice import Choice
    >>> record = Record((("dark", Boolean()), ("system", Choice(("linux", "mac")))))
    >>> record.encode({"system": "mac", "dark": False})
    (0, 1)
    """

    kind: ClassVar[str] = "record"

    attributes: tuple[tuple[str, Domain], ...]

    def __post_init__(self) -> None:
        check_texts("attributes", self.names, least=2, most=MOST_ATTRIBUTES)
        for name, domain in self.attributes:
            if domain.kind not in ATTRIBUTES:
                raise DomainError(f"attribute {name} must be one of {', '.join(ATTRIBUTES)}")

    @classmethod
    def read(cls, read: Read) -> "Record":
        """Make one from a metric's table."""
        example = (
            'attributes = { dark = { kind = "boolean" }, system = { kind = "choice", options = [...] } }'
        )
        return read("attributes", cls.parse, example=example)

    @classmethod
    def parse(cls, tables: object) -> "Record":
        """Read attributes from a table of tables, or from pairs: in JSON, only a list has an order.

        Raises DomainError.
        """
        pairs = list(tables.items()) if isinstance(tables, Mapping) else tables
        if not isinstance(pairs, list | tuple) or not all(
            isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs
        ):
            raise DomainError("must be a table of tables, or pairs of a name and a table")
        return cls(tuple((name, _attribute(name, table)) for name, table in pairs))

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes in order."""
        return tuple(name for name, _ in self.attributes)

    @property
    def categories(self) -> tuple[str, ...]:
        """The titles of all categories of the attributes that have such, in order, no as well as yes."""
        return tuple(
            f"{name} = {category}"
            for name, domain in self.attributes
            if domain.kind != "number"
            for category in domain.names
        )

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What a mechanism's constructor is told about the domain."""
        return {"attributes": self.attributes}

    @property
    def canonical(self) -> dict[str, Any]:
        """The part of the metric's canonical definition that this domain is."""
        return {
            "kind": self.kind,
            "attributes": [[name, domain.canonical] for name, domain in self.attributes],
        }

    def encode(self, value: object) -> tuple[Any, ...]:
        """Return one number for each attribute, as its own domain encodes it.

        Raises DomainError if value does not say what each attribute is.
        """
        said = self._facts(value)
        return tuple(
            _named(
                name, domain.encode, number_in(value, said[name]) if domain.kind == "number" else said[name]
            )
            for name, domain in self.attributes
        )

    def plain(self, value: object) -> tuple[tuple[str, Any], ...]:
        """Return a value that belongs to the domain in its canonical form: pairs of a name and a fact."""
        said = self._facts(value)
        return tuple((name, _named(name, domain.plain, said[name])) for name, domain in self.attributes)

    def _facts(self, value: object) -> dict[str, object]:
        if value in ([], ()):  # no pairs, which is a mapping's plain form where it may be empty
            raise DomainError(f"value must be a mapping of names, got {article(value)}")
        said = facts(value, self.names)
        for name in self.names:
            if name not in said:
                raise DomainError(f"value says nothing about {name}; a record has all its attributes")
        return said

    def every(self) -> list[tuple[Any, ...]]:
        """List every encoded value.

        Raises DomainError if an attribute is a number, or where there are over 65,536.
        """
        columns = [domain.every() for _, domain in self.attributes]
        if prod(map(len, columns)) > _LISTED:
            raise DomainError("the values of a record are too many to list")
        return list(product(*columns))

    def title(self, row: str) -> str | None:
        """Name what a row is about: "1:0" is row 0 of attribute 1, "0:1,1:0" a cell.

        A sum of what some were asked has no name.
        """
        if "," in row:
            places = ((int(number) for number in one.split(":")) for one in row.split(","))
            each = ((*self.attributes[at], category) for at, category in places)
            return ", ".join(f"{name} = {domain.names[category]}" for name, domain, category in each)
        position, _, inner = row.partition(":")
        name, domain = self.attributes[int(position)]
        title = None if inner == "sum" else domain.title(inner)
        return title and (f"{name}: {title}" if domain.kind == "number" else f"{name} = {title}")


def _attribute(name: object, table: object) -> Domain:
    if not isinstance(name, str) or not isinstance(table, Mapping):
        raise DomainError("must be a table of tables: attributes and what kind each is")

    def read(key: str, reader: Callable[[Any], T], *, default: Any = None, example: str = "") -> T:
        if key in table:
            return _named(name, reader, table[key])
        if example:
            raise DomainError(f"attribute {name[:64]} has no {key}; add {example}")
        return default  # type: ignore[no-any-return]  # the default is of the reader's type

    kind = KINDS[read("kind", _kind, example='kind = "boolean", "choice" or "number"')]
    for key in table:
        if key != "kind" and key not in kind.keys:
            raise DomainError(f"attribute {name[:64]} has an unknown key {str(key)[:64]!r}")
    return kind.domain.read(read)


def _kind(value: object) -> str:
    if not isinstance(value, str) or value not in ATTRIBUTES:
        raise DomainError(f"kind must be one of {', '.join(ATTRIBUTES)}, got {article(value)}")
    return value


def _named(name: str, read: Callable[[Any], T], fact: Any) -> T:
    try:
        return read(fact)
    except DomainError as error:
        raise DomainError(f"attribute {name[:64]}: {error}") from None
