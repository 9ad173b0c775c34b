"""This file sends what is due: in a background thread, or when asked to flush.

The outbox in the database is the only queue, so an exit, a kill or a fork at any point loses nothing, and
nothing here holds the database while it waits for a network.
"""

import logging
import secrets
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass

from hubbub import batch
from hubbub.errors import BusyError, HubbubError, NotReachableError, StorageError
from hubbub.period import DAY
from hubbub_client import ledger, outbox
from hubbub_client.delivery import HOUR, Delivery, Verdict, backoff, judge
from hubbub_client.device import Device
from hubbub_client.envelope import pack
from hubbub_client.forks import around_fork
from hubbub_client.outcome import Flushed
from hubbub_client.transport import Collector, Request, Transport

LAST_WAIT = 0.5  # seconds that an exit waits for what is just being sent
_HEADERS = {"Content-Type": batch.BINARY, "Content-Encoding": "gzip"}
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Run:
    """One round of sending: what it may do, and how far it came."""

    everything: bool
    deadline: float
    sent: int = 0
    refused: int = 0
    error: str = ""
    pause: float | None = None


class _OutOfTimeError(Exception):
    """A round has lasted as long as it may."""


class Sender:
    """Sends the batches of one device to one collector.

    look_back: reports about silence, and tells whether there may be more of it.
    """

    def __init__(
        self, device: Device, collector: Collector, *, delivery: Delivery, clock: Callable[[], float]
    ) -> None:
        self._device, self._collector, self._delivery, self._clock = device, collector, delivery, clock
        self.look_back: Callable[[], bool] = lambda: False
        self._is_closed = False
        self._at_exit: weakref.finalize[..., Sender] | None = None
        self._begin()
        around_fork(self, before=Sender._before_fork, in_parent=Sender._in_parent, in_child=Sender._begin)

    def _begin(self) -> None:
        """Start without a thread: a fork takes none along, and its locks may be held by nobody."""
        self._turn = threading.Lock()  # one round at a time
        self._import = threading.Lock()
        self._state = threading.RLock()
        self._wake = threading.Event()
        self._is_at_rest = threading.Event()
        self._is_at_rest.set()
        if self._at_exit is not None:
            self._at_exit.detach()
        self._at_exit = weakref.finalize(self, self._is_at_rest.wait, LAST_WAIT)
        self._thread: threading.Thread | None = None
        self._has_looked = False
        self._failures, self._not_before, self._asked_until = 0, 0.0, 0.0  # monotonic

    def _before_fork(self) -> None:
        """Wait for the imports of the sending thread: a child would wait for ever for what they lock."""
        self._import.acquire()

    def _in_parent(self) -> None:
        self._import.release()

    def nudge(self, *, is_new: bool) -> None:
        """Let the background thread look: once for what an earlier process left, then for news."""
        if not self._delivery.background or (self._has_looked and not is_new):
            return
        with self._state:
            self._has_looked = True
            self._is_at_rest.clear()
            self._wake.set()
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._stay, name="hubbub", daemon=True)
                try:
                    self._thread.start()
                except RuntimeError:  # the interpreter is shutting down; what is due stays on disk
                    self._thread = None
                    self._is_at_rest.set()

    def prepare(self) -> Transport:
        """Import what a request needs, and return it."""
        with self._import:
            return self._collector.transport()

    def close(self) -> None:
        """Let the background thread end, and wait for it for a moment."""
        with self._state:
            self._is_closed = True
            self._wake.set()
        self._is_at_rest.wait(LAST_WAIT)

    def flush(self, *, timeout: float, everything: bool) -> Flushed:
        """Send what is due, or everything, for at most ``timeout`` seconds."""
        timeout = (
            min(timeout, DAY) if timeout > 0 else 0.0
        )  # threads can't wait for as long as a float may say
        run = _Run(everything, time.monotonic() + timeout)
        worker = threading.Thread(target=self._round, args=(run,), name="hubbub-flush", daemon=True)
        try:
            worker.start()
        except RuntimeError:  # at interpreter shutdown; requests keep to the deadline here, too
            self._round(run)
        else:
            worker.join(timeout)
        if worker.is_alive():
            run.error = run.error or f"not done within {timeout:g} seconds; the rest stays in line"
        return Flushed(run.sent, self._waiting(), run.refused, run.error)

    def _waiting(self) -> int | None:
        try:
            with self._device.reading() as connection:
                return 0 if connection is None else outbox.waiting(connection)
        except StorageError:
            return None

    def _stay(self) -> None:
        """Send what comes due until nothing waits."""
        while True:
            self._wake.clear()
            idle = self._idle()
            with self._state:
                if self._is_closed or (idle is None and not self._wake.is_set()):
                    self._thread = None
                    self._is_at_rest.set()
                    return
            if idle:
                self._is_at_rest.set()
                self._wake.wait(idle)
                self._is_at_rest.clear()
                continue
            self._round(_Run(everything=False, deadline=time.monotonic() + outbox.LEASE))

    def _idle(self) -> float | None:
        """Return how many seconds nothing is to be done, or None if nothing waits or may come by itself."""
        try:
            is_awaited = self.look_back()
            with self._device.reading() as connection:
                now = ledger.latest(connection, self._clock())
                due = None if connection is None else outbox.next_due(connection, now)
        except BusyError:
            return 1.0
        except Exception:  # a thread of ours must not speak on an app's stderr
            return float(HOUR)
        if due is None:
            return float(HOUR) if is_awaited else None
        return min(max(due - now, self._not_before - time.monotonic(), 0.0), HOUR)

    def _round(self, run: _Run) -> None:
        """Send batches until none is due, one can't be sent, or time is up; never raise."""
        if not self._turn.acquire(timeout=max(0.0, run.deadline - time.monotonic())):
            run.error = "another batch is still on its way"
            return
        try:
            self._send_all(run)
            self._failures, self._not_before = 0, 0.0
        except _OutOfTimeError:
            run.error = "out of time; the rest stays in line"
        except Exception as error:  # a thread of ours must not speak on an app's stderr
            run.error = str(error) if isinstance(error, HubbubError) else f"failed: {type(error).__name__}"
            self._hold_back(run)
        finally:
            self._turn.release()

    def _hold_back(self, run: _Run) -> None:
        """Set when to try again: later after each failure, and not before the collector asked for it."""
        _log.debug("batches stay in line: %s", run.error)
        self._failures += 1
        pause = backoff(self._failures, secrets.randbelow(2**32) / 2**32)
        self._asked_until = time.monotonic() + (run.pause or 0.0)
        self._not_before = max(self._asked_until, time.monotonic() + pause)

    def _send_all(self, run: _Run) -> None:
        self.look_back()
        if time.monotonic() < self._asked_until:
            raise NotReachableError("the collector asked to be left alone for a while")
        while leased := self._lease(everything=run.everything):
            self._send(list(leased), run)

    def _send(self, leased: list[outbox.Waiting], run: _Run) -> None:
        try:
            while leased:
                verdict = self._try(leased[0], run)
                self._note(leased.pop(0).number, verdict, run)
        finally:
            if leased:
                with self._device.transaction(create=False) as connection:
                    outbox.release(connection, tuple(one.number for one in leased))

    def _note(self, number: int, verdict: Verdict, run: _Run) -> None:
        with self._device.transaction(create=False) as connection:
            if verdict.status == "postponed":
                now = ledger.latest(connection, self._clock())
                outbox.postpone(connection, number, verdict.code, now=now)
                run.error = f"the collector answered {verdict.code}"
            else:
                outbox.settle(connection, number, verdict.status, verdict.code)
        run.sent += verdict.status == "sent"
        run.refused += verdict.status == "refused"

    def _try(self, one: outbox.Waiting, run: _Run) -> Verdict:
        """Send one batch, once.

        Raises NotReachableError if it has to stay in line.
        """
        left = run.deadline - time.monotonic()
        if left <= 0:
            raise _OutOfTimeError
        if not self._collector.allowed():
            raise NotReachableError("sending was switched off")
        timeout = min(self._delivery.request_timeout, max(left, 0.1))
        request = Request(
            f"{self._collector.url}/v1/batches", pack(one.batch), dict(_HEADERS), timeout, self._collector.key
        )
        verdict = judge(self.prepare().post(request))
        if verdict.status == "waiting":
            run.pause = verdict.pause
            raise NotReachableError(f"the collector answered {verdict.code}")
        return verdict

    def _lease(self, *, everything: bool) -> tuple[outbox.Waiting, ...]:
        if not self._device.exists:
            return ()
        with self._device.transaction(create=False) as connection:
            now = ledger.latest(connection, self._clock())
            outbox.drop_old(connection, now)
            return outbox.lease(connection, now, everything=everything)
