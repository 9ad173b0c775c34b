"""This file knows the metrics: every id ever published, with the mechanism that decodes its reports.

An id pins a metric's definition, so what was once built is right for ever.
"""

import json
import re
from dataclasses import dataclass, field

import numpy as np

from hubbub import registry
from hubbub.declaration import metric_of
from hubbub.errors import RefusedError, StorageError
from hubbub.mechanism import Mechanism
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_server.store.protocol import Manifests
from hubbub_server.store.records import StoredMetric

MOST_SUMMED = 2**16  # numbers in a sum that is written with every batch

_ID = re.compile(r"[0-9a-f]{64}")
_START = re.compile(r"[0-9a-f]{8,63}")  # of an id


@dataclass(frozen=True, slots=True)
class Question:
    """A metric with its mechanism.

    cells: how many numbers a tally of it has.
    """

    metric: Metric
    mechanism: Mechanism
    cells: int

    @property
    def is_summed(self) -> bool:
        """Whether its reports are added up as they come in, and not later."""
        return self.cells <= MOST_SUMMED

    def tally(self, reports: bytes) -> Tally:
        """Tally checked reports."""
        return self.mechanism.tally(np.frombuffer(reports, dtype=self.mechanism.layout))

    def sum_up(self, reports: bytes) -> Tally:
        """Return what is added to the sums at once: of a metric that is summed later, only how many."""
        if self.is_summed:
            return self.tally(reports)
        return Tally(len(reports) // self.mechanism.layout.itemsize, np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Catalog:
    """The metrics of a store."""

    manifests: Manifests
    _built: dict[bytes, Question] = field(default_factory=dict)

    def get(self, metric: bytes) -> Question | None:
        """Return a metric by its id, None if it was never published."""
        if metric not in self._built:
            stored = self.manifests.metric(metric)
            if stored is None:
                return None
            self._built[metric] = _build(stored)
        return self._built[metric]

    def find(self, text: str) -> Question:
        """Return a metric by its id in hex, 8 digits or more of that, its name, or app/name.

        A name stands for its newest version. Raises RefusedError if there is none, or if it may be several.
        """
        if _ID.fullmatch(text):
            found = self.get(bytes.fromhex(text))
            if found:
                return found
        app, _, name = text.rpartition("/")
        every = self.manifests.metrics()
        named = [stored for stored in every if stored.name == name and app in ("", stored.app)]
        if not named and _START.fullmatch(text):
            named = [stored for stored in every if stored.id.hex().startswith(text)]
            if len(named) > 1:
                raise RefusedError("bad_query", "several ids begin so; write more of the one that is meant")
        if not named:
            known = "hubbub-server metrics lists those that are, as does GET /v1/metrics"
            raise RefusedError("not_found", f"no metric of this id or name is published here; {known}")
        if len({stored.app for stored in named}) > 1:
            raise RefusedError("bad_query", "several apps have a metric of this name; write app/name")
        newest = self.get(named[0].id)
        assert newest  # noqa: S101 - a metric is never deleted
        return newest

    def versions(self, metric: Metric) -> tuple[Question, ...]:
        """Return all metrics of an app that ever had the name of this one, the newest first."""
        ids = [
            stored.id
            for stored in self.manifests.metrics()
            if (stored.app, stored.name) == (metric.app, metric.name)
        ]
        return tuple(filter(None, map(self.get, ids)))

    def add_up(self, metric: bytes, reports: bytes) -> Tally:
        """Tally raw reports that were checked when they came in.

        Raises StorageError for a metric that was never published.
        """
        question = self.get(metric)
        if question is None:
            raise StorageError("the database holds reports of a metric that it does not know")
        return question.tally(reports)


def _build(stored: StoredMetric) -> Question:
    metric = metric_of(stored.name, json.loads(stored.definition)).of(stored.app)
    if metric.id != stored.id:
        raise StorageError("a stored metric does not have the id that it is stored under")
    mechanism = registry.build(metric)
    return Question(metric, mechanism, mechanism.tally(np.zeros(0, mechanism.layout)).cells.size)
