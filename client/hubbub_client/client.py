"""This file holds the client: what an app calls. What takes long to import waits for the first record."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from hubbub.errors import BusyError, DomainError, HubbubError, ManifestError, SkippedError, StorageError
from hubbub.manifest import Manifest
from hubbub_client.consent import Permission, State, check_state
from hubbub_client.delivery import Delivery
from hubbub_client.location import holds_device, home
from hubbub_client.outcome import Flushed, Recorded, Skipped, Stats
from hubbub_client.policy import Policy
from hubbub_client.skips import Skips
from hubbub_client.switch import Switch
from hubbub_client.transport import Collector, Transport, check_url

if TYPE_CHECKING:
    from hubbub_client.journal import Entry
    from hubbub_client.recorder import Recorder


class Client:
    """Records values of an app's metrics: perturbs each on this device, charges its ledger, and sends it.

    url: the collector's address. manifest: a file or a Manifest. key: the collector's ``hb_ingest_`` key.
    policy: caps on what this device spends. data_dir: where this device keeps its files; by default a
    directory of the app's own among the user's data. clock: Unix time. consent: whether the owner agreed;
    before, nothing is recorded, stored or sent. delivery: when batches leave. strict: raise instead of
    returning Skipped. lock_wait: seconds that ``record`` waits for another thread or process. environ: read
    for HUBBUB_OFF and DO_NOT_TRACK.

    Nothing is written, started or imported at length before the first ``record``.

    Raises ManifestError for a manifest that is wrong, DomainError for any other argument.
    """

    def __init__(
        self,
        url: str,
        manifest: Manifest | str | os.PathLike[str],
        key: str | None = None,
        *,
        policy: Policy | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        clock: Callable[[], float] = time.time,
        transport: Transport | None = None,
        consent: State = "unknown",
        delivery: Delivery | None = None,
        strict: bool = False,
        lock_wait: float = 0.25,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._url, self._key, self._transport = check_url(url), key, transport
        self._manifest = manifest if isinstance(manifest, Manifest) else _load(Path(manifest))
        self._metrics = {metric.name: metric for metric in self._manifest.metrics}
        self._policy, self._delivery = policy or Policy(), delivery or Delivery()
        self._data_dir = None if data_dir is None else Path(data_dir)
        self._clock, self._lock_wait, self._strict = clock, lock_wait, strict
        self._permission = Permission(
            Switch(os.environ if environ is None else environ, self._flag_directories), check_state(consent)
        )
        self._has_forgotten = False
        self._skips = Skips()
        self._parts: list[Recorder] = []

    @classmethod
    def for_testing(cls, manifest: Manifest | str | os.PathLike[str], **options: Any) -> "Client":
        """Return a client for an app's own tests: consent given, files that vanish with it, no network.

        options: as for Client; with ``transport=RecordingTransport()`` a test sees what would have left.
        """
        from hubbub_client.testing import for_testing  # noqa: PLC0415 - for tests only

        return for_testing(manifest, **options)

    def record(self, name: str, value: object, labels: Mapping[str, str] | None = None) -> Recorded | Skipped:
        """Perturb one value, charge it, and put the report in line; at most one per metric and period.

        labels: a value for each label that the metric declares.

        Never raises, unless the client is strict: then SkippedError where it would return Skipped.
        """
        try:
            outcome = self._record(name, value, labels)
        except StorageError as error:
            outcome = Skipped("busy" if isinstance(error, BusyError) else "storage", str(error))
        except Exception as error:  # telemetry must not fail an app, and the text may hold the value
            outcome = Skipped("storage", f"recording failed by a fault of its own ({type(error).__name__})")
        if isinstance(outcome, Skipped):
            self._skips.note(outcome)
            if self._strict:
                raise SkippedError(outcome.code, outcome.message)
        return outcome

    def flush(self, timeout: float = 5, *, now: bool = False) -> Flushed:
        """Send the batches that are due, for at most ``timeout`` seconds; never raise.

        now: send all, whatever time was drawn for them.
        """
        try:
            obstacle = self._permission.obstacle()
            if obstacle is not None:
                return Flushed(0, None, 0, obstacle.message)
            if not holds_device(self._directory):
                return Flushed(0, 0, 0, "")
            return self._recorder.sender.flush(timeout=timeout, everything=now)
        except (HubbubError, OSError) as error:
            return Flushed(0, None, 0, str(error))
        except Exception as error:  # telemetry must not fail an app
            return Flushed(0, None, 0, f"flushing failed by a fault of its own ({type(error).__name__})")

    def remaining(self, name: str | None = None) -> Decimal:
        """Return the epsilon that the source of a metric, or the device as a whole, may still spend now.

        Raises DomainError for an unknown metric, StorageError or BusyError if the device can't be read.
        """
        source = "" if name is None else self._manifest[name].source
        return self._recorder.remaining(source)

    def journal(self) -> "Iterator[Entry]":
        """Yield every report that left or will, with its bytes and its cost, oldest first.

        Raises StorageError or BusyError if the device can't be read.
        """
        from hubbub_client.journal import entries  # noqa: PLC0415 - imports sqlite3

        return entries(self._recorder.device)

    def stats(self) -> Stats:
        """Return counts of what was recorded, sent, refused, dropped and skipped.

        Raises StorageError or BusyError if the device can't be read.
        """
        return self._recorder.stats(self._skips.counts)

    def explain(self, name: str) -> str:
        """Say in true words what leaves this device about a metric, how likely, how often and at what cost.

        Raises DomainError for an unknown metric, ManifestError if its mechanism is still open.
        """
        return self._recorder.question(self._manifest[name]).sentence()

    def consent(self, state: State) -> None:
        """Say what the owner of this device decided; refusing stops everything, at once.

        Raises DomainError for a word that is no state.
        """
        self._permission.decide(state)
        self._has_forgotten = False
        if state == "refused":
            self._forget_consent()

    def prepare(self) -> None:
        """Import and compute ahead what the first ``record`` needs, for instance before a fork."""
        with suppress(StorageError):  # record will say so
            self._recorder.prepare()

    def close(self) -> None:
        """Stop the background thread and close the files; what is in line stays there."""
        if self._parts:
            self._parts[0].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _record(self, name: str, value: object, labels: Mapping[str, str] | None) -> Recorded | Skipped:
        obstacle = self._permission.obstacle()
        if obstacle is not None:
            if obstacle.code == "consent" and self._permission.state == "refused":
                self._forget_consent()
            return obstacle
        metric = self._metrics.get(name) if isinstance(name, str) else None
        if metric is None:
            return Skipped("unknown_metric", f"the manifest has no metric {str(name)[:64]!r}; declare it")
        try:
            encoded, positions = metric.domain.encode(value), metric.label_indices(labels)
        except DomainError as error:
            return Skipped("value", f'"{name}": {error}')
        except Exception as error:  # a value's own methods may raise anything
            return Skipped("value", f'"{name}": this value can\'t be read ({type(error).__name__})')
        return self._recorder.record(metric, encoded, positions)

    @cached_property
    def _directory(self) -> Path:
        return self._data_dir or self._home / self._manifest.app

    @cached_property
    def _home(self) -> Path:
        return home()

    @property
    def _recorder(self) -> "Recorder":
        """The working parts, made at first need; where two threads both make them, all use the first."""
        if not self._parts:
            self._parts.append(self._assemble())
        return self._parts[0]

    def _assemble(self) -> "Recorder":
        from hubbub_client.answer import Rules  # noqa: PLC0415 - these import numpy and sqlite3
        from hubbub_client.device import Device  # noqa: PLC0415
        from hubbub_client.recorder import Moment, Recorder  # noqa: PLC0415
        from hubbub_client.sender import Sender  # noqa: PLC0415

        device = Device(self._directory, lock_wait=self._lock_wait)
        transport = self._transport
        carrier = _http if transport is None else lambda: transport
        permission = self._permission
        collector = Collector(self._url, carrier, lambda: permission.obstacle() is None, self._key)
        sender = Sender(device, collector, delivery=self._delivery, clock=self._clock)
        rules = Rules(self._policy.limits, self._delivery)
        moment = Moment(self._clock, permission)
        return Recorder(self._manifest, device, sender, rules=rules, moment=moment)

    def _flag_directories(self) -> Iterator[Path]:
        yield self._directory
        with suppress(StorageError):
            yield self._home

    def _forget_consent(self) -> None:
        """Let no time without consent be reported about, as absent, once it is given again."""
        with suppress(StorageError, OSError):  # the next refused record tries again
            if not self._has_forgotten and holds_device(self._directory):
                self._recorder.forget_consent()
            self._has_forgotten = True


def _http() -> Transport:
    from hubbub_client.http import HttpTransport  # noqa: PLC0415 - imports requests, in the sending thread

    return HttpTransport()


def _load(path: Path) -> Manifest:
    try:
        return Manifest.from_toml(path.read_text(encoding="utf-8"), where=path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"the manifest can't be read ({type(error).__name__})", where=str(path)) from None
