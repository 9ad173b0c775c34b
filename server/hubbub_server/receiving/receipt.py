"""This file says what a sender is told: which reports of a batch were counted, and that one is taken back."""

from typing import Literal

import msgspec


class RefusedReport(msgspec.Struct, frozen=True):
    """A report that was not counted, by its place in the batch."""

    column: int
    report: int
    code: Literal["impossible_report"]


class Receipt(msgspec.Struct, frozen=True):
    """What became of a batch: the first reports that were refused, and the number of all by reason."""

    accepted: int
    refused: list[RefusedReport]
    reasons: dict[str, int]


class Withdrawn(msgspec.Struct, frozen=True):
    """The answer to a withdrawal, whether the batch was known or not."""

    withdrawn: bool
