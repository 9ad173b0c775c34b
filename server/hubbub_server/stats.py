"""This file counts what the collector does, for Prometheus.

The figures are those of one process, from its start: no values, ids, keys or addresses, and of no event the
time. Labels have few values, all of them ours.
"""

import threading
import time
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from hubbub_server.store.protocol import Change, Record, Upkeep

TEXT = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Stats:
    """Counters of one app, in a registry of its own."""

    __slots__ = ("_batches", "_commits", "_registry", "_reports", "_requests", "_upkeep", "_waiting")

    def __init__(self, upkeep: Upkeep) -> None:
        self._upkeep = upkeep
        self._waiting: dict[int, float] = {}  # by thread: since when its change waits to be durable
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "hubbub_requests",
            "Requests answered; code is that of the problem.",
            ("route", "method", "status", "code"),
            registry=registry,
        )
        self._batches = Counter(
            "hubbub_batches", "Batches: kept, known already, or refused.", ("outcome",), registry=registry
        )
        self._reports = Counter(
            "hubbub_reports", "Reports: kept, known already, or refused.", ("outcome",), registry=registry
        )
        self._commits = Histogram(
            "hubbub_commit_seconds",
            "How long a change waits until it is durable.",
            buckets=_SECONDS,
            registry=registry,
        )

    def request(self, route: str, method: str, status: int, code: str) -> None:
        """Count an answer. route: its rule, not its path; code: of a problem, or nothing."""
        self._requests.labels(route, method, status, code).inc()

    def batch(self, outcome: str, reports: int) -> None:
        """Count a batch and its reports by what became of them: "kept", "known", or a problem's code."""
        self._batches.labels(outcome).inc()
        self._reports.labels(outcome).inc(reports)

    def taken(self, sent: int, counted: int | None) -> None:
        """Count a batch that was not refused. counted: of the reports sent; None if it was known before."""
        self.batch("known" if counted is None else "kept", sent if counted is None else counted)
        if counted is not None and sent > counted:
            self._reports.labels("impossible_report").inc(sent - counted)

    def watch(self, submit: Callable[[Change], Record]) -> Callable[[Change], Record]:
        """Return the same, timed, and known to wait while it does."""

        def watched(change: Change) -> Record:
            thread, start = threading.get_ident(), time.monotonic()
            self._waiting[thread] = start
            try:
                return submit(change)
            finally:
                del self._waiting[thread]
                self._commits.observe(time.monotonic() - start)

        return watched

    def longest_wait(self) -> float:
        """Return for how many seconds the change that waits longest has waited; 0 if none does."""
        since, now = list(self._waiting.values()), time.monotonic()
        return max((now - start for start in since), default=0.0)

    def text(self) -> bytes:
        """Return all figures as Prometheus reads them.

        Raises StorageError if the store can't say how large it is.
        """
        return generate_latest(self)  # which asks a registry to collect, and no more

    def collect(self) -> Iterator[Metric]:
        """Yield what was counted and what is so now, without the times at which counting began."""
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
        usage = self._upkeep.usage()
        for name, words, value in (
            ("hubbub_waiting_changes", "Changes that wait to be durable.", len(self._waiting)),
            ("hubbub_database_bytes", "Bytes that the database takes, its log included.", usage.taken),
            ("hubbub_disk_free_bytes", "Bytes that are free on its disk.", usage.free),
        ):
            yield GaugeMetricFamily(name, words, value=value)
