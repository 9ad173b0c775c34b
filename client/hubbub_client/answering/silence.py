"""This file tells silence: it knows which periods are over, and for whose silence the owner's consent held.

It works within a transaction of the device; what it learnt there counts only once that was committed.
"""

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from hubbub.errors import DomainError, ManifestError
from hubbub.period import start_of
from hubbub_client.answering import absence
from hubbub_client.answering.questions import Questions
from hubbub_client.answering.rules import Rules
from hubbub_client.consent import Permission


@dataclass(frozen=True, slots=True)
class Told:
    """How far silence was told.

    until: when the next period is over. interruptions: of permission, by metric, that the device knows of.
    """

    until: float = 0.0
    interruptions: Mapping[str, int] = field(default_factory=dict)


class Silence:
    """Reports the absent values of one device's metrics."""

    def __init__(self, questions: Questions, permission: Permission, rules: Rules) -> None:
        self._questions, self._permission, self._rules = questions, permission, rules
        self._forms = questions.forms()
        self._declared = absence.declared(self._forms)
        self._told = Told()

    @property
    def is_declared(self) -> bool:
        """Whether any metric that the owner consents to has an absent value."""
        return any(self._permission.agrees(one.metric.name) for one in self._absents())

    def is_told(self, now: float) -> bool:
        """Tell whether all was said that there is to say, so that there is no need to ask the disk."""
        return now < self._told.until and self._told.interruptions == self._permission.interruptions

    def tell(self, connection: sqlite3.Connection, now: int) -> Told:
        """Report about what is over, and see that the device is at work; the caller commits, then settles."""
        if self.is_told(now):
            return self._told
        told = Told(absence.next_end(self._absents(), now), self.forget(connection).interruptions)
        agreed = [one for one in self._absents() if self._permission.agrees(one.metric.name)]
        absence.see(connection, [one for one in agreed if self._is_asked(one, now)], now)
        for one, period in absence.missed(connection, agreed, now):
            from hubbub_client.answering.answer import Fact, answer  # noqa: PLC0415 - imports numpy

            asked = self._questions.asked_then(one.metric, start_of(period, one.metric.period))
            if asked is None:  # what told how is no longer kept
                continue
            fact = Fact(one.value, one.labels, period)
            with suppress(DomainError, ManifestError):  # a mechanism that can't be built at this price
                question = self._questions.question(asked)
                answer(connection, question, fact, now=now, rules=self._rules)
        return told

    def forget(self, connection: sqlite3.Connection) -> Told:
        """Forget that metrics without permission, now or since the last time, were seen."""
        permission, known = self._permission, self._told.interruptions
        found = dict(permission.interruptions)
        if found.get("") != known.get(""):
            absence.forget(connection)
        names = ((one, one.metric.name) for one in self._absents())
        lost = [
            one for one, name in names if found.get(name) != known.get(name) or not permission.agrees(name)
        ]
        absence.forget(connection, lost)
        return Told(0.0, found)

    def settle(self, told: Told) -> None:
        """Take what was told for known, now that it was committed."""
        self._told = told

    def _absents(self) -> tuple[absence.Absent, ...]:
        """Return what reports about silence, in every form in which a period may have begun."""
        forms = self._questions.forms()
        if forms is not self._forms:
            self._forms, self._declared = forms, absence.declared(forms)
        return self._declared

    def _is_asked(self, one: absence.Absent, now: int) -> bool:
        """Tell whether this form of a metric is the one that is asked now."""
        asked = self._questions.asked(one.metric, now)
        return asked is not None and asked.id == one.id
