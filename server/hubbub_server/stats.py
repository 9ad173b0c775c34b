"""This file counts what the collector does, for Prometheus.

The figures are those of one process, from its start: no values, ids, keys or addresses, and of no event the
time. Labels have few values, all of them ours. Counting is a few additions under one lock, as every request
pays for it; the library is asked only when the figures are read.
"""

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from hubbub_server.store.protocol import Upkeep
from hubbub_server.store.records import Change, Record

TEXT = "text/plain; version=0.0.4; charset=utf-8"
_OF_BATCHES = ("/v1/batches", "POST")
_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # the upper ends of a histogram


class Stats(Collector):
    """The figures of one app; a class of its own because the library asks for one."""

    __slots__ = ("_batches", "_commits", "_lock", "_reports", "_requests", "_seconds", "_upkeep", "_waiting")

    def __init__(self, upkeep: Upkeep) -> None:
        self._upkeep, self._lock = upkeep, threading.Lock()
        self._requests = Counter[tuple[str, ...]]()
        # that nothing came can be seen only of a figure that is there before something does
        self._batches, self._reports = (Counter[tuple[str, ...]]({("kept",): 0}) for _ in range(2))
        self._commits, self._seconds = [0] * (len(_SECONDS) + 1), 0.0
        self._waiting: dict[int, float] = {}  # by thread: since when its change waits to be durable

    def request(self, route: str, method: str, status: int, code: str) -> None:
        """Count an answer, and with it a batch that was refused, if it was read or not.

        route: its rule, not its path; code: of a problem, or nothing.
        """
        with self._lock:
            self._requests[route, method, str(status), code] += 1
            if code and (route, method) == _OF_BATCHES:
                self._batches[code,] += 1

    def refused(self, code: str, reports: int) -> None:
        """Count the reports of a batch that was read and refused. code: of the problem."""
        with self._lock:
            self._reports[code,] += reports

    def taken(self, sent: int, counted: int | None) -> None:
        """Count a batch that was not refused. counted: of the reports sent; None if it was known before."""
        outcome, number = ("known", sent) if counted is None else ("kept", counted)
        with self._lock:
            self._batches[outcome,] += 1
            self._reports[outcome,] += number
            if sent > number:
                self._reports["impossible_report",] += sent - number

    def watch(self, submit: Callable[[Change], Record]) -> Callable[[Change], Record]:
        """Return the same, timed, and known to wait while it does."""

        def watched(change: Change) -> Record:
            thread, start = threading.get_ident(), time.monotonic()
            self._waiting[thread] = start
            try:
                return submit(change)
            finally:
                del self._waiting[thread]
                seconds = time.monotonic() - start
                with self._lock:
                    self._commits[bisect_left(_SECONDS, seconds)] += 1
                    self._seconds += seconds

        return watched

    def longest_wait(self) -> float:
        """Return for how many seconds the change that waits longest has waited; 0 if none does."""
        since, now = list(self._waiting.values()), time.monotonic()
        return max((now - start for start in since), default=0.0)

    def text(self) -> bytes:
        """Return all figures as Prometheus reads them.

        Raises StorageError if the store can't say how large it is.
        """
        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry)

    def describe(self) -> list[Metric]:
        """Name nothing in advance."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield every figure."""
        with self._lock:
            counted = [
                _counter(
                    "requests",
                    "Requests answered; code is that of the problem.",
                    ("route", "method", "status", "code"),
                    self._requests,
                ),
                _counter("batches", "Batches: kept, known already, or refused.", ("outcome",), self._batches),
                _counter("reports", "Reports: kept, known already, or refused.", ("outcome",), self._reports),
                _histogram("commit_seconds", "Until a change is durable.", self._commits, self._seconds),
            ]
        yield from counted
        usage = self._upkeep.usage()
        for name, words, value in (
            ("hubbub_waiting_changes", "Changes that wait to be durable.", len(self._waiting)),
            ("hubbub_database_bytes", "Bytes that the database takes, its log included.", usage.taken),
            ("hubbub_disk_free_bytes", "Bytes that are free on its disk.", usage.free),
        ):
            if value is not None:
                yield GaugeMetricFamily(name, words, value=value)


def _counter(name: str, words: str, labels: tuple[str, ...], counted: Counter[tuple[str, ...]]) -> Metric:
    family = CounterMetricFamily(f"hubbub_{name}", words, labels=labels)
    for values, number in sorted(counted.items()):
        family.add_metric(values, number)
    return family


def _histogram(name: str, words: str, counts: list[int], total: float) -> Metric:
    ends = [*map(str, _SECONDS), "+Inf"]
    buckets = [(end, float(sum(counts[: number + 1]))) for number, end in enumerate(ends)]
    return HistogramMetricFamily(f"hubbub_{name}", words, buckets=buckets, sum_value=total)
