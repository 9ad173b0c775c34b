"""This file writes: one thread a process, and many changes in one commit, so that they share an fsync.

A thread that brings a change waits until it is durable. The writing thread starts with the first change of a
process, so a server may fork before that, or when told.
"""

import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from hubbub.errors import BusyError, DatabaseAwayError, StorageError
from hubbub_server.store.protocol import Batches
from hubbub_server.store.records import Change, Record
from hubbub_server.store.watch import Watch

MOST_TOGETHER = 256  # changes in one commit
LONGEST_WAIT = 30.0  # seconds for one change
IDLE = 2.0  # seconds without a change, after which what can wait is done
LONG_IDLE = 600.0  # seconds until it is done again while nothing comes
NEVER_IDLE = 60.0  # seconds of work, after which a step of it is done all the same,
BEHIND = 1.0  # and seconds until the next one if that was not all


class Writer:
    """Group commit for all threads of a process.

    rest: does a step of what can wait, and tells whether another is due.
    """

    __slots__ = ("_batches", "_lines", "_most_waiting", "_rest")

    def __init__(self, batches: Batches, *, most_waiting: int = 1000, rest: Callable[[], bool]) -> None:
        self._batches, self._most_waiting, self._rest = batches, most_waiting, rest
        self._lines: dict[int, _Line] = {}  # by process id: after a fork, the child starts its own

    def start(self) -> None:
        """Start the thread of this process, so that what can wait is done even if nothing comes."""
        self._line().start(self._run)

    def submit(self, change: Change) -> Record:
        """Return what is known under the change's id, once that is durable.

        Raises BusyError if too many wait, StorageFullError if the disk is full, StorageError if it fails.
        """
        line = self._line()
        if line.queue.qsize() >= self._most_waiting:
            raise BusyError("too many batches wait to be written")
        with line.watch.passed():
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

    def _line(self) -> "_Line":
        return self._lines.get(os.getpid()) or self._lines.setdefault(os.getpid(), _Line())

    def _run(self, line: "_Line") -> None:
        with suppress(Exception):  # a batch meets the same trouble, or none
            self._batches.prepare()
        while self._write(line):
            pass

    def _write(self, line: "_Line") -> bool:
        """Commit what comes next, and tell whether more may; nothing of it is held on to while none does."""
        group = self._next(line)
        self._commit([waiting for waiting in group if waiting])
        return None not in group

    def _next(self, line: "_Line") -> "list[_Waiting | None]":
        """Wait for changes, and use quiet moments for what can wait."""
        pause = IDLE
        if time.monotonic() - line.rested > line.patience:
            self._rest_once(line)
        while True:
            try:
                group = [line.queue.get(timeout=pause)]
                break
            except queue.Empty:
                pause = 0.0 if self._rest_once(line) else LONG_IDLE
        while len(group) < MOST_TOGETHER and not line.queue.empty():
            group.append(line.queue.get())
        return group

    def _rest_once(self, line: "_Line") -> bool:
        more = self._rest()
        line.rested, line.patience = time.monotonic(), BEHIND if more else NEVER_IDLE
        return more

    def _commit(self, group: "list[_Waiting]") -> None:
        """Commit a group; if one change spoils it, each by itself."""
        if not group:
            return
        try:
            records = self._batches.commit([waiting.change for waiting in group])
        except Exception as error:  # it goes to the thread that waits
            if len(group) == 1 or isinstance(error, BusyError | DatabaseAwayError):
                for waiting in group:
                    waiting.settle(error)
            else:
                for waiting in group:
                    self._commit([waiting])
            return
        for waiting, record in zip(group, records, strict=True):
            waiting.settle(record)


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

    __slots__ = ("_lock", "_thread", "patience", "queue", "rested", "watch")

    def __init__(self) -> None:
        self.rested = time.monotonic()  # when a step of what can wait was last done
        self.patience = NEVER_IDLE  # seconds of work until the next one
        self.queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self.watch = Watch()  # so that threads do not all wait for a database that is away
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
