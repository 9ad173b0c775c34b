"""This file holds what stands behind a client's calls: the permission first, then the parts at work."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from hubbub.errors import BusyError, DomainError, SkippedError, StorageError
from hubbub.period import DAY
from hubbub_client.assembly import Assembly
from hubbub_client.consent import Consents, Permission, State
from hubbub_client.interruption import bare, passed
from hubbub_client.location import holds_device, refusal
from hubbub_client.outcome import Flushed, Recorded, Skipped, Withdrawn, told
from hubbub_client.settings import Settings
from hubbub_client.skips import Skips
from hubbub_client.switch import Switch

if TYPE_CHECKING:
    from hubbub.batch import Column
    from hubbub.metric import Metric
    from hubbub_client.answering.recorder import Recorder

T = TypeVar("T")
_UNSETTLED = "what was recorded asynchronously is not all in line yet; flush again"


class Session:
    """A client at work. Its parts are made at first need."""

    def __init__(self, settings: Settings, consent: State | None) -> None:
        self.settings = settings
        self.metrics = {metric.name: metric for metric in settings.manifest.metrics}
        switch = Switch(settings.environ, self._flag_directories)
        self.permission = Permission(switch, Consents("unknown"), settings.clock)
        if consent is not None:
            self.permission.decide(consent)
        self.skips = Skips(consent is not None, is_strict=settings.strict)
        self._forgotten: Consents | None = None  # with which no time is reported about: the device knows
        self._assembly = Assembly(settings, self.permission)
        if settings.maker_key is not None:
            with self.importing():
                from hubbub.signed_manifest import check_public_key  # noqa: PLC0415 - most apps have none

            check_public_key(settings.maker_key)

    def record(self, name: str, value: object, labels: Mapping[str, str] | None) -> Recorded | Skipped:
        """Record, count a skip, and never raise."""
        return self._noted(lambda: self._record(name, value, labels))

    def hand_over(self, call: Callable[[], object]) -> Skipped | None:
        """Let the worker make a call, or say why it won't, count that, and never raise."""
        return self._noted(lambda: self._assembly.worker.submit(call))

    def hand_flush_over(self, call: Callable[[], object]) -> Flushed | None:
        """Let a thread of its own make a call, or say why it won't: a worker's would hold up records."""
        with self.importing():
            from hubbub_client.threads import start  # noqa: PLC0415 - imports a queue

        return None if start(call) else Flushed(0, None, 0, "no thread can be started for it")

    def checked(self, outcome: Recorded | Skipped | BaseException) -> Recorded | Skipped:
        """Return an outcome, far from its value: whoever keeps a traceback keeps all that its frames hold.

        Raises SkippedError for a skip if the client is strict, and what ended a call.
        """
        if isinstance(outcome, Skipped) and self.settings.strict:
            raise SkippedError(outcome.code, outcome.message)
        return cast("Recorded | Skipped", passed(outcome))

    def flush(self, timeout: float, *, everything: bool) -> Flushed:
        """Send, once the worker has recorded what it was handed until now, and never raise."""
        try:
            seconds = min(timeout, DAY) if timeout > 0 else 0.0  # no thread waits for what a float may say
            left = self._assembly.settle(seconds)
            flushed = self._flushed(left or 0.0, everything=everything)
            return replace(flushed, error=_UNSETTLED) if left is None else flushed
        except Exception as error:  # telemetry must not fail an app
            return Flushed(0, None, 0, told(error))

    def withdraw(self, *, ask_collector: bool) -> Withdrawn:
        """Refuse consent, withdraw what was recorded, and never raise."""
        try:
            self.consent("refused")
            reason = self.unhurried(self.permission.switch.reason)
            if reason or not holds_device(self.directory):
                return Withdrawn(0, 0, reason)
            return self.recorder.withdraw(ask_collector=ask_collector)
        except Exception as error:  # telemetry must not fail an app
            return Withdrawn(0, 0, told(error))

    def consent(self, state: State, metrics: Iterable[str] | None = None) -> None:
        """Take a decision of the owner.

        Raises DomainError for a word that is no state, or a metric that the manifest hasn't.
        """
        if isinstance(metrics, str):
            raise DomainError("metrics must be names in a list, not a single text")
        names = None if metrics is None else [self.settings.manifest[name].name for name in metrics]
        self.permission.decide(state, names)
        self.skips.is_consent_settled = True
        if state == "refused":
            self._forget_consent()

    def obstacle(self, name: str | None) -> Skipped | None:
        """Say why nothing may or can be recorded about a metric, or any; hear of others' withdrawals.

        Raises DomainError for an unknown metric.
        """
        metric = "" if name is None else self.settings.manifest[name].name
        try:
            found = self.unhurried(lambda: self.permission.look(metric))
            if found is None and holds_device(self.directory):
                self.recorder.sender.courier.hear()
                found = self.permission.look(metric)
            places = (self.directory, self.settings.marker_dir or self.directory)
            reason = next(filter(None, map(refusal, places)), "") if found is None else ""
            return Skipped("storage", reason) if reason else found
        except (StorageError, OSError) as error:
            return Skipped("busy" if isinstance(error, BusyError) else "storage", str(error))

    def check(self, timeout: float) -> tuple[str, ...]:
        """Try the collector, and never raise."""
        try:
            with self.importing():
                from hubbub_client.checking import tried  # noqa: PLC0415 - for an app's developer

            return tried(self, timeout)
        except Exception as error:  # a check that is left in an app must not fail it
            return (told(error),)

    def check_in(self) -> None:
        """Let the device know that the app is in use, and never raise."""
        with suppress(Exception):  # telemetry must not fail an app; what is wrong, the next record says
            if self.unhurried(self.permission.obstacle) is None:
                self.recorder.check_in()

    def importing(self) -> AbstractContextManager[object]:
        """Keep every fork waiting while something is imported."""
        return self._assembly.importing()

    def unhurried(self, act: Callable[[], T]) -> T:
        """Do what a record does in a hurry, but wait for other threads' imports for as long as they take."""
        try:
            return act()
        except BusyError:
            with self.importing():
                return act()

    def prepare(self) -> None:
        """Import and compute ahead what the first record needs."""
        with suppress(StorageError):  # record will say so
            self.unhurried(self.recorder.prepare)

    def close(self) -> None:
        """Close what was opened."""
        self._assembly.close()

    @property
    def directory(self) -> Path:
        """Where this device keeps its files.

        Raises StorageError for a user without a home.
        """
        return self._assembly.directory

    @property
    def recorder(self) -> "Recorder":
        """What answers, made at first need."""
        return self.unhurried(lambda: self._assembly.recorder)

    def words(self, column: "Column") -> str:
        """Say what a report that left stands for, or "" if the manifest has its metric no more."""
        return self.unhurried(lambda: self.recorder.questions.words(column))

    def sentence(self, metric: "Metric") -> str:
        """Say what leaves about a metric now.

        Raises ManifestError or DomainError if its mechanism is still open or unknown.
        """
        return self.unhurried(lambda: self.recorder.questions.sentence(metric))

    def _noted(self, act: Callable[[], T]) -> T | Skipped:
        """Do something with a value, count a skip, and never raise."""
        outcome: T | Skipped
        try:
            outcome = act()
        except StorageError as error:
            outcome = Skipped("busy" if isinstance(error, BusyError) else "storage", str(error))
        except Exception as error:  # telemetry must not fail an app, and the text may hold the value
            reason = f"recording failed by a fault of its own ({type(bare(error)).__name__})"
            outcome = Skipped("storage", reason)
        if isinstance(outcome, Skipped):
            self.skips.note(outcome)
        return outcome

    def _record(self, name: str, value: object, labels: Mapping[str, str] | None) -> Recorded | Skipped:
        metric = self.metrics.get(name) if isinstance(name, str) else None
        obstacle = self.permission.obstacle(metric.name if metric else "")
        if obstacle is not None:
            if obstacle.code == "consent" and self.permission.consents.overall == "refused":
                self._forget_consent()
            return obstacle
        if metric is None:
            return Skipped("unknown_metric", "the manifest has no metric of that name; see client.metrics")
        try:
            encoded, positions = metric.domain.encode(value), metric.label_indices(labels)
        except DomainError as error:
            return Skipped("value", f'"{name}": {error}')
        except Exception as error:  # a value's own methods may raise anything
            return Skipped("value", f'"{name}": this value can\'t be read ({type(bare(error)).__name__})')
        return self._assembly.recorder.record(metric, encoded, positions)

    def _flag_directories(self) -> Iterator[Path]:
        yield self.directory
        try:
            home = self._assembly.home
        except BusyError:
            raise
        except StorageError:  # a device elsewhere goes on without one
            return
        yield home

    def _flushed(self, seconds: float, *, everything: bool) -> Flushed:
        obstacle = self.unhurried(self.permission.obstacle)
        if (obstacle and obstacle.code == "off") or not holds_device(self.directory):
            error = obstacle.message if obstacle else self.skips.storage
            return Flushed(0, None if obstacle else 0, 0, error)
        flushed = self.recorder.sender.flush(timeout=seconds, everything=everything)
        return replace(flushed, error=obstacle.message) if obstacle and not flushed.error else flushed

    def _forget_consent(self) -> None:
        """Let no time without consent be reported about, as absent, once it is given again.

        What was asked back from the collector before this process began is asked on.
        """
        with suppress(Exception):  # the next refused record tries again
            consents = self.permission.consents
            if self._forgotten is consents or self.permission.switch.reason():
                return
            if holds_device(self.directory):
                self.recorder.forget_consent()
                self.recorder.sender.resume()
            self._forgotten = consents
