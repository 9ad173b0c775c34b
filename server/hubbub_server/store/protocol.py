"""This file says what a store keeps and is asked: SQLite today, other databases behind the same words.

A store never sees a batch's id, only its SHA-256, and no clock time: ``forget_after`` is a day that follows
from the periods in the batch.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from hubbub.tally import Tally

Cell = tuple[bytes, int, bytes]  # metric, period, labels
State = Literal["kept", "withdrawn", "folded"]


@dataclass(frozen=True, slots=True)
class Portion:
    """The accepted reports that a batch has for one cell, and their sum.

    tally: without numbers where sums are too large to be kept, and the reports alone are.
    """

    metric: bytes
    period: int
    labels: bytes
    tally: Tally
    reports: bytes


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

    forget_after: of the tombstone if the batch is not known. sum_up: tallies raw reports of a metric.
    """

    id_hash: bytes
    forget_after: int
    sum_up: Callable[[bytes, bytes], Tally]


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

    number: the public part. last_used, revoked: a day as ISO date, or "".
    """

    number: str
    kind: str
    secret_hash: bytes
    note: str
    last_used: str = ""
    revoked: str = ""


@dataclass(frozen=True, slots=True)
class StoredMetric:
    """A metric as it is kept: its definition is the manifest's table as JSON, and never changes."""

    id: bytes
    app: str
    name: str
    serial: int  # the newest manifest that holds it
    definition: str


class Batches(Protocol):
    """Batches, their raw reports and the tallies over them."""

    def find(self, id_hash: bytes) -> Record | None:
        """Return what is known under the hash of an id."""
        ...

    def prepare(self) -> None:
        """Do what makes the first commits of a process fast."""
        ...

    def commit(self, changes: Sequence[Change]) -> list[Record]:
        """Make all changes durable in one transaction, or none of them; one record a change.

        Raises StorageFullError, BusyError or StorageError.
        """
        ...

    def tallies(self, metric: bytes, periods: range) -> Iterator[tuple[int, bytes, Tally]]:
        """Yield period, labels and tally of each cell; the cost does not grow with the reports."""
        ...

    def raw(self, metric: bytes, periods: range) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield period, labels and reports of each portion without a sum, by period and labels."""
        ...

    def tidy(self, today: int) -> None:
        """Do what can wait: empty the log, forget ids whose day has passed."""
        ...


class Manifests(Protocol):
    """Published manifests, and every metric that ever was in one."""

    def publish(
        self, app: str, serial: int, document: str, metrics: Sequence[StoredMetric], *, after: int
    ) -> None:
        """Keep a manifest and its metrics; ``after`` is the serial that it was compared with, or 0.

        Raises BusyError if another serial of the app was published meanwhile.
        """
        ...

    def latest(self, app: str) -> tuple[int, str] | None:
        """Return serial and document of an app's newest manifest."""
        ...

    def keep_signed(self, app: str, serial: int, signed: bytes) -> None:
        """Keep the signed form of a manifest that is published, in place of an earlier one."""
        ...

    def signed(self, app: str) -> bytes | None:
        """Return the signed form of the newest manifest of an app that has one."""
        ...

    def metric(self, metric: bytes) -> StoredMetric | None:
        """Return a metric by its id."""
        ...

    def metrics(self) -> list[StoredMetric]:
        """Return every metric, by app and name, newest first."""
        ...


class Keys(Protocol):
    """Access keys."""

    def add(self, key: StoredKey) -> None:
        """Keep a new key."""
        ...

    def find(self, number: str) -> StoredKey | None:
        """Return a key by its public part."""
        ...

    def all(self) -> list[StoredKey]:
        """Return every key, revoked ones included."""
        ...

    def use(self, number: str, day: str) -> None:
        """Note the day on which a key was used."""
        ...

    def revoke(self, number: str, day: str) -> bool:
        """Take a key out of use; False if there is no such key in use."""
        ...


@dataclass(frozen=True, slots=True)
class Store:
    """All that a collector keeps; ``close`` gives back what this process holds open."""

    batches: Batches
    manifests: Manifests
    keys: Keys
    close: Callable[[], None]
