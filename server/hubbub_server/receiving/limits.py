"""This file bounds what one ingest key may send: requests in a minute, reports in a day.

Counting goes by key alone, so no address is held. Each process allows its share of what all on one store may.
"""

import math
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from hubbub.errors import RefusedError, StorageError
from hubbub.period import DAY

RECOUNT = 10.0  # seconds for which the number of processes is taken to stay the same
PARTS = 60  # of a minute or day: what was sent is counted by part, and none longer than that and a part
_SPANS = {"requests": ("minute", 60), "reports": ("day", DAY)}


class Limits:
    """The bounds, 0 for none.

    instances: how many processes serve on this store. steady: a clock that nobody sets.
    """

    __slots__ = ("_counts", "_instances", "_reports", "_requests", "_steady")

    def __init__(
        self,
        *,
        requests_per_minute: int = 0,
        reports_per_day: int = 0,
        instances: Callable[[], int] = lambda: 1,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._requests, self._reports = requests_per_minute, reports_per_day
        self._instances, self._steady = instances, steady
        self._counts: dict[int, _Counts] = {}  # by process id, as a fork may copy a lock that is held

    def join(self) -> None:
        """Be counted by the other processes from now on, if there is anything to share."""
        if self._requests or self._reports:
            self._instances()

    def request(self, key: str) -> None:
        """Count a request.

        Raises RefusedError if the key has had its number.
        """
        if self._requests:
            self._count("requests", key, 1, self._requests)

    def reports(self, key: str, count: int) -> None:
        """Count the reports of a batch, all or none.

        Raises RefusedError if the key has had its number.
        """
        if self._reports:
            self._count("reports", key, count, self._reports)

    def _count(self, what: str, key: str, count: int, most: int) -> None:
        span, seconds = _SPANS[what]
        counts = self._counts.get(os.getpid()) or self._counts.setdefault(os.getpid(), _Counts())
        now = self._steady()
        with counts.lock:
            if now - counts.seen > RECOUNT:
                counts.look(self._instances, now)
            sent = counts.sent.setdefault((what, key), Sent(seconds / PARTS))
            wait = sent.add(count, most // counts.processes, now)
        if wait:
            words = f"the {what} of this key for this {span} are used up"
            raise RefusedError("rate_limited", words, retry_after=math.ceil(wait))


@dataclass(slots=True)
class Sent:
    """What a key sent lately. length: seconds of a part."""

    length: float
    parts: dict[int, int] = field(default_factory=dict)  # by number of the part, in order

    def add(self, count: int, most: int, now: float) -> float:
        """Count something, if it and what was sent lately are no more than ``most``.

        Return 0, or in how many seconds it may come again.

        >>> sent = Sent(1.0)
        >>> [sent.add(1, 2, now) for now in (0.5, 30.0, 31.5, 61.0)]
        [0.0, 0.0, 29.5, 0.0]
        """
        part = int(now // self.length)
        self.parts = {number: sent for number, sent in self.parts.items() if number + PARTS >= part}
        over = sum(self.parts.values()) + count - most
        if over <= 0:
            self.parts[part] = self.parts.get(part, 0) + count
            return 0.0
        for number, sent in self.parts.items():
            over -= sent
            if over <= 0:
                return (number + PARTS + 1) * self.length - now
        return (PARTS + 1) * self.length  # more than may come at once


@dataclass(slots=True)
class _Counts:
    """What the keys of one process sent. processes: how many there were when they were last counted."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    sent: dict[tuple[str, str], Sent] = field(default_factory=dict)  # by what, and number of the key
    seen: float = -math.inf
    processes: int = 1

    def look(self, instances: Callable[[], int], now: float) -> None:
        """Count the processes."""
        with suppress(StorageError):  # a batch meets the same trouble, or none
            self.processes = max(1, instances())
        self.seen = now
