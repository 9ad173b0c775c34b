"""This file says what there is to know about a route before it is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ALWAYS = ("malformed_request", "method_not_allowed", "header_too_large", "internal_error")
OF_KEYS = ("unauthorized", "forbidden")
OF_INGEST_KEYS = ("rate_limited",)
OF_BODIES = ("too_large", "unsupported_media_type")
OF_STORES = ("overloaded", "storage_failed", "storage_full")


@dataclass(frozen=True, slots=True)
class Query:
    """A parameter of a query.

    schema: of its text; of one that may stand often, of each. is_list: whether it may.
    """

    name: str
    about: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    is_required: bool = False
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """A method of a path.

    who: kinds of keys, none if anybody may ask. takes, gives: the type of a body for each media type; bytes
    stands for what has no JSON type. problems: codes beside those that all such routes have. has_tag: whether
    an answer has an ETag, and is not sent again to who has it already.
    """

    method: str
    path: str  # with {names}
    about: str
    who: tuple[str, ...]
    gives: Mapping[str, Any]
    status: int = 200
    query: tuple[Query, ...] = ()
    takes: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    has_tag: bool = False

    @property
    def codes(self) -> tuple[str, ...]:
        """Every problem that this route may answer with."""
        of_keys = (OF_KEYS if self.who else ()) + (OF_INGEST_KEYS if "ingest" in self.who else ())
        of_bodies = OF_BODIES if self.takes else ()
        return tuple(dict.fromkeys((*ALWAYS, *of_keys, *of_bodies, *self.problems, *OF_STORES)))
