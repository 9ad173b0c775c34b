"""This file describes a metric as a manifest has it in JSON; ``hubbub.declaration`` judges it."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from hubbub.domains.kinds import KINDS
from hubbub.period import LENGTHS
from hubbub.registry import ENTRIES

Size = Annotated[int, Meta(ge=1)]
Plain = int | Annotated[str, Meta(pattern=r"^-?[0-9]+(\.[0-9]+)?$", description="a plain decimal")]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"})]


def _one_of(*words: str) -> Any:
    return Meta(extra_json_schema={"enum": list(words)})


class MetricTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a manifest says of a metric. Which keys go with a kind or mechanism is told by the protocol.

    labels, attributes: pairs, whose order counts, or a table.
    """

    kind: Annotated[str, _one_of(*KINDS)]
    epsilon: Plain
    options: list[str] | UnsetType = UNSET
    range: tuple[Plain, Plain] | UnsetType = UNSET
    length: Size | UnsetType = UNSET
    most: Size | UnsetType = UNSET
    attributes: list[tuple[str, dict[str, Any]]] | dict[str, dict[str, Any]] | UnsetType = UNSET
    keys: list[str] | UnsetType = UNSET
    size: Size | UnsetType = UNSET
    norm: Plain | UnsetType = UNSET
    delta: Plain | UnsetType = UNSET
    mechanism: Annotated[str, _one_of(*(entry.kind for entry in ENTRIES))] | UnsetType = UNSET
    parameters: dict[str, int | str] | UnsetType = UNSET
    period: Annotated[str, _one_of(*(f"{days}d" for days in LENGTHS))] | UnsetType = UNSET
    labels: list[tuple[str, list[str]]] | dict[str, list[str]] | UnsetType = UNSET
    once: bool | UnsetType = UNSET
    changes: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    absent: Any = UNSET
    source: str | UnsetType = UNSET
    why: str | UnsetType = UNSET
    owner: str | UnsetType = UNSET
    expires: Day | UnsetType = UNSET
