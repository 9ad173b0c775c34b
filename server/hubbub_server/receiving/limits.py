"""This file bounds what one ingest key may send: requests in a minute, reports in a day.

Counting goes by key alone, so no address is held. Each process allows its share of what all on one store may.
"""

import math
import os
import threading
import time
from collections.abc import Callable

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from hubbub.errors import RefusedError

RECOUNT = 10.0  # seconds for which the number of processes is taken to stay the same


class Limits:
    """The bounds, 0 for none.

    instances: how many processes serve on this store.
    """

    __slots__ = ("_counters", "_instances", "_lock", "_reports", "_requests", "_share")

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
        self._instances, self._share = instances, (-math.inf, 1)
        self._counters: dict[int, SlidingWindowCounterRateLimiter] = {}  # by process id: they hold a thread
        self._lock = threading.Lock()

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

        Raises RefusedError if the key has had its number.
        """
        self._count(self._reports, key, count, "the reports of this key for this day are used up")

    def _count(self, limit: RateLimitItem | None, key: str, count: int, words: str) -> None:
        if limit is None:
            return
        with self._lock:
            counter = self._counters.get(os.getpid()) or self._counters.setdefault(
                os.getpid(), SlidingWindowCounterRateLimiter(MemoryStorage())
            )
            if counter.hit(limit, key, cost=count * self._processes()):
                return
            again = counter.get_window_stats(limit, key).reset_time - time.time()
        raise RefusedError("rate_limited", words, retry_after=max(1, math.ceil(again)))

    def _processes(self) -> int:
        counted, processes = self._share
        if time.monotonic() - counted > RECOUNT:
            processes = max(1, self._instances())
            self._share = time.monotonic(), processes
        return processes
