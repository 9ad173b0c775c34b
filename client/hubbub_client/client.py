"""This file holds the client: what an app calls. What a call does is in ``session`` and below."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hubbub.manifest import Manifest
from hubbub_client.asynchronous import outcome_of
from hubbub_client.consent import State
from hubbub_client.interruption import bare
from hubbub_client.outcome import Flushed, Recorded, Skipped, Stats, Withdrawn
from hubbub_client.policy import Policy
from hubbub_client.sending.delivery import Delivery
from hubbub_client.sending.transport import Transport
from hubbub_client.session import Session
from hubbub_client.settings import Settings, read_manifest

if TYPE_CHECKING:
    from hubbub_client.preview import Preview
    from hubbub_client.storage.journal import Entry
    from hubbub_client.timing import Timer


class Client:
    """Records values of an app's metrics: perturbs each on this device, charges its ledger, and sends it.

    url: the collector's address. manifest: a file or a Manifest. key: the collector's ``hb_ingest_`` key.
    policy: caps on what this device spends. data_dir: where this device keeps its files; by default a
    directory of the app's own among the user's data. marker_dir: where it keeps the marker by which restored
    files are noticed, such as a place that no backup covers; by default beside them. clock: Unix time.
    consent: whether the owner agreed; before, nothing is recorded, stored or sent, and an app that says
    nothing about it is warned in its log, once. delivery: when batches leave. strict: raise instead of
    returning Skipped. lock_wait: seconds that ``record`` waits for another thread or process. environ: read
    for HUBBUB_OFF and DO_NOT_TRACK. maker_key: ``hb_public_`` key of whoever may pause metrics from afar.

    Nothing is written, started or imported at length before the first ``record``. Raises ManifestError for a
    wrong manifest, DomainError for any other argument.
    """

    def __init__(
        self,
        url: str,
        manifest: Manifest | str | os.PathLike[str],
        key: str | None = None,
        *,
        policy: Policy | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        marker_dir: str | os.PathLike[str] | None = None,
        clock: Callable[[], float] = time.time,
        transport: Transport | None = None,
        consent: State | None = None,
        delivery: Delivery | None = None,
        strict: bool = False,
        lock_wait: float = 0.25,
        environ: Mapping[str, str] | None = None,
        maker_key: str | None = None,
    ) -> None:
        settings = Settings(
            url=url,
            manifest=read_manifest(manifest),
            key=key,
            policy=policy or Policy(),
            data_dir=None if data_dir is None else Path(data_dir),
            marker_dir=None if marker_dir is None else Path(marker_dir),
            clock=clock,
            transport=transport,
            delivery=delivery or Delivery(),
            strict=strict,
            lock_wait=lock_wait,
            environ=os.environ if environ is None else environ,
            maker_key=maker_key,
        )
        self._session = Session(settings, consent)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of all metrics, in the manifest's order."""
        return tuple(self._session.metrics)

    @classmethod
    def for_testing(cls, manifest: Manifest | str | os.PathLike[str], **options: Any) -> "Client":
        """Return a client for an app's own tests: consent given, files that vanish with it, no network.

        options: as for Client; with ``transport=RecordingTransport()`` a test sees what would have left.
        """
        from hubbub_client.testing import for_testing  # noqa: PLC0415 - for tests only

        return for_testing(manifest, **options)

    def record(self, name: str, value: object, labels: Mapping[str, str] | None = None) -> Recorded | Skipped:
        """Perturb one value, charge it, and put the report in line; at most one per metric and period.

        labels: a value for each label that the metric declares. Never raises, unless the client is strict:
        then SkippedError where it would return Skipped. What an app's handler of a signal raises passes.
        """
        try:
            outcome: Recorded | Skipped | BaseException = self._session.record(name, value, labels)
        except BaseException as error:  # such as Ctrl-C
            outcome = bare(error)
        finally:
            del name, value, labels  # so that no traceback holds the value, in whichever place it was given
        return self._session.checked(outcome)

    async def record_async(
        self, name: str, value: object, labels: Mapping[str, str] | None = None
    ) -> Recorded | Skipped:
        """Do the same as ``record`` without holding up asyncio's loop, once, whoever still waits for it."""
        waiting = outcome_of(partial(self._session.record, name, value, labels), self._session.hand_over)
        del name, value, labels
        return self._session.checked(await waiting)

    def timed(
        self, name: str, labels: Mapping[str, str] | None = None, *, clock: Callable[[], float] | None = None
    ) -> "Timer":
        """Return a timer that records how many seconds something took: a block, or calls of a function.

        clock: of seconds; by default ``time.perf_counter``. What fails is recorded, too; no use of it raises.
        """
        with self._session.importing():
            from hubbub_client.timing import Timer  # noqa: PLC0415 - imports threading

        return Timer(lambda: self._session, name, labels, clock or time.perf_counter)

    def flush(self, timeout: float = 5, *, now: bool = False) -> Flushed:
        """Send the batches that are due, or all of them ``now``, for ``timeout`` seconds; never raise."""
        return self._session.flush(timeout, everything=now)

    async def flush_async(self, timeout: float = 5, *, now: bool = False) -> Flushed:
        """Do the same as ``flush`` without holding up the event loop, nor its end if nobody waits for it."""
        return await outcome_of(partial(self.flush, timeout, now=now), self._session.hand_flush_over)

    def check_in(self) -> None:
        """Say at each start, once the owner agreed, that the app is in use, so that silence can be reported.

        For a metric with an absent value it begins the device's files. Never raises.
        """
        self._session.check_in()

    def obstacle(self, name: str | None = None) -> Skipped | None:
        """Say what keeps a metric, or all, from being recorded: the switch, consent, the files; or None.

        Only ``record`` knows of budgets. Raises DomainError for an unknown metric.
        """
        return self._session.obstacle(name)

    def check(self, timeout: float = 5) -> tuple[str, ...]:
        """Try url, key and publication before you ship, and say in sentences what is wrong; never raise.

        With consent only, it fetches the manifest in force; nothing is recorded, and no report is sent.
        """
        return self._session.check(timeout)

    def remaining(self, name: str | None = None) -> Decimal:
        """Return the epsilon that the source of a metric, or the device as a whole, may still spend now.

        Raises DomainError for an unknown metric, StorageError or BusyError if the device can't be read.
        """
        source = "" if name is None else self._session.settings.manifest[name].source
        return self._session.recorder.remaining(source)

    def journal(self, *, notes: bool = False) -> "Iterator[Entry]":
        """Yield every report that left or will, with its bytes and its cost, oldest first.

        notes: with what happened to the device, such as a reset. Raises StorageError or BusyError.
        """
        with self._session.importing():
            from hubbub_client.storage.journal import entries  # noqa: PLC0415 - imports sqlite3

        return entries(self._session.recorder.device, notes=notes)

    def words(self, entry: "Entry") -> str:
        """Say what a report of the journal stands for, such as 'speaks for "yes"', which may well be untrue.

        Return "" for a note, and for a metric that the manifest has no more.
        """
        columns = entry.batch.columns if entry.body else ()
        return "; ".join(filter(None, map(self._session.words, columns)))

    def stats(self) -> Stats:
        """Return counts of what was recorded, sent and so on. Raises StorageError or BusyError."""
        return self._session.recorder.stats(self._session.skips.counts)

    def explain(self, name: str) -> str:
        """Say in true words what leaves this device about a metric, how likely, how often and at what cost.

        Raises DomainError for an unknown metric, ManifestError if its mechanism is still open.
        """
        return self._session.sentence(self._session.settings.manifest[name])

    def preview(self, name: str, value: object, draws: int = 10) -> "Preview":
        """Draw what would leave for a value, for its owner to see; nothing is charged, stored or sent.

        Log nothing of it. Raises DomainError for an unknown metric or a wrong value.

        >>> from hubbub.declaration import boolean
        >>> dark = boolean("dark", epsilon="1")
        >>> client = Client.for_testing(Manifest(app="notepad", serial=1, metrics=(dark,)))
        >>> client.preview("dark", True).odds[0]
        'of 1,000 draws of this value about 731 speak for "yes"'
        """
        with self._session.importing():
            from hubbub_client.preview import preview  # noqa: PLC0415 - imports numpy
        return preview(self._session, name, value, draws)

    def page(self) -> str:
        """Return a page of HTML for the owner: what is asked, what it cost, and every report."""
        with self._session.importing():
            from hubbub_client.showing import page, statement  # noqa: PLC0415 - imports sqlite3

        return page.page([statement.of_client(self._session)])

    def consent(self, state: State, metrics: Iterable[str] | None = None) -> None:
        """Say what the owner of this device decided, about everything or about some metrics only.

        The last word about a metric counts; one without ``metrics`` replaces what was said about single ones.
        Refusing stops everything at once: reports in line stay, and leave only if consent is given again
        before they are too old; ``withdraw`` gives them up. Raises DomainError for a wrong word or metric.
        """
        self._session.consent(state, metrics)

    def consents(self) -> dict[str, State]:
        """Return the state of consent of every metric."""
        return {name: self._session.permission.consents.about(name) for name in self._session.metrics}

    def withdraw(self, *, ask_collector: bool = False) -> Withdrawn:
        """Refuse consent to everything and give up what waits to be sent; never raise.

        ask_collector: also ask the collector to delete every report that it may still be able to tell apart,
        one a request, at random times within a week. It may lie, and such requests can tell it which reports
        were one device's. They go on in later processes that call ``flush``, ``consent("refused")`` or this.
        """
        return self._session.withdraw(ask_collector=ask_collector)

    def prepare(self) -> None:
        """Import and compute ahead what the first ``record`` needs, for instance before a fork."""
        self._session.prepare()

    def close(self) -> None:
        """Stop the background thread and close the files; what is in line stays."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
