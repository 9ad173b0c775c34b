"""This file audits a device from outside: how surely do the bytes that leave tell two people apart?

An event is a set of messages, such as "bit 3 is 1 and bit 9 is 0". If it is r times as likely for one person
as for another, epsilon is at least log r. Events are learned on some messages, greedily bit by bit, and
tested on others; one-sided Clopper-Pearson bounds share an error over all of them. So the bound holds
whatever was learned, and takes nothing about the mechanism on trust.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub import registry
from hubbub.batch import Batch, Column, encode
from hubbub.coins import Coins
from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub_lab.clopper_pearson import at_least, at_most
from hubbub_lab.population import corners

ID = slice(4, 20)  # where the id stands in a batch: it is drawn apart from all values
CAUTION = 5  # standard errors that a ratio must stand out by to be believed while learning

Event: TypeAlias = tuple[tuple[int, bool], ...]  # bits of a message, and what they are


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """What one person sent in many runs.

    different: the messages, shape (kinds, bytes). counts: how often each was sent, shape (kinds,).
    """

    different: NDArray[np.uint8]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, sent: Sequence[bytes]) -> "Messages":
        """Count messages.

        Raises DomainError if their lengths differ, since a length may tell as much as a bit.
        """
        widths = set(map(len, sent))
        if len(widths) != 1:
            raise DomainError(f"messages must all be equally long, got {len(widths)} lengths")
        return cls.in_a_row(b"".join(sent), widths.pop())

    @classmethod
    def in_a_row(cls, sent: bytes, width: int) -> "Messages":
        """Count messages of so many bytes, one after the other."""
        different, counts = np.unique(np.frombuffer(sent, dtype=f"V{width}"), return_counts=True)
        return cls(different.view(np.uint8).reshape(different.size, -1), counts)

    def hits(self, event: Event) -> int:
        """Count the messages in an event."""
        inside = np.ones(len(self.counts), dtype=np.bool_)
        for bit, is_one in event:
            inside &= self.bits([bit])[:, 0] == is_one
        return int(self.counts[inside].sum())

    def bits(self, positions: Sequence[int]) -> NDArray[np.uint8]:
        """Return bits by position, lowest of each byte first, shape (kinds, positions)."""
        at = np.array(positions)
        bits: NDArray[np.uint8] = self.different[:, at // 8] >> (at % 8).astype(np.uint8) & np.uint8(1)
        return bits


Pair: TypeAlias = tuple[Messages, Messages]  # of two people


def black_box(metric: Metric, *, reports: int, coins: Coins, error: float = 1e-7) -> float:
    """Return a lower bound of epsilon from the bytes that the two ends of a metric's domain send.

    reports: of each end. error: the chance that the bound is wrong.

    >>> from hubbub.declaration import boolean
    >>> from hubbub_lab.seeded_coins import seeded_coins
    >>> metric = boolean("dark", epsilon="1.0").of("notepad")
    >>> 0.8 < black_box(metric, reports=20_000, coins=seeded_coins(7)) < 1
    True
    """
    learned, tested = (_runs(metric, size, coins) for size in (reports // 2, reports - reports // 2))
    return epsilon_at_least(learned, tested, error=error)


def _runs(metric: Metric, reports: int, coins: Coins) -> Pair:
    mechanism, domain = registry.build(metric), metric.domain
    listed = corners(domain)
    first = int(domain.kind == "selection")  # where utilities that are all alike pick alike
    ends = [listed[first], listed[-1 - first]]
    one, other = (
        encoded(metric.id, mechanism.perturb(np.repeat(np.array([end]), reports, axis=0), coins))
        for end in ends
    )
    return one, other


def encoded(metric: bytes, reports: NDArray[Any]) -> Messages:
    """Count the messages that reports become, each in a batch of its own, ids removed.

    metric: its id. Equal reports are encoded once, since nothing but the id tells their batches apart.
    """
    data = reports.tobytes()
    counted = Messages.in_a_row(data, len(data) // len(reports))
    batches = (Batch(bytes(16), (Column(metric, 1, (), 1, row.tobytes()),)) for row in counted.different)
    bodies = np.frombuffer(b"".join(map(encode, batches)), dtype=np.uint8)
    return Messages(np.delete(bodies.reshape(len(counted.counts), -1), ID, axis=1), counted.counts)


def epsilon_at_least(learned: Pair, tested: Pair, *, error: float = 1e-7) -> float:
    """Return a lower bound of epsilon, wrong with a probability of at most ``error``.

    learned, tested: independent runs of the same two people.
    """
    pairs = [(_learn(*learned), tested), (_learn(*learned[::-1]), tested[::-1])]
    share = error / (2 * len(pairs))
    return max(0.0, *(_log_ratio(event, one, other, share) for event, (one, other) in pairs))


def _log_ratio(event: Event, one: Messages, other: Messages, error: float) -> float:
    lower = at_least(one.hits(event), int(one.counts.sum()), error)
    upper = at_most(other.hits(event), int(other.counts.sum()), error)
    return math.log(lower / upper) if lower else 0.0


def _learn(one: Messages, other: Messages) -> Event:
    """Find messages that are far likelier for one than for the other: add the best bit while that helps."""
    both = np.concatenate([one.different, other.different])
    varying = np.flatnonzero((both != both[0]).any(axis=0)).tolist()
    positions = [8 * byte + bit for byte in varying for bit in range(8)]
    sides = [(messages.bits(positions), messages.counts) for messages in (one, other)]
    tries = [int(counts.sum()) for _, counts in sides]
    event: Event = ()
    reached = 0.0
    while positions:
        ones = [(counts @ bits, counts.sum()) for bits, counts in sides]
        hits = [np.array([total - one, one]) for one, total in ones]
        scores = _cautious_log_ratio(hits[0], tries[0], hits[1], tries[1])
        is_one, column = divmod(int(scores.argmax()), len(positions))
        if scores[is_one, column] <= reached:
            break
        reached = scores[is_one, column]
        event = (*event, (positions[column], bool(is_one)))
        sides = [
            (bits[inside], counts[inside]) for bits, counts in sides for inside in [bits[:, column] == is_one]
        ]
    return event


def _cautious_log_ratio(
    hits: NDArray[np.int64], tries: int, others: NDArray[np.int64], other_tries: int
) -> NDArray[np.float64]:
    lower, upper = np.maximum(hits, 0.5), others + 1.0
    doubt = CAUTION * (lower**-0.5 + upper**-0.5)
    scores: NDArray[np.float64] = np.log(lower / tries) - np.log(upper / other_tries) - doubt
    return scores
