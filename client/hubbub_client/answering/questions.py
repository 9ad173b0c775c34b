"""This file holds the metrics of an app as they are asked now, each made ready once, when it is needed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from hubbub.batch import Column
from hubbub.manifest import Manifest
from hubbub.metric import Metric

if TYPE_CHECKING:
    from hubbub_client.answering.question import Question
    from hubbub_client.maker import Maker

T = TypeVar("T")


class Hurried(Protocol):
    """Does something while every fork waits."""

    def __call__(self, act: Callable[[], T]) -> T:
        """Do it.

        Raises BusyError where another thread imports for too long.
        """
        ...


class Questions:
    """The metrics of a manifest, in the forms that its maker leaves of them.

    hurried: does what imports, so that a fork waits for it.
    """

    def __init__(
        self,
        manifest: Manifest,
        *,
        maker: "Maker | None",
        clock: Callable[[], float],
        hurried: Hurried,
    ) -> None:
        self._manifest, self._maker, self._clock, self._hurried = manifest, maker, clock, hurried
        self._ready: dict[object, Question] = {}

    def forms(self) -> tuple[Metric, ...]:
        """Return every metric in every form in which a period that is over may have begun."""
        return self._manifest.metrics if self._maker is None else self._maker.forms()

    def asked(self, metric: Metric, now: float | None = None) -> Metric | None:
        """Return how a metric of the manifest is asked now, or None while the app's maker pauses it.

        now: the device's time, where it is known: a clock that was set back may show the period before.
        """
        if self._maker is None:
            return metric
        return self._maker.metric(metric, self._clock() if now is None else now)

    def asked_then(self, metric: Metric, moment: int) -> Metric | None:
        """Return how a metric was asked in the period that began then, or None if it was paused."""
        own = self._manifest[metric.name]
        return own if self._maker is None else self._maker.metric(own, moment)

    def question(self, metric: Metric) -> "Question":
        """Return a metric made ready, once.

        Raises ManifestError or DomainError if its mechanism is still open or unknown.
        """
        form = self._form(metric)
        if form not in self._ready:
            from hubbub_client.answering.question import Question  # noqa: PLC0415 - imports numpy

            self._ready[form] = Question.of(metric)
        return self._ready[form]

    def prepared(self, metric: Metric) -> "Question":
        """Return a metric made ready, outside of a transaction: a fork waits for what is imported for it.

        Raises ManifestError or DomainError as ``question`` does, and BusyError as ``hurried`` does.
        """
        is_ready = self._form(metric) in self._ready
        return self.question(metric) if is_ready else self._hurried(lambda: self._imported(metric))

    def prepare(self) -> None:
        """Make every metric ready that can be."""
        for metric in self._manifest.metrics:
            asked = self.asked(metric)
            if asked is not None and asked.is_resolved:
                self.prepared(asked)

    def words(self, column: Column) -> str:
        """Say what a report that left stands for, or "" if the manifest has its metric no more."""
        asked = next(
            (metric for metric in self.forms() if metric.is_resolved and metric.id == column.metric), None
        )
        return "" if asked is None else self.prepared(asked).words(column.reports)

    def sentence(self, metric: Metric) -> str:
        """Say what leaves about a metric now.

        Raises ManifestError or DomainError if its mechanism is still open or unknown.
        """
        asked = self.asked(metric)
        if asked is None:
            return f'"{metric.name}": nothing leaves, since the app\'s maker has paused it'
        return self.prepared(asked).sentence()

    def _imported(self, metric: Metric) -> "Question":
        import hubbub_client.answering.answer  # noqa: F401, PLC0415 - comes next, and imports numpy

        return self.question(metric)

    @staticmethod
    def _form(metric: Metric) -> object:
        return metric.name, metric.epsilon, metric.delta, metric.expires
