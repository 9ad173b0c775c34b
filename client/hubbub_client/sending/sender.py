"""This file decides when to send: in a background thread, or when asked to flush, and never again too soon.

Pauses are measured on a monotonic clock: setting the device's clock neither lengthens nor ends them.

The outbox in the database is the only queue, so an exit, a kill or a fork at any point loses nothing.
"""

import secrets
import sqlite3
import threading
import time
from _thread import allocate_lock
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

from hubbub.errors import BusyError, HubbubError, NotReachableError
from hubbub_client.consent import Permission
from hubbub_client.holding import holding
from hubbub_client.last_moment import LAST_WAIT, wait_until
from hubbub_client.logs import Log
from hubbub_client.outcome import Flushed
from hubbub_client.sending import outbox
from hubbub_client.sending.courier import Courier, OutOfTimeError, Progress, Round
from hubbub_client.sending.delivery import HOUR, Delivery, backoff
from hubbub_client.sending.transport import Collector, Transport
from hubbub_client.sending.troubles import answered
from hubbub_client.storage import ledger
from hubbub_client.storage.device import Device
from hubbub_client.threads import Flag, start, within

if TYPE_CHECKING:
    from hubbub_client.maker import Maker

_log = Log(__name__)


class Sender:
    """Sends the letters of one device to one collector.

    look_back: reports about silence, and tells whether there may be more of it. importing: held around
    imports, so that a fork waits for them. maker: of the app, if there may be news from it.
    """

    def __init__(
        self,
        device: Device,
        collector: Collector,
        *,
        permission: Permission,
        delivery: Delivery,
        clock: Callable[[], float],
        importing: Callable[[], AbstractContextManager[object]],
        maker: "Maker | None" = None,
    ) -> None:
        self._device, self._collector, self._delivery, self._clock = device, collector, delivery, clock
        self._permission, self._maker, self._importing = permission, maker, importing
        self.courier = Courier(device, collector, permission, delivery, clock, self.prepare)
        self.look_back: Callable[[], bool] = lambda: False
        self._is_closed = False
        self.begin()

    def begin(self) -> None:
        """Start without a thread: a fork takes none along, and its locks may be held by nobody."""
        self._turn = allocate_lock()  # one round at a time
        self._stay = allocate_lock()  # one background thread at a time
        self._telling = threading.RLock()
        self._wake, self._is_at_rest = Flag(), Flag()
        self._is_at_rest.set()
        self._has_looked = False
        self._progress, self._told = Progress(), (0, 0)  # sent and refused, as the last flush told
        self._failures, self._not_before, self._asked_until = 0, 0.0, 0.0  # monotonic

    def nudge(self, *, is_new: bool) -> None:
        """Let the background thread look: once for what an earlier process left, then for news."""
        if not self._delivery.background or self._is_closed or (self._has_looked and not is_new):
            return
        self._has_looked = True
        self._is_at_rest.clear()
        self._wake.set()
        if not self._stay.locked() and not start(self._run):  # what is due stays on disk
            self._is_at_rest.set()

    def resume(self) -> None:
        """Let the background thread go on with what an earlier process left, if there is anything.

        Raises BusyError and StorageError.
        """
        if self._next_due() is not None:
            self.nudge(is_new=True)

    def prepare(self) -> Transport:
        """Import what a request needs, and return it."""
        with self._importing():
            if self._maker is not None:
                self._maker.prepare()
            return self._collector.transport()

    def close(self) -> None:
        """Let the background thread end, and wait for it for a moment."""
        self._is_closed = True
        self._wake.set()
        self._is_at_rest.wait(LAST_WAIT)

    def finish(self) -> None:
        """Let what is being sent be answered, at the end of the process, as far as there is time."""
        wait_until(self._is_at_rest)

    def flush(self, *, timeout: float, everything: bool) -> Flushed:
        """Send what is due or everything for at most ``timeout`` seconds; tell of all since last time."""
        run = Round(everything, time.monotonic() + timeout, self._progress)
        if not within(timeout, lambda: self._round(run)):
            run.error = run.error or f"not done within {timeout:g} seconds; the rest stays in line"
        counted: list[tuple[int, str]] = []
        within(LAST_WAIT, lambda: self._count(counted))
        waiting, code = counted[0] if counted else (None, "")
        sent, refused = holding(self._telling, self._news, seconds=LAST_WAIT, busy="another thread is told")
        error = run.error
        if not error and (code or refused):  # met in the background, or by another process
            error = self._progress.trouble or answered(code)
        return Flushed(sent, waiting, refused, error)

    def _news(self) -> tuple[int, int]:
        """Return how many were sent and refused since the last time."""
        progress, (sent, refused) = self._progress, self._told
        self._told = progress.sent, progress.refused
        return self._told[0] - sent, self._told[1] - refused

    def _count(self, counted: list[tuple[int, str]]) -> None:
        with suppress(Exception):  # as in _idle
            counted.append(self._device.read(outbox.waiting))

    def _run(self) -> None:
        """Send what comes due until nothing waits, unless another thread does."""
        while self._wake.is_set() and self._stay.acquire(blocking=False):
            try:
                self._send_in_time()
            finally:
                self._is_at_rest.set()
                self._stay.release()  # and look again: a nudge may have come that saw a thread at work
            if self._is_closed:
                return

    def _send_in_time(self) -> None:
        while True:
            self._is_at_rest.clear()
            self._wake.clear()
            idle = self._idle()
            if self._is_closed or (idle is None and not self._wake.is_set()):
                return
            if idle:
                self._is_at_rest.set()
                self._wake.wait(idle)
                continue
            self._round(
                Round(everything=False, deadline=time.monotonic() + outbox.LEASE, progress=self._progress)
            )

    def _idle(self) -> float | None:
        """Return how many seconds nothing is to be done, or None if nothing waits or may come by itself."""
        try:
            is_awaited = self.look_back()
            waits = [self._next_due(), self._next_question()]
        except BusyError:
            return 1.0
        except Exception:  # a thread of ours must not speak on an app's stderr
            return float(HOUR)
        wait = min((one for one in waits if one is not None), default=None)
        if wait is None:
            return float(HOUR) if is_awaited else None
        return min(max(wait, self._not_before - time.monotonic(), 0.0), HOUR)

    def _next_due(self) -> int | None:
        """Return in how many seconds the next letter is due, or None if there is none that may leave."""
        clock = self._clock()

        def wait(connection: sqlite3.Connection | None) -> int | None:
            now = ledger.latest(connection, clock)
            due = None if connection is None else outbox.next_due(connection, now, self._permission.agrees)
            return None if due is None else due - now

        return self._device.read(wait)

    def _next_question(self) -> float | None:
        """Return in how many seconds the app's maker may be asked, or None if that never comes by itself."""
        if self._maker is None or not self._permission.consents.is_given:
            return None
        may_ask = self._device.exists and self._permission.look() is None
        return self._maker.wait() if may_ask else HOUR

    def _round(self, run: Round) -> None:
        """Send letters until none is due, one can't be sent, or time is up; never raise."""
        if not self._turn.acquire(timeout=max(0.0, run.deadline - time.monotonic())):
            before = f"; the one before: {run.progress.trouble}" if run.progress.trouble else ""
            run.error = f"another batch is on its way, and has no answer yet{before}"
            return
        try:
            self._send_all(run)
            self._failures, self._not_before = 0, 0.0
        except OutOfTimeError:
            run.error = "out of time; the rest stays in line"
        except Exception as error:  # a thread of ours must not speak on an app's stderr
            run.error = str(error) if isinstance(error, HubbubError) else f"failed: {type(error).__name__}"
            self._hold_back(run)
        finally:
            if run.sent or run.error:
                run.progress.trouble = run.error
            self._turn.release()

    def _hold_back(self, run: Round) -> None:
        """Set when to try again: later after each failure, and not before the collector asked for it."""
        self._failures = 1 if run.sent else self._failures + 1  # the collector is there, but for one letter
        pause = backoff(self._failures, secrets.randbelow(2**32) / 2**32)
        self._asked_until = time.monotonic() + (run.pause or 0.0)
        self._not_before = max(self._asked_until, time.monotonic() + pause)
        _log.say("letters stay in line: %s", run.error)

    def _send_all(self, run: Round) -> None:
        self.look_back()
        if time.monotonic() < self._asked_until:
            raise NotReachableError("the collector asked to be left alone for a while")
        self.courier.carry(run)
        if self._maker is not None:
            self.courier.ask(self._maker, run)
