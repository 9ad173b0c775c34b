"""This file writes: one thread a process, and many changes in one commit, so that they share an fsync.

A thread that brings a change waits until it is durable. The writing thread starts with the first change of a
process, so a server may fork before that.
"""

import math
import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from hubbub.errors import BusyError, StorageError
from hubbub.period import DAY
from hubbub_server.store.protocol import Batches, Change, Record

MOST_TOGETHER = 256  # changes in one commit
LONGEST_WAIT = 30.0  # seconds for one change
IDLE = 2.0  # seconds without a change, after which housekeeping is done


class Writer:
    """Group commit for all threads of a process.

    steady: a clock that nobody sets.
    """

    __slots__ = ("_batches", "_lines", "_most_waiting", "_sure_day")

    def __init__(
        self,
        batches: Batches,
        *,
        most_waiting: int = 1000,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._batches, self._most_waiting, self._sure_day = batches, most_waiting, SureDay(clock, steady)
        self._lines: dict[int, _Line] = {}  # by process id: after a fork, the child starts its own

    def submit(self, change: Change) -> Record:
        """Return what is known under the change's id, once that is durable.

        Raises BusyError if too many wait, StorageFullError if the disk is full, StorageError if it fails.
        """
        line = self._lines.get(os.getpid()) or self._lines.setdefault(os.getpid(), _Line())
        if line.queue.qsize() >= self._most_waiting:
            raise BusyError("too many batches wait to be written")
        waiting = _Waiting(change)
        line.queue.put(waiting)
        line.start(self._run)
        if not waiting.done.acquire(timeout=LONGEST_WAIT):
            raise BusyError("the disk is slow; the batch may or may not have been kept")
        if isinstance(waiting.outcome, Record):
            return waiting.outcome
        raise waiting.outcome or StorageError("nothing was written")

    def close(self) -> None:
        """Write what waits, then end the thread of this process."""
        line = self._lines.pop(os.getpid(), None)
        if line:
            line.end()

    def _run(self, line: "_Line") -> None:
        with suppress(StorageError):
            self._batches.prepare()
        is_open = True
        while is_open:
            group = self._next(line)
            is_open = None not in group
            self._commit([waiting for waiting in group if waiting])

    def _next(self, line: "_Line") -> "list[_Waiting | None]":
        """Wait for changes, and use the first quiet moment for what can wait."""
        try:
            group = [line.queue.get(timeout=IDLE)]
        except queue.Empty:
            with suppress(StorageError):  # the next write meets the same trouble and tells its client
                self._batches.tidy(self._sure_day.read())
            group = [line.queue.get()]
        while len(group) < MOST_TOGETHER and not line.queue.empty():
            group.append(line.queue.get())
        return group

    def _commit(self, group: "list[_Waiting]") -> None:
        """Commit a group; if one change spoils it, each by itself."""
        if not group:
            return
        try:
            records = self._batches.commit([waiting.change for waiting in group])
        except Exception as error:  # it goes to the thread that waits
            if len(group) == 1 or isinstance(error, BusyError):
                for waiting in group:
                    waiting.settle(error)
            else:
                for waiting in group:
                    self._commit([waiting])
            return
        for waiting, record in zip(group, records, strict=True):
            waiting.settle(record)


class SureDay:
    """A day that the clock showed, and has not gone back behind for a day: what was due by then may go.

    So a clock that is wrong for some hours makes nothing forgotten that is still needed.
    """

    __slots__ = ("_clock", "_day", "_since", "_steady")

    def __init__(self, clock: Callable[[], float], steady: Callable[[], float]) -> None:
        self._clock, self._steady = clock, steady
        self._day, self._since = math.inf, 0.0

    def read(self) -> int:
        """Return the day, or 0 while none is sure."""
        today, now = int(self._clock() // DAY), self._steady()
        sure = today >= self._day and now - self._since >= DAY
        day = int(self._day) if sure else 0
        if sure or today < self._day:
            self._day, self._since = today, now
        return day


def _held() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@dataclass(slots=True)
class _Waiting:
    """A change, and what becomes of it once ``done`` is released."""

    change: Change
    done: threading.Lock = field(default_factory=_held)
    outcome: Record | Exception | None = None

    def settle(self, outcome: Record | Exception) -> None:
        """Let the thread that waits go on."""
        self.outcome = outcome
        self.done.release()


class _Line:
    """The queue of one process and its one thread; None in it ends the thread."""

    __slots__ = ("_lock", "_thread", "queue")

    def __init__(self) -> None:
        self.queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self, run: Callable[["_Line"], None]) -> None:
        if self._thread:
            return
        with self._lock:
            if not self._thread:
                thread = threading.Thread(target=run, args=(self,), name="hubbub-writer", daemon=True)
                thread.start()
                self._thread = thread

    def end(self) -> None:
        self.queue.put(None)
        if self._thread:
            self._thread.join()
