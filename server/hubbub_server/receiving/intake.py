"""This file decides about batches: known already, refused whole, or kept but for impossible reports.

A batch is taken whole or not at all, but for single reports that no honest device sends: those are named in
the answer and not counted.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import msgspec
import numpy as np

from hubbub import period as periods
from hubbub.batch import Batch, Column, digest
from hubbub.errors import RefusedError
from hubbub.period import DAY, GRACE
from hubbub_server.catalog import Catalog, Question
from hubbub_server.receiving.receipt import Receipt, RefusedReport, Withdrawn
from hubbub_server.store.protocol import Batches
from hubbub_server.store.records import Cell, Change, Deposit, Portion, Record, Withdrawal

MOST_CELLS = 2**20  # 64-bit sums that a batch may add to: what it costs here however small it is
MOST_NAMED = 100  # refused reports that an answer lists; all are counted
TOGETHER = 2**20  # reports that are checked at once
WITHDRAWN = msgspec.json.encode(Withdrawn(withdrawn=True))


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a batch: its answer, and how many reports count now; None if it was known before."""

    answer: bytes
    counted: int | None


@dataclass(frozen=True, slots=True)
class Intake:
    """The way of a batch into the store.

    submit: makes a change durable before it returns.
    """

    batches: Batches
    catalog: Catalog
    submit: Callable[[Change], Record]
    clock: Callable[[], float]

    def receive(self, batch: Batch) -> Taken:
        """Keep a batch and return its answer once that is durable; of a known batch, the stored answer.

        Raises RefusedError, or StorageError if it can't be kept.
        """
        id_hash, fingerprint = _hash(batch.id), digest(batch)
        counted = None
        try:
            deposit = self._judge(batch, id_hash, fingerprint)
        except RefusedError:
            known = self.batches.find(id_hash)
            if known is None:
                raise
            record = known
        else:
            record = self.submit(deposit)
            if record.answer is deposit.answer:  # and not an earlier one, however equal
                counted = sum(portion.tally.n for portion in deposit.portions)
        if record.state == "withdrawn":
            raise RefusedError("withdrawn", "this batch was withdrawn and is not counted")
        if record.digest != fingerprint:
            raise RefusedError("id_conflict", "a batch with other content was kept under this id")
        return Taken(record.answer, counted)

    def withdraw(self, batch_id: bytes) -> bytes:
        """Subtract a batch, or refuse it if it ever comes; return the answer once that is durable.

        Raises RefusedError if the raw reports are gone.
        """
        record = self.submit(Withdrawal(_hash(batch_id), _tombstone_day(self.clock()), self.catalog.add_up))
        if record.state == "folded":
            raise RefusedError("already_folded", "the raw reports of this batch are no longer kept")
        return WITHDRAWN

    def _judge(self, batch: Batch, id_hash: bytes, fingerprint: bytes) -> Deposit:
        now = self.clock()
        questions = [self.catalog.get(column.metric) for column in batch.columns]
        faults = [
            {"column": number, "code": code}
            for number, (column, question) in enumerate(zip(batch.columns, questions, strict=True))
            if (code := _fault(column, question, now))
        ]
        if faults:
            raise RefusedError(
                str(faults[0]["code"]),
                f"{len(faults)} of {len(batch.columns)} columns can't be taken, so nothing was kept",
                columns=faults,
            )
        cells = [(column.metric, column.period, bytes(column.labels)) for column in batch.columns]
        asked = {cell: question for cell, question in zip(cells, questions, strict=True) if question}
        if sum(question.cells for question in asked.values() if question.is_summed) > MOST_CELLS:
            raise RefusedError("too_large", f"the batch needs over {MOST_CELLS:,} sums; split its columns")
        checked = [_check(column, asked[cell]) for column, cell in zip(batch.columns, cells, strict=True)]
        kept: dict[Cell, list[bytes]] = {cell: [] for cell in asked}  # columns that share one are kept as one
        for cell, (reports, _) in zip(cells, checked, strict=True):
            kept[cell].append(reports)
        ends = {
            cell: periods.start_of(cell[1] + 1, question.metric.period) // DAY
            for cell, question in asked.items()
        }
        portions = tuple(
            Portion(*cell, ends[cell], question.sum_up(reports), reports)
            for cell, question in asked.items()
            if (reports := b"".join(kept[cell]))
        )
        answer = _answer(
            sum(column.count for column in batch.columns),
            sum(portion.tally.n for portion in portions),
            [named for _, named in checked],
        )
        return Deposit(id_hash, fingerprint, max(ends.values()) + GRACE // DAY + 1, answer, portions)


def _fault(column: Column, question: Question | None, now: float) -> str:
    if question is None:
        return "unknown_metric"
    metric = question.metric
    if column.width != question.mechanism.layout.itemsize:
        return "wrong_width"
    if len(column.labels) != len(metric.labels) or any(
        position >= len(label.values) for position, label in zip(column.labels, metric.labels, strict=True)
    ):
        return "wrong_labels"
    if periods.is_open(column.period, metric.period, now):
        return ""
    started = periods.start_of(column.period, metric.period) <= now
    return "period_closed" if started else "period_not_started"


def _check(column: Column, question: Question) -> tuple[bytes, list[int]]:
    """Return the possible reports, and the positions of others: of all, if they are few."""
    reports = np.frombuffer(column.reports, dtype=question.mechanism.layout)
    starts = range(0, column.count, TOGETHER)
    masks = [question.mechanism.check(reports[start : start + TOGETHER]) for start in starts]
    if sum(map(np.count_nonzero, masks)) == column.count:
        return column.reports, []
    others = (
        start + int(place)
        for start, mask in zip(starts, masks, strict=True)
        for place in np.flatnonzero(~mask)  # of a part: 8 bytes a position
    )
    return reports[np.concatenate(masks)].tobytes(), list(islice(others, MOST_NAMED))


def _answer(sent: int, accepted: int, named: list[list[int]]) -> bytes:
    """Write the answer. named: by column, the positions of impossible reports."""
    refused = [
        RefusedReport(number, position, "impossible_report")
        for number, positions in enumerate(named)
        for position in positions[:MOST_NAMED]
    ]
    reasons = {"impossible_report": sent - accepted} if refused else {}
    return msgspec.json.encode(Receipt(accepted, refused[:MOST_NAMED], reasons))


def _tombstone_day(now: float) -> int:
    """Return the last day on which a batch that is on its way now may arrive, as coarse as a period."""
    end = periods.start_of(periods.period_at(now, 28) + 2, 28)
    return (end + GRACE) // DAY + 1


def _hash(batch_id: bytes) -> bytes:
    return hashlib.sha256(batch_id).digest()
