"""This file adds up raw reports when they are asked for, of metrics whose sums are too large to be kept.

A sum of over 65,536 numbers would be written anew with every batch, however small; such a metric keeps its
reports only, and an estimate reads those of the periods asked for, once.
"""

from collections.abc import Iterator
from itertools import groupby

from hubbub.errors import DomainError
from hubbub.tally import Tally
from hubbub_server.catalog import Question
from hubbub_server.store.protocol import Batches

MOST_AT_ONCE = 2**26  # numbers in all sums of an answer, 8 bytes each
_TOGETHER = 2**23  # bytes of reports that are added up at once

Sum = tuple[int, bytes, Tally]  # period, labels, and what is asked for


def sums(batches: Batches, question: Question, periods: range) -> Iterator[Sum]:
    """Yield the tally of each period and combination of labels.

    Raises DomainError if they are too many to be held at once.
    """
    kept = batches.tallies(question.metric.id, periods)
    if question.is_summed:
        return kept
    many = sum(1 for _ in kept)
    if many * question.cells > MOST_AT_ONCE:
        raise DomainError(
            f"the sums of {many:,} periods and labels are too large together; ask for fewer periods"
        )
    return _read(batches, question, periods)


def _read(batches: Batches, question: Question, periods: range) -> Iterator[Sum]:
    rows = batches.raw(question.metric.id, periods)
    for (period, labels), own in groupby(rows, key=lambda row: row[:2]):
        total, waiting, size = Tally.zero(question.cells), [], 0
        for _, _, reports in own:
            waiting.append(reports)
            size += len(reports)
            if size >= _TOGETHER:
                total, waiting, size = total + question.tally(b"".join(waiting)), [], 0
        yield period, labels, total + question.tally(b"".join(waiting))
