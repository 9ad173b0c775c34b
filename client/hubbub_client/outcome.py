"""This file holds what the calls of a client return: plain facts, never a true value."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from hubbub.errors import HubbubError

Code = Literal[
    "off",
    "consent",
    "value",
    "unknown_metric",
    "already_answered",
    "budget",
    "policy",
    "expired",
    "paused",
    "busy",
    "storage",
]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A report was charged, drawn and put in line.

    spent: epsilon of this report. left: epsilon that the metric's source may still spend now.
    """

    spent: Decimal
    left: Decimal


@dataclass(frozen=True, slots=True)
class Skipped:
    """Nothing was charged and nothing will leave.

    code: for programs. message: a sentence with the way out.
    """

    code: Code
    message: str


@dataclass(frozen=True, slots=True)
class Flushed:
    """How far a flush came.

    sent, refused: batches that the collector took or turned down for good since the last flush, in the
    background, too. waiting: batches still in line, those that are not due among them; None if it
    did not look, as where the owner switched it off, or could not in time. error: the last trouble with what
    is in line or was refused, or "".
    """

    sent: int
    waiting: int | None
    refused: int
    error: str


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What a withdrawal has done at once.

    dropped: batches that waited and will not leave. asked: batches for whose deletion the collector is asked,
    in line or under way. error: why it could not be done, or "".
    """

    dropped: int
    asked: int
    error: str


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts since the device's first report; ``skipped``, by code, since this client was made.

    waiting, sent: batches; one that was asked back was sent all the same. refused: by the collector's code.
    dropped: given up, by reason. asked_back: batches among those sent that were asked back, by what became
    of it: "withdrawing", "withdrawn", or the code for which the collector kept one.
    """

    waiting: int
    sent: int
    refused: Mapping[str, int]
    dropped: Mapping[str, int]
    skipped: Mapping[str, int]
    asked_back: Mapping[str, int]


def told(error: Exception) -> str:
    """Say what went wrong; only our own words are known to hold no value."""
    if isinstance(error, HubbubError | OSError):
        return str(error)
    return f"this failed by a fault of its own ({type(error).__name__})"
