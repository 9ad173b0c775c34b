"""This file holds the recorder: a device at work for one app."""

import sqlite3
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import inf

from hubbub.epsilon import decimal_text
from hubbub.errors import DomainError, ManifestError
from hubbub.metric import Metric
from hubbub.period import period_at, start_of
from hubbub_client.answering import repetition
from hubbub_client.answering.questions import Questions
from hubbub_client.answering.rules import Rules
from hubbub_client.answering.silence import Silence, Told
from hubbub_client.consent import Permission
from hubbub_client.last_moment import seconds_left
from hubbub_client.moments import day
from hubbub_client.outcome import Recorded, Skipped, Stats, Withdrawn
from hubbub_client.sending import withdrawals
from hubbub_client.sending.sender import Sender
from hubbub_client.storage import journal, ledger
from hubbub_client.storage.device import Device

Outcome = Recorded | Skipped


class Recorder:
    """Answers the metrics of one app on one device.

    clock: Unix time.
    """

    def __init__(
        self,
        questions: Questions,
        device: Device,
        sender: Sender,
        *,
        rules: Rules,
        permission: Permission,
        clock: Callable[[], float],
    ) -> None:
        self.questions, self.device, self.sender = questions, device, sender
        self._rules, self._permission, self._clock = rules, permission, clock
        self._silence = Silence(questions, permission, rules)
        self._is_warm = False  # whether numpy was imported, which takes longer than all the rest
        self._settled: dict[str, tuple[float, Skipped]] = {}  # answered until then: no need to ask the disk
        sender.look_back = self.look_back

    def record(self, metric: Metric, value: object, labels: tuple[int, ...]) -> Outcome:
        """Answer a metric with a value that its domain has encoded.

        Raises BusyError and StorageError.
        """
        asked = self.questions.asked(metric)
        if asked is None:
            self.sender.nudge(is_new=False)
            return _paused(metric)
        now = self._clock()
        until, settled = self._settled.get(asked.name, (0.0, None))
        if settled is not None and now < until and self._silence.is_told(now):
            return settled
        if not self._is_warm and self.device.exists:
            outcome = self._within(asked, lambda connection, now: _answered(connection, asked, now))
            if outcome is not None:
                return outcome
        try:
            question = self.questions.prepared(asked)
        except (DomainError, ManifestError) as error:
            return Skipped("policy", str(error))
        from hubbub_client.answering.answer import Fact, answer  # noqa: PLC0415 - imports numpy, as above

        self._is_warm = True
        outcome = self._within(
            asked,
            lambda connection, now: answer(
                connection,
                question,
                Fact(value, labels, period_at(now, asked.period)),
                now=now,
                rules=self._rules,
            ),
        )
        assert outcome is not None  # noqa: S101 - an answer is one or a refusal
        return outcome

    def _within(
        self, metric: Metric, act: Callable[[sqlite3.Connection, int], Outcome | None]
    ) -> Outcome | None:
        """Do something about a metric in a transaction, after telling silence, and note what it comes to."""

        def work(connection: sqlite3.Connection) -> tuple[int, Outcome | None, Told | None]:
            self._permission.hear(withdrawals.latest(connection))
            obstacle = self._permission.obstacle(metric.name)  # withdrawn at this moment
            clock = self._clock()
            now = ledger.latest(connection, clock)
            if obstacle is not None or ledger.is_ahead(now, clock):
                return now, obstacle or _too_early(now), None
            told = self._silence.tell(connection, now)
            is_asked = (
                self.questions.asked(metric, now) == metric
            )  # or else the clock was set back since then
            return now, act(connection, now) if is_asked else _paused(metric), told

        now, outcome, told = self.device.transact(work)
        if told is None:
            return outcome
        self._silence.settle(told)
        if isinstance(outcome, Skipped) and outcome.code == "already_answered":
            until = inf if metric.once else start_of(period_at(now, metric.period) + 1, metric.period)
            self._settled[metric.name] = (until, outcome)
        if outcome is not None:
            self.sender.nudge(is_new=isinstance(outcome, Recorded))
        return outcome

    def look_back(self, *, create: bool = False) -> bool:
        """Report about the periods that ended in silence; return whether there will be more of them.

        create: whether to begin a device if there is none.

        Raises BusyError and StorageError.
        """
        is_none = not create and not self.device.exists
        if not self._silence.is_declared or is_none or self._permission.obstacle() is not None:
            return self._silence.is_declared
        clock = self._clock()
        if self._silence.is_told(clock):
            return True

        def work(connection: sqlite3.Connection) -> Told | None:
            self._permission.hear(withdrawals.latest(connection))
            now = ledger.latest(connection, clock)
            is_waiting = self._permission.obstacle() is not None or ledger.is_ahead(now, clock)
            return None if is_waiting else self._silence.tell(connection, now)

        told = self.device.transact(work, create=create)
        if told is not None:
            self._silence.settle(told)
        return True

    def check_in(self) -> None:
        """Note that this device is at work, from which on it reports about silence.

        Raises BusyError and StorageError.
        """
        if self.look_back(create=True):
            self.sender.nudge(is_new=True)

    def prepare(self) -> None:
        """Make every metric ready that can be, and import what sending needs."""
        self.questions.prepare()
        self.sender.prepare()

    def forget_consent(self) -> None:
        """Let no time without consent be reported about.

        Raises BusyError and StorageError.
        """
        self._silence.settle(self.device.transact(self._silence.forget, create=False))

    def withdraw(self, *, ask_collector: bool) -> Withdrawn:
        """Empty the outbox, and let what left be asked back if that is wanted.

        Raises BusyError and StorageError.
        """
        clock, delivery = self._clock(), self._rules.delivery

        def work(connection: sqlite3.Connection) -> tuple[Withdrawn, tuple[int, int]]:
            now = ledger.latest(connection, clock)
            done = withdrawals.withdraw(connection, now, clock, delivery, ask_collector=ask_collector)
            return done, withdrawals.latest(connection)

        withdrawn, own = self.device.transact(work, create=False)
        self._permission.hear(own)  # now, so that what is agreed to after it holds
        self.sender.resume()
        return withdrawn

    def remaining(self, source: str) -> Decimal:
        """Return the epsilon that a source, or with "" the device, may spend now.

        Raises BusyError and StorageError.
        """

        def caps(connection: sqlite3.Connection | None) -> tuple[ledger.Cap, ...]:
            now = ledger.latest(connection, self._clock())
            return ledger.caps(connection, source, self._rules.limits, now)

        return Decimal(decimal_text(min(cap.left for cap in self.device.read(caps))))

    def stats(self, skipped: Mapping[str, int]) -> Stats:
        """Return counts.

        Raises BusyError and StorageError.
        """
        counts = self.device.read(journal.counts)

        def by_code(*wanted: str) -> dict[str, int]:
            found: dict[str, int] = {}
            for (status, code), count in counts.items():
                if status in wanted:
                    found[code] = found.get(code, 0) + count
            return found

        asked_back = withdrawals.outcomes(counts)
        return Stats(
            waiting=sum(by_code("waiting").values()),
            sent=sum(by_code("sent").values()) + sum(asked_back.values()),
            refused=by_code("refused"),
            dropped=by_code("dropped", "tried"),
            skipped=dict(skipped),
            asked_back=asked_back,
        )

    def close(self) -> None:
        """Stop sending and close the files."""
        self.sender.close()
        self.device.close()

    def finish(self) -> None:
        """Do the same at the end of the process, as far as there is time."""
        self.sender.finish()
        self.device.close(seconds_left())


def _paused(metric: Metric) -> Skipped:
    return Skipped("paused", f'"{metric.name}" is paused by the app\'s maker; nothing is sent or charged')


def _too_early(now: int) -> Skipped:
    return Skipped(
        "paused",
        f"this device's clock stood at {day(now)} when it last recorded, a day to come; it goes on then, or "
        "when hubbub-client resets it",
    )


def _answered(connection: sqlite3.Connection, metric: Metric, now: int) -> Skipped | None:
    return repetition.refusal(connection, metric, period_at(now, metric.period))
