"""This file says what a bad request is: what differs from one that is taken.

Wherever a sender can put words, they hold MARK, so that a test can see whether anything is repeated.
"""

from dataclasses import dataclass, field

from hubbub.batch import BINARY

MARK = "s3ntinel"


@dataclass(frozen=True, slots=True)
class Case:
    """A bad request. headers: None takes one away. key: whose, "" for none at all."""

    name: str
    data: bytes = b""
    form: str | None = BINARY
    path: str = "/v1/batches"
    method: str = "POST"
    key: str = "ingest"
    headers: dict[str, str] = field(default_factory=dict)
