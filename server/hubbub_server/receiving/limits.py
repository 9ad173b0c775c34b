"""This file bounds what one ingest key may send: requests in a minute, reports in a day.

A minute begins with the first request of a key, and a day with its first report. Counting goes by key alone,
so no address is held. Each process allows its share of what all on one store may.
"""

import math
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from hubbub.errors import RefusedError, StorageError

RECOUNT = 1.0  # seconds for which the number of processes is taken to stay the same


class Limits:
    """The bounds, 0 for none.

    instances: how many processes serve on this store.
    """

    __slots__ = ("_counts", "_instances", "_reports", "_requests")

    def __init__(
        self,
        *,
        requests_per_minute: int = 0,
        reports_per_day: int = 0,
        instances: Callable[[], int] = lambda: 1,
    ) -> None:
        self._requests = (
            RateLimitItemPerMinute(requests_per_minute, namespace="requests") if requests_per_minute else None
        )
        self._reports = RateLimitItemPerDay(reports_per_day, namespace="reports") if reports_per_day else None
        self._instances = instances
        self._counts: dict[int, _Counts] = {}  # by process id, as a fork may copy a lock that is held

    def join(self) -> None:
        """Be counted by the other processes from now on, if there is anything to share."""
        if self._requests or self._reports:
            self._instances()

    def request(self, key: str) -> None:
        """Count a request.

        Raises RefusedError if the key has had its number.
        """
        self._count(self._requests, key, 1, "the requests of this key for this minute are used up")

    def reports(self, key: str, count: int) -> None:
        """Count the reports of a batch, all or none.

        Raises RefusedError if the key has had its number, or if it never has so many.
        """
        if self._reports and count > self._reports.amount:
            raise RefusedError(
                "too_large", f"a key may send {self._reports.amount} reports a day; split the batch"
            )
        self._count(self._reports, key, count, "the reports of this key for this day are used up")

    def _count(self, limit: RateLimitItem | None, key: str, count: int, words: str) -> None:
        if limit is None:
            return
        counts = self._counts.get(os.getpid()) or self._counts.setdefault(os.getpid(), _Counts())
        with counts.lock:
            if time.monotonic() - counts.seen > RECOUNT:
                counts.look(self._instances)
            share = count * counts.processes if count > 1 else min(counts.processes, limit.amount)
            wait = counts.count(limit, key, share)  # one always finds a place in a window
        if wait:
            raise RefusedError("rate_limited", words, retry_after=wait)


def _storage() -> MemoryStorage:
    """Return a storage that starts no thread every 10 ms, for which every request would wait, to forget."""
    storage = MemoryStorage()
    storage.timer = threading.main_thread()  # type: ignore[assignment]  # which runs already, so none is started
    return storage


@dataclass(slots=True)
class _Counts:
    """What the keys of one process sent. processes: how many there were when they were last counted."""

    storage: MemoryStorage = field(default_factory=_storage)
    lock: threading.Lock = field(default_factory=threading.Lock)
    seen: float = -math.inf
    processes: int = 1
    limiter: FixedWindowRateLimiter = field(init=False)

    def __post_init__(self) -> None:
        self.limiter = FixedWindowRateLimiter(self.storage)

    def count(self, limit: RateLimitItem, key: str, cost: int) -> int:
        """Count something, or return in how many seconds the number is whole again."""
        again = self.limiter.get_window_stats(limit, key).reset_time - time.time()
        if again > limit.get_expiry():  # the clock was set back
            self.limiter.clear(limit, key)
        if self.limiter.test(limit, key, cost=cost):  # as what is refused uses nothing up
            self.limiter.hit(limit, key, cost=cost)
            return 0
        return max(1, math.ceil(again))

    def look(self, instances: Callable[[], int]) -> None:
        """Count the processes."""
        with suppress(StorageError):  # a batch meets the same trouble, or none
            self.processes = max(1, instances())
        self.seen = time.monotonic()
