"""This file holds the recorder: a device at work on one manifest."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import inf

from hubbub.epsilon import decimal_text
from hubbub.errors import DomainError, ManifestError
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub.period import period_at, start_of
from hubbub_client import absence, journal, ledger
from hubbub_client.answer import Fact, Rules, answer
from hubbub_client.consent import Permission
from hubbub_client.device import Device
from hubbub_client.outcome import Recorded, Skipped, Stats
from hubbub_client.question import Question
from hubbub_client.sender import Sender


@dataclass(frozen=True, slots=True)
class Moment:
    """What holds right now: the time, and whether the owner lets anything be recorded."""

    clock: Callable[[], float]
    permission: Permission


class Recorder:
    """Answers the metrics of one manifest on one device."""

    def __init__(
        self, manifest: Manifest, device: Device, sender: Sender, *, rules: Rules, moment: Moment
    ) -> None:
        self.device, self.sender = device, sender
        self._manifest, self._rules, self._moment = manifest, rules, moment
        self._questions: dict[str, Question] = {}
        self._absents = absence.declared(manifest.metrics)
        self._nothing_over_until = 0.0
        self._forgotten = 0  # interruptions of permission that the device has been told of
        sender.look_back = self.look_back
        self._settled: dict[str, tuple[float, Skipped]] = {}  # answered until then: no need to ask the disk

    def record(self, metric: Metric, value: object, labels: tuple[int, ...]) -> Recorded | Skipped:
        """Answer a metric with a value that its domain has encoded.

        Raises BusyError and StorageError.
        """
        until, settled = self._settled.get(metric.name, (0.0, None))
        now = self._moment.clock()
        if settled is not None and now < until and self._is_looked_back(now):
            return settled
        try:
            question = self.question(metric)
        except (DomainError, ManifestError) as error:
            return Skipped("policy", str(error))
        with self.device.transaction() as connection:
            obstacle = self._moment.permission.obstacle()  # withdrawn at this moment
            if obstacle is not None:
                return obstacle
            now = ledger.latest(connection, self._moment.clock())
            interruptions = self._report_absences(connection, now)
            fact = Fact(value, labels, period_at(now, metric.period))
            outcome = answer(connection, question, fact, now=now, rules=self._rules)
        self._nothing_over_until, self._forgotten = absence.next_end(self._absents, now), interruptions
        if isinstance(outcome, Skipped) and outcome.code == "already_answered":
            until = inf if metric.once else start_of(fact.period + 1, metric.period)
            self._settled[metric.name] = (until, outcome)
        self.sender.nudge(is_new=isinstance(outcome, Recorded))
        return outcome

    def look_back(self) -> bool:
        """Report about the periods that ended in silence; return whether there will be more of them.

        Raises BusyError and StorageError.
        """
        if not self._absents or not self.device.exists or self._moment.permission.obstacle() is not None:
            return bool(self._absents)
        if not self._is_looked_back(self._moment.clock()):
            with self.device.transaction(create=False) as connection:
                now = ledger.latest(connection, self._moment.clock())
                interruptions = self._report_absences(connection, now)
            self._nothing_over_until, self._forgotten = absence.next_end(self._absents, now), interruptions
        return True

    def question(self, metric: Metric) -> Question:
        """Return a metric made ready, once.

        Raises ManifestError or DomainError if its mechanism is still open or unknown.
        """
        if metric.name not in self._questions:
            self._questions[metric.name] = Question.of(metric)
        return self._questions[metric.name]

    def prepare(self) -> None:
        """Make every metric ready that can be, and import what sending needs."""
        for metric in self._manifest.metrics:
            if metric.is_resolved:
                self.question(metric)
        self.sender.prepare()

    def forget_consent(self) -> None:
        """Let no time without consent be reported about.

        Raises BusyError and StorageError.
        """
        self._nothing_over_until = 0.0
        with self.device.transaction(create=False) as connection:
            absence.forget(connection)

    def remaining(self, source: str) -> Decimal:
        """Return the epsilon that a source, or with "" the device, may spend now.

        Raises BusyError and StorageError.
        """
        with self.device.reading() as connection:
            now = ledger.latest(connection, self._moment.clock())
            caps = ledger.caps(connection, source, self._rules.limits, now)
        return Decimal(decimal_text(min(cap.left for cap in caps)))

    def stats(self, skipped: Mapping[str, int]) -> Stats:
        """Return counts.

        Raises BusyError and StorageError.
        """
        with self.device.reading() as connection:
            counts = {} if connection is None else journal.counts(connection)

        def by_code(wanted: str) -> dict[str, int]:
            return {code: count for (status, code), count in counts.items() if status == wanted}

        return Stats(
            waiting=sum(by_code("waiting").values()),
            sent=sum(by_code("sent").values()),
            refused=by_code("refused"),
            dropped=by_code("dropped"),
            skipped=dict(skipped),
        )

    def close(self) -> None:
        """Stop sending and close the files."""
        self.sender.close()
        self.device.close()

    def _is_looked_back(self, now: float) -> bool:
        return now < self._nothing_over_until and self._forgotten == self._moment.permission.interruptions

    def _report_absences(self, connection: sqlite3.Connection, now: int) -> int:
        """Report about what is over, and return how many interruptions are behind what was reported."""
        interruptions = self._moment.permission.interruptions
        if self._is_looked_back(now):
            return interruptions
        if self._forgotten != interruptions:
            absence.forget(connection)
        absence.see(connection, self._absents, now)
        for one, period in absence.missed(connection, self._absents, now):
            fact = Fact(one.value, one.labels, period)
            answer(connection, self.question(one.metric), fact, now=now, rules=self._rules)
        return interruptions
