"""This file decides what a group of changes does: a batch counts once, and a withdrawal takes it out whole.

It knows no SQL: what it decided is written by the rows of a database, within one transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from hubbub.tally import Tally
from hubbub_server.store.records import AddUp, Cell, Change, Deposit, Portion, Record, Withdrawal


@dataclass(slots=True)
class Sum:
    """What is added to a cell. unfolded: bytes. number: of the cell, once it is known."""

    ends: int
    tally: Tally
    unfolded: int = 0
    number: int = 0

    def add(self, tally: Tally, unfolded: int) -> None:
        """Add what another has for the same cell."""
        self.tally += tally
        self.unfolded += unfolded


@dataclass(frozen=True, slots=True)
class Taken:
    """Reports of a cell that were taken out.

    is_summed: whether the cell's sums are written with every batch. is_waiting: whether these are in none.
    """

    cell: Cell
    ends: int
    number: int
    reports: bytes
    is_summed: bool
    is_waiting: bool


class Rows(Protocol):
    """The rows of a database within one transaction."""

    def write(self, group: "Group") -> None:
        """Write deposits, tombstones and sums."""
        ...

    def take(self, id_hash: bytes) -> list[Taken] | None:
        """Take out the reports of a batch and call it withdrawn; None, and nothing done, if some are gone."""
        ...

    def add_to_folded(self, number: int, tally: Tally) -> None:
        """Add to the sums of a cell that are too many to be written with every batch."""
        ...


@dataclass(slots=True)
class Group:
    """The changes of one transaction, gathered until they are written. known: by the hash of their id."""

    rows: Rows
    known: dict[bytes, Record]
    deposits: list[Deposit] = field(default_factory=list)
    tombstones: list[Withdrawal] = field(default_factory=list)
    sums: dict[Cell, Sum] = field(default_factory=dict)

    def carry_out(self, changes: Sequence[Change]) -> list[Record]:
        """Write changes, and return what is known after each."""
        records = [
            self._deposit(change) if isinstance(change, Deposit) else self._withdraw(change)
            for change in changes
        ]
        self._write()
        return records

    def _deposit(self, deposit: Deposit) -> Record:
        """Take a batch, unless its id is known."""
        if deposit.id_hash in self.known:
            return self.known[deposit.id_hash]
        for portion in deposit.portions:
            self._add(portion.cell, Sum(portion.ends, portion.tally, waiting(portion)))
        self.deposits.append(deposit)
        return self._now_known(deposit.id_hash, Record(deposit.digest, "kept", deposit.answer))

    def _withdraw(self, withdrawal: Withdrawal) -> Record:
        """Subtract a batch if its raw reports are here; put up a tombstone if the id is not known."""
        known = self.known.get(withdrawal.id_hash)
        if known is None:
            self.tombstones.append(withdrawal)
            return self._now_known(withdrawal.id_hash, Record(b"", "withdrawn", b""))
        if known.state != "kept":
            return known
        self._write()
        taken = self.rows.take(withdrawal.id_hash)
        if taken is None:
            return Record(known.digest, "folded", known.answer)
        for each in taken:
            self._subtract(each, withdrawal.add_up)
        return self._now_known(withdrawal.id_hash, Record(known.digest, "withdrawn", known.answer))

    def _subtract(self, taken: Taken, add_up: AddUp) -> None:
        """Take reports out of the sums that they are in."""
        tally = add_up(taken.cell[0], taken.reports)
        gone = Tally.zero(tally.cells.size) - tally
        if taken.is_summed:
            self._add(taken.cell, Sum(taken.ends, gone))
            return
        alone = Tally(gone.n, np.zeros(0, np.int64))
        self._add(taken.cell, Sum(taken.ends, alone, -len(taken.reports) * taken.is_waiting))
        if not taken.is_waiting:
            self.rows.add_to_folded(taken.number, gone)

    def _add(self, cell: Cell, new: Sum) -> None:
        if cell in self.sums:
            self.sums[cell].add(new.tally, new.unfolded)
        else:
            self.sums[cell] = new

    def _write(self) -> None:
        self.rows.write(self)
        self.deposits, self.tombstones, self.sums = [], [], {}

    def _now_known(self, id_hash: bytes, record: Record) -> Record:
        self.known[id_hash] = record
        return record


def waiting(portion: Portion) -> int:
    """How many bytes of a portion are not in its sum."""
    return 0 if portion.tally.cells.size else len(portion.reports)
