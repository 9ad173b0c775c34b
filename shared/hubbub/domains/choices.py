"""This file holds the domain of a question with several answers of many: any of some options."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

from hubbub.domain import Read
from hubbub.domains.plain import article, check_texts, texts, whole
from hubbub.errors import DomainError

MOST_PICKED_FROM = 1024  # a value is a row of so many bits
_LISTED = 16


@dataclass(frozen=True, slots=True)
class Choices:
    """Any of some options, in the order given; none of them too.

    most: how many picks an answer is made for. Of a person with more, a mechanism may count only some.

    >>> Choices(("maps", "mail", "music"), most=2).encode({"mail"})
    (0, 1, 0)
    """

    kind: ClassVar[str] = "choices"

    options: tuple[str, ...]
    most: int
    _positions: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_texts("options", self.options, least=2, most=MOST_PICKED_FROM)
        whole("most", self.most, least=1, most=len(self.options))
        positions = {option: position for position, option in enumerate(self.options)}
        object.__setattr__(self, "_positions", positions)

    @classmethod
    def read(cls, read: Read) -> "Choices":
        """Make one from a metric's table; without ``most``, all options may be picked."""
        example = 'options = ["a", "b", "other"]'
        options = read("options", lambda options: cls(texts(options), 1).options, example=example)
        return read("most", lambda most: cls(options, most), default=cls(options, len(options)))

    @property
    def names(self) -> tuple[str, ...]:
        """The categories in order, or the ends of the range."""
        return self.options

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What a mechanism's constructor is told about the domain."""
        return {"k": len(self.options), "most": self.most}

    @property
    def canonical(self) -> dict[str, Any]:
        """The part of the metric's canonical definition that this domain is."""
        return {"kind": self.kind, "options": list(self.options), "most": self.most}

    def encode(self, value: object) -> tuple[int, ...]:
        """Return a row of 0 and 1, one for each option.

        Raises DomainError if value is no list or set of different options.
        """
        if not isinstance(value, list | tuple | set | frozenset):
            raise DomainError(f"value must be a list or a set of options, got {article(value)}")
        row = [0] * len(self.options)
        for pick in value:
            position = self._positions.get(pick) if isinstance(pick, str) else None
            if position is None:
                raise DomainError(
                    f'a pick is none of the {len(self.options)} options; add one such as "other"'
                )
            if row[position]:
                raise DomainError("an option is picked twice; name each once")
            row[position] = 1
        return tuple(row)

    def plain(self, value: object) -> tuple[str, ...]:
        """Return a value that belongs to the domain in its canonical form: the picks in their order."""
        row = self.encode(value)
        return tuple(option for option, is_picked in zip(self.options, row, strict=True) if is_picked)

    def every(self) -> list[tuple[int, ...]]:
        """List every row of 0 and 1.

        Raises DomainError for over 16 options.
        """
        if len(self.options) > _LISTED:
            raise DomainError(f"the sets of {len(self.options)} options are too many to list")
        return list(product((0, 1), repeat=len(self.options)))

    def title(self, row: str) -> str:
        """Name the option that a row, its index, is about."""
        return self.options[int(row)]
