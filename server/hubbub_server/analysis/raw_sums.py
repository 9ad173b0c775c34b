"""This file completes sums that are too large to be written with every batch.

A sum of over 65,536 numbers is added to later, many reports at a time; an estimate adds those that wait.
"""

from collections.abc import Callable, Iterator
from itertools import groupby

from hubbub.errors import DomainError
from hubbub.tally import Tally
from hubbub_server.catalog import Question
from hubbub_server.store.protocol import Batches

MOST_AT_ONCE = 2**26  # numbers in all sums of an answer, 8 bytes each
_TOGETHER = 2**23  # bytes of reports that are added up at once

Sum = tuple[int, bytes, Tally]  # period, labels, and what is asked for


def sums(
    batches: Batches,
    question: Question,
    periods: range,
    *,
    counts: Callable[[bytes], bool] = lambda _: True,
) -> Iterator[Sum]:
    """Yield the tally of each period and combination of labels that counts.

    Raises DomainError if they are too many to be read at once.
    """
    kept = (each for each in batches.tallies(question.metric.id, periods) if counts(each[1]))
    if question.is_summed:
        return kept
    many = sum(1 for _ in kept)
    if many * question.cells > MOST_AT_ONCE:
        raise DomainError(
            f"the sums of {many:,} periods and labels are too large together; ask for fewer periods"
        )
    return _read(batches, question, periods, counts)


def _read(
    batches: Batches, question: Question, periods: range, counts: Callable[[bytes], bool]
) -> Iterator[Sum]:
    pieces = batches.pieces(question.metric.id, periods)
    for (period, labels), own in groupby(pieces, key=lambda row: row[:2]):
        if not counts(labels):
            continue
        total, waiting, size = Tally.zero(question.cells), list[bytes](), 0
        for _, _, piece in own:
            if isinstance(piece, Tally):
                total = total + piece
                continue
            waiting.append(piece)
            size += len(piece)
            if size >= _TOGETHER:
                total, waiting, size = total + question.tally(b"".join(waiting)), [], 0
        yield period, labels, total + question.tally(b"".join(waiting))
