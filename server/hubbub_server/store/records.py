"""This file holds what a store keeps, is given and tells: plain values, whichever database keeps them.

A store never sees a batch's id, only its SHA-256, and no clock time: ``forget_after`` and ``ends`` are days
that follow from the periods in the batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hubbub.tally import Tally

Cell = tuple[bytes, int, bytes]  # metric, period, labels
AddUp = Callable[[bytes, bytes], Tally]  # of a metric, raw reports that were checked
State = Literal["kept", "withdrawn", "folded"]
MISSING = "reports that wait to be added up are missing; see hubbub-server check"


@dataclass(frozen=True, slots=True)
class Portion:
    """The accepted reports that a batch has for one cell, and their sum.

    ends: the Unix day on which the period ends. tally: without numbers where these are too many to be written
    with every batch, and are added up later.
    """

    metric: bytes
    period: int
    labels: bytes
    ends: int
    tally: Tally
    reports: bytes

    @property
    def cell(self) -> Cell:
        """What the reports are added up by."""
        return self.metric, self.period, self.labels


@dataclass(frozen=True, slots=True)
class Deposit:
    """A batch to keep, together with the answer that every retry of it will get."""

    id_hash: bytes
    digest: bytes
    forget_after: int
    answer: bytes
    portions: tuple[Portion, ...]


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A batch to subtract, or to refuse if it ever comes.

    forget_after: of the tombstone if the batch is not known.
    """

    id_hash: bytes
    forget_after: int
    add_up: AddUp


Change = Deposit | Withdrawal


@dataclass(frozen=True, slots=True)
class Record:
    """What is known under the hash of an id once a change is durable.

    state: "folded" if a withdrawal came too late: the raw reports are gone, so nothing was changed.
    """

    digest: bytes
    state: State
    answer: bytes


@dataclass(frozen=True, slots=True)
class StoredKey:
    """An access key as it is kept: the hash of its secret, and days as the finest time.

    number: the public part. last_used, revoked, expires: a day as ISO date, or ""; from the last one on it is
    out of use.
    """

    number: str
    kind: str
    secret_hash: bytes
    note: str
    last_used: str = ""
    revoked: str = ""
    expires: str = ""

    def is_in_use(self, today: str) -> bool:
        """Whether it opens anything on a day."""
        return not self.revoked and (not self.expires or today < self.expires)


@dataclass(frozen=True, slots=True)
class StoredMetric:
    """A metric as it is kept: its definition is the manifest's table as JSON, and never changes."""

    id: bytes
    app: str
    name: str
    serial: int  # the newest manifest that holds it
    definition: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a database that should not be: where, and what is wrong there."""

    place: str
    fault: str


@dataclass(frozen=True, slots=True)
class Usage:
    """How many bytes a store takes, its log included, and how many are free where it is, if that is known."""

    taken: int
    free: int | None
