"""This file holds a metric made ready for a device: its mechanism built and its id computed, once."""

import sqlite3
from dataclasses import dataclass

import numpy as np

from hubbub import registry
from hubbub.epsilon import decimal_text
from hubbub.longitudinal import Longitudinal
from hubbub.mechanism import Mechanism
from hubbub.metric import Metric
from hubbub.wording import words
from hubbub_client.answering.system_coins import system_coins
from hubbub_client.storage.memo import Memory


@dataclass(frozen=True, slots=True)
class Question:
    """A metric, its 32-byte id and its mechanism."""

    metric: Metric
    id: bytes
    mechanism: Mechanism

    @classmethod
    def of(cls, metric: Metric) -> "Question":
        """Make a metric ready.

        Raises ManifestError or DomainError if its mechanism is still open ("best") or unknown.
        """
        return cls(metric, metric.id, registry.build(metric))

    def memory(self, connection: sqlite3.Connection) -> Memory | None:
        """Return what a device remembers of this metric, if its answers are permanent."""
        mechanism = self.mechanism
        if not isinstance(mechanism, Longitudinal):
            return None
        return Memory(connection, self.metric, self.id, mechanism)

    def report(self, value: object, memory: Memory | None) -> bytes:
        """Perturb one value with the operating system's coins.

        value: what the domain's ``encode`` returned.
        """
        coins = system_coins()
        if memory is None:
            return self.mechanism.perturb(np.array([value]), coins).tobytes()
        return memory.mechanism.report(memory.recall(value, coins), coins).tobytes()

    def words(self, report: bytes) -> str:
        """Say what a report of this metric stands for."""
        layout = self.mechanism.layout
        return words(
            self.mechanism, self.metric.domain, np.frombuffer(report, layout.base).reshape(1, *layout.shape)
        )

    def sentence(self) -> str:
        """Say what leaves the device, how likely, how often and at what cost."""
        metric = self.metric
        clauses = [f'"{metric.name}": {self.mechanism.sentence(metric.domain.names)}']
        if metric.labels:
            clauses.append(f"beside it, in clear: {', '.join(label.name for label in metric.labels)}")
        if metric.absent is not None:
            clauses.append(f'no answer in a period is sent as if it was "{_word(metric.absent)}"')
        days = f"{metric.period} day{'s' * (metric.period != 1)}"
        often = "once, ever" if metric.once else f"at most once in {days}"
        each = "," if metric.once else ", each time"
        failing = f" and delta {metric.delta}" if metric.delta.atto else ""
        price = f"{each} for epsilon {metric.epsilon}{failing}"
        if isinstance(self.mechanism, Longitudinal):
            whole = decimal_text(self.mechanism.reservation(metric.changes))
            price = f", all of it for epsilon {whole}, which is set aside with the first answer"
        return "; ".join([*clauses, often + price])


def _word(absent: object) -> str:
    """Write a value in its plain form: yes or no, text, or a tuple of such."""
    if isinstance(absent, tuple):
        return " ".join(map(_word, absent)) or "nothing"
    return ("yes" if absent else "no") if isinstance(absent, bool) else str(absent)
