"""This file puts the parts of a client together at first need, and takes them safely across forks."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hubbub.errors import StorageError
from hubbub_client.consent import Permission
from hubbub_client.holding import hold, holding, release
from hubbub_client.hooks import around_fork, at_exit
from hubbub_client.location import home
from hubbub_client.sending.transport import Collector, Transport
from hubbub_client.settings import Settings

if TYPE_CHECKING:
    from _thread import RLock

    from hubbub_client.answering.recorder import Recorder
    from hubbub_client.maker import Maker
    from hubbub_client.worker import Worker

T = TypeVar("T")


class Assembly:
    """The parts of one client; each list below holds its one thing once it was made."""

    def __init__(self, settings: Settings, permission: Permission) -> None:
        import logging  # noqa: F401, PLC0415 - a fork must take its lock after ours: what we import needs it
        import threading  # noqa: PLC0415 - not for an app that only imports us

        self._settings, self._permission = settings, permission
        self._gate = threading.RLock()
        self._recorders: list[Recorder] = []
        self._workers: list[Worker] = []
        self._homes: list[Path | StorageError] = []
        self._held: list[RLock] = []  # while a fork is made
        around_fork(
            self,
            before=Assembly._before_fork,
            in_parent=Assembly._in_parent,
            in_child=Assembly._in_child,
        )

    @property
    def directory(self) -> Path:
        """Where this device keeps its files.

        Raises StorageError for a user without a home.
        """
        return self._settings.data_dir or self.home / self._settings.manifest.app

    @property
    def worker(self) -> "Worker":
        """What records for asynchronous code.

        Raises BusyError, as ``hurried`` does.
        """
        return self._once(self._workers, self._worker)

    @property
    def recorder(self) -> "Recorder":
        """The working parts, made once.

        Raises BusyError, as ``hurried`` does.
        """
        return self._once(self._recorders, self._recorder)

    def importing(self) -> AbstractContextManager[object]:
        """Keep every fork waiting: a child would wait for ever for what another thread was importing."""
        return self._gate

    def hurried(self, act: Callable[[], T]) -> T:
        """Do something while importing, after waiting for other threads no longer than a record may.

        Raises BusyError; never within ``importing``.
        """
        busy = "another thread is importing what a record needs; try again"
        return holding(self._gate, act, seconds=self._settings.lock_wait, busy=busy)

    def settle(self, seconds: float) -> float | None:
        """Wait for what the worker was handed until now; return the seconds left, or None if none are."""
        return self._workers[0].settle(seconds) if self._workers else seconds

    def close(self) -> None:
        """Close what was opened, once the worker is done, if that is soon."""
        for worker in self._workers:
            worker.close()
        for recorder in self._recorders:
            recorder.close()

    def _once(self, parts: list[T], make: Callable[[], T]) -> T:
        """Return a part, made at first need; raises BusyError, as ``hurried`` does."""
        return parts[0] if parts else self.hurried(lambda: self._added(parts, make))

    def _added(self, parts: list[T], make: Callable[[], T]) -> T:
        if not parts:
            part = make()
            at_exit(self, Assembly._finish)  # it is called before what was to be called until now
            parts.append(part)
        return parts[0]

    def _worker(self) -> "Worker":
        from hubbub_client.worker import Worker  # noqa: PLC0415 - most apps are not asynchronous

        return Worker()

    def _recorder(self) -> "Recorder":
        from hubbub_client.answering.questions import Questions  # noqa: PLC0415 - not before the first record
        from hubbub_client.answering.recorder import Recorder  # noqa: PLC0415 - imports sqlite3
        from hubbub_client.answering.rules import Rules  # noqa: PLC0415
        from hubbub_client.sending.sender import Sender  # noqa: PLC0415
        from hubbub_client.storage.device import Device  # noqa: PLC0415

        settings, permission = self._settings, self._permission
        device = Device(
            self.directory,
            lock_wait=settings.lock_wait,
            clock=settings.clock,
            marker_dir=settings.marker_dir,
        )
        transport = settings.transport
        carrier = _http if transport is None else lambda: transport
        collector = Collector(settings.url, carrier, settings.key)
        maker, clock = self._maker(), settings.clock
        sender = Sender(
            device,
            collector,
            permission=permission,
            delivery=settings.delivery,
            clock=clock,
            importing=self.importing,
            maker=maker,
        )
        rules = Rules(settings.policy.limits, settings.delivery)
        questions = Questions(settings.manifest, maker=maker, clock=clock, hurried=self.hurried)
        return Recorder(questions, device, sender, rules=rules, permission=permission, clock=clock)

    def _maker(self) -> "Maker | None":
        settings = self._settings
        if settings.maker_key is None:
            return None
        from hubbub_client.maker import Maker  # noqa: PLC0415 - as above

        own, key, delay = settings.manifest, settings.maker_key, settings.delivery.delay
        return Maker(own, key, self.directory, clock=settings.clock, delay=delay)

    @property
    def home(self) -> Path:
        """The directory that holds a directory for each app.

        Raises StorageError for a user without one, BusyError as ``hurried`` does.
        """
        found = self._once(self._homes, _found_home)  # or else a transaction might wait for what a fork holds
        if isinstance(found, StorageError):
            raise StorageError(str(found))
        return found

    def _before_fork(self) -> None:
        """Wait for what other threads import and write, and let no connection pass into the child."""
        hold(self._gate, self._held)
        for recorder in self._recorders:
            hold(recorder.device.lock, self._held)
            recorder.device.drop()

    def _in_parent(self) -> None:
        release(self._held)

    def _in_child(self) -> None:
        """Take nothing along that another thread may have been using: locks, threads, connections."""
        import threading  # noqa: PLC0415 - long imported

        self._gate, self._held = threading.RLock(), []
        for recorder in self._recorders:
            recorder.device.in_child()
            recorder.sender.begin()
        for worker in self._workers:
            worker.begin()

    def _finish(self) -> None:
        """Wait for a moment at the end of the process: for what is in line, on its way, or being written."""
        for worker in self._workers:
            worker.finish()
        for recorder in self._recorders:
            recorder.finish()


def _found_home() -> Path | StorageError:
    try:
        return home()
    except StorageError as error:
        return error


def _http() -> Transport:
    from hubbub_client.sending.http import HttpTransport  # noqa: PLC0415 - imports requests, in the sending thread

    return HttpTransport()
