"""This file says what a store is asked: SQLite or PostgreSQL, behind the same words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hubbub.tally import Tally
from hubbub_server.store.records import (
    AddUp,
    Change,
    Fault,
    Record,
    StoredKey,
    StoredMetric,
    Usage,
)


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
        """Yield period, labels and tally of each cell; the cost does not grow with the reports.

        A tally has no numbers where these are too many to be written with every batch.
        """
        ...

    def pieces(self, metric: bytes, periods: range) -> Iterator[tuple[int, bytes, Tally | bytes]]:
        """Yield period, labels and each piece of a sum without numbers, cell by cell.

        A piece is the tally of all reports that were added up since, or reports that were not yet.
        """
        ...

    def reports(
        self, metric: bytes, periods: range, *, most: int | None = None
    ) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield period, labels and raw reports of each portion still kept: by cell, in it in random order.

        most: bytes of a cell after which the rest of it need not come.
        """
        ...


class Upkeep(Protocol):
    """What keeps a store small, quick and whole; each step is short and may be stopped at any point."""

    def forget(self, today: int) -> bool:
        """Forget some of the ids whose day has passed, and empty the log; tell whether more are due."""
        ...

    def fold(self, add_up: AddUp) -> bool:
        """Add up some of the reports that wait for it; tell whether more do."""
        ...

    def expire(self, before: int, add_up: AddUp) -> bool:
        """Delete some raw reports of periods that ended before a Unix day, added up; tell whether more do."""
        ...

    def compact(self) -> None:
        """Write the database anew, in random order and without free space.

        Raises BusyError while others use it, StorageFullError without room for two more copies.
        """
        ...

    def check(self, add_up: AddUp) -> Iterator[Fault]:
        """Yield what is wrong: damage, and tallies that are not the sum of their reports."""
        ...

    def backup(self, path: Path) -> None:
        """Write a copy of the whole as of one moment, durable and readable by its owner only.

        Raises StorageError if the file exists or can't be written.
        """
        ...

    def probe(self) -> None:
        """Write something durably, to see whether it can be done.

        Raises StorageFullError, BusyError or StorageError.
        """
        ...

    def usage(self) -> Usage:
        """Return how much room is taken and left."""
        ...

    def latest_end(self) -> int | None:
        """Return the Unix day on which the newest period with reports ends, None without reports."""
        ...

    def oldest_raw(self) -> int | None:
        """Return the Unix day on which the oldest period ended that has raw reports, None without any."""
        ...

    def skim(self, seconds: float) -> bool | None:
        """Tell whether the files are whole, but for indices; None if that was not found out in time.

        Raises StorageError if they can't be read.
        """
        ...

    def instances(self) -> int:
        """Return how many processes serve on this store, this one included."""
        ...

    def noted(self, name: str) -> int:
        """Return a number that was noted, 0 if none was."""
        ...

    def note(self, name: str, value: int) -> None:
        """Keep a number over restarts."""
        ...


class Manifests(Protocol):
    """Published manifests, and every metric that ever was in one."""

    def publish(
        self, app: str, serial: int, document: str, metrics: Sequence[StoredMetric], *, after: int
    ) -> None:
        """Keep a manifest and its metrics; ``after`` is the serial that it was compared with, or 0.

        Raises RefusedError if another serial of the app was published meanwhile.
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

    def replace(self, number: str, successor: StoredKey, expires: str) -> bool:
        """Keep a key in place of one that expires on a day; False, with nothing done, if it ends anyway."""
        ...


@dataclass(frozen=True, slots=True)
class Store:
    """All that a collector keeps; ``close`` gives back what this process holds open."""

    batches: Batches
    manifests: Manifests
    keys: Keys
    upkeep: Upkeep
    close: Callable[[], None]
