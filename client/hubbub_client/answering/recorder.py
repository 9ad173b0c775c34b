"""This file holds the recorder: a device at work on one manifest."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import inf
from typing import TYPE_CHECKING

from hubbub.epsilon import decimal_text
from hubbub.errors import DomainError, ManifestError
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub.period import period_at, start_of
from hubbub_client.answering import absence
from hubbub_client.answering.answer import Fact, Rules, answer
from hubbub_client.answering.question import Question
from hubbub_client.consent import Permission
from hubbub_client.outcome import Recorded, Skipped, Stats, Withdrawn
from hubbub_client.sending import withdrawals
from hubbub_client.sending.sender import Sender
from hubbub_client.storage import journal, ledger
from hubbub_client.storage.device import Device

if TYPE_CHECKING:
    from hubbub_client.maker import Maker


@dataclass(frozen=True, slots=True)
class Moment:
    """What holds right now: the time, and whether the owner lets anything be recorded."""

    clock: Callable[[], float]
    permission: Permission


class Recorder:
    """Answers the metrics of one manifest on one device."""

    def __init__(
        self,
        manifest: Manifest,
        device: Device,
        sender: Sender,
        *,
        rules: Rules,
        moment: Moment,
        maker: "Maker | None" = None,
    ) -> None:
        self.device, self.sender = device, sender
        self._manifest, self._rules, self._moment, self._maker = manifest, rules, moment, maker
        self._questions: dict[object, Question] = {}
        self._forms, self._declared = manifest.metrics, absence.declared(manifest.metrics)
        self._nothing_over_until = 0.0
        self._forgotten: dict[str, int] = {}  # interruptions of permission that the device has been told of
        sender.look_back = self.look_back
        self._settled: dict[str, tuple[float, Skipped]] = {}  # answered until then: no need to ask the disk

    def record(self, metric: Metric, value: object, labels: tuple[int, ...]) -> Recorded | Skipped:
        """Answer a metric with a value that its domain has encoded.

        Raises BusyError and StorageError.
        """
        now = self._moment.clock()
        asked = self.asked(metric)
        if asked is None:
            self.sender.nudge(is_new=False)
            return Skipped(
                "paused", f'"{metric.name}" is paused by the app\'s maker; nothing is sent or charged'
            )
        metric = asked
        until, settled = self._settled.get(metric.name, (0.0, None))
        if settled is not None and now < until and self._is_looked_back(now):
            return settled
        try:
            question = self.question(metric)
        except (DomainError, ManifestError) as error:
            return Skipped("policy", str(error))
        with self.device.transaction() as connection:
            obstacle = self._moment.permission.obstacle(metric.name)  # withdrawn at this moment
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

    def look_back(self, *, create: bool = False) -> bool:
        """Report about the periods that ended in silence; return whether there will be more of them.

        create: whether to begin a device if there is none.

        Raises BusyError and StorageError.
        """
        is_none = not create and not self.device.exists
        if not self._absents or is_none or self._moment.permission.obstacle() is not None:
            return bool(self._absents)
        if not self._is_looked_back(self._moment.clock()):
            with self.device.transaction(create=create) as connection:
                now = ledger.latest(connection, self._moment.clock())
                interruptions = self._report_absences(connection, now)
            self._nothing_over_until, self._forgotten = absence.next_end(self._absents, now), interruptions
        return True

    def check_in(self) -> None:
        """Note that this device is at work, from which on it reports about silence.

        Raises BusyError and StorageError.
        """
        if self.look_back(create=True):
            self.sender.nudge(is_new=True)

    def asked(self, metric: Metric) -> Metric | None:
        """Return how a metric of the manifest is asked now, or None while the app's maker pauses it."""
        return metric if self._maker is None else self._maker.metric(metric, self._moment.clock())

    def sentence(self, metric: Metric) -> str:
        """Say what leaves about a metric now.

        Raises ManifestError or DomainError if its mechanism is still open or unknown.
        """
        asked = self.asked(metric)
        if asked is None:
            return f'"{metric.name}": nothing leaves, since the app\'s maker has paused it'
        return self.question(asked).sentence()

    def question(self, metric: Metric) -> Question:
        """Return a metric made ready, once.

        Raises ManifestError or DomainError if its mechanism is still open or unknown.
        """
        form = (metric.name, metric.epsilon, metric.delta, metric.expires)
        if form not in self._questions:
            self._questions[form] = Question.of(metric)
        return self._questions[form]

    def prepare(self) -> None:
        """Make every metric ready that can be, and import what sending needs."""
        for metric in self._manifest.metrics:
            asked = self.asked(metric)
            if asked is not None and asked.is_resolved:
                self.question(asked)
        self.sender.prepare()

    def forget_consent(self) -> None:
        """Let no time without consent be reported about.

        Raises BusyError and StorageError.
        """
        self._nothing_over_until = 0.0
        with self.device.transaction(create=False) as connection:
            interruptions = self._forget_interrupted(connection)
        self._forgotten = interruptions

    def withdraw(self, *, ask_collector: bool) -> Withdrawn:
        """Empty the outbox, and let what left be asked back if that is wanted.

        Raises BusyError and StorageError.
        """
        clock = self._moment.clock()
        with self.device.transaction(create=False) as connection:
            now = ledger.latest(connection, clock)
            delivery = self._rules.delivery
            withdrawn = withdrawals.withdraw(connection, now, delivery, ask_collector=ask_collector)
        self.sender.resume()
        return withdrawn

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
            asked_back=withdrawals.outcomes(counts),
        )

    def close(self) -> None:
        """Stop sending and close the files."""
        self.sender.close()
        self.device.close()

    @property
    def _absents(self) -> tuple[absence.Absent, ...]:
        """What reports about silence, in every form in which a period may have begun."""
        forms = self._forms if self._maker is None else self._maker.forms()
        if forms is not self._forms:
            self._forms, self._declared = forms, absence.declared(forms)
        return self._declared

    def _is_asked(self, one: absence.Absent) -> bool:
        """Tell whether this form of a metric is the one that is asked now."""
        asked = self.asked(one.metric)
        return asked is not None and asked.id == one.id

    def _is_looked_back(self, now: float) -> bool:
        return now < self._nothing_over_until and self._forgotten == self._moment.permission.interruptions

    def _report_absences(self, connection: sqlite3.Connection, now: int) -> dict[str, int]:
        """Report about what is over, and return which interruptions are behind what was reported."""
        if self._is_looked_back(now):
            return self._forgotten
        interruptions = self._forget_interrupted(connection)
        agreed = [one for one in self._absents if self._moment.permission.agrees(one.metric.name)]
        absence.see(connection, [one for one in agreed if self._is_asked(one)], now)
        for one, period in absence.missed(connection, agreed, now):
            fact = Fact(one.value, one.labels, period)
            answer(connection, self.question(one.metric), fact, now=now, rules=self._rules)
        return interruptions

    def _forget_interrupted(self, connection: sqlite3.Connection) -> dict[str, int]:
        """Forget that metrics without permission, now or since the last time, were seen; return how often."""
        permission, told = self._moment.permission, self._forgotten
        interruptions = dict(permission.interruptions)
        if interruptions.get("") != told.get(""):
            absence.forget(connection)
        names = ((one, one.metric.name) for one in self._absents)
        lost = [
            one
            for one, name in names
            if interruptions.get(name) != told.get(name) or not permission.agrees(name)
        ]
        absence.forget(connection, lost)
        return interruptions
