"""This file watches what an app records in a test: that it did, how often and with which labels, never what.

A report is drawn at random, so a test that looked into one would pass or fail by chance.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any, cast

from hubbub.errors import DomainError
from hubbub.manifest import Manifest
from hubbub_client.client import Client
from hubbub_client.outcome import Recorded, Skipped
from hubbub_client.sending.transport import Request
from hubbub_client.session import Session
from hubbub_client.settings import read_manifest
from hubbub_client.testing import BY_FLUSH, RecordingTransport


@dataclass(frozen=True, slots=True)
class Seen:
    """What a test saw of a metric; true if it was recorded.

    times: how often. labels: of each time. skips: the code of each time that it was not.
    """

    times: int
    labels: tuple[Mapping[str, str], ...]
    skips: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.times > 0


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of ``record``, without its value.

    skip: the code, or "" for what was recorded.
    """

    name: str
    labels: Mapping[str, str]
    skip: str


class _Watched:
    """A session whose records are noted; in everything else it is itself.

    before: the session that its client had until then, and has again once nobody watches.
    """

    def __init__(self, session: Session, calls: list[_Call], before: Session) -> None:
        self._session, self._calls, self.before = session, calls, before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def record(self, name: str, value: object, labels: Mapping[str, str] | None) -> Recorded | Skipped:
        outcome = self._session.record(name, value, labels)
        code = outcome.code if isinstance(outcome, Skipped) else ""
        self._calls.append(_Call(name, dict(labels or {}), code))
        return outcome

    def hand_over(self, call: Callable[[], object]) -> None:
        """Make a call at once, so that a test sees what it recorded."""
        call()


class Witness:
    """Makes clients for a test, each app's on one device, and sees what they record.

    directory: where the devices are.

    >>> from tempfile import mkdtemp
    >>> from hubbub.declaration import boolean
    >>> witness = Witness(Path(mkdtemp()))
    >>> client = witness.client(Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon="1"),)))
    >>> _ = client.record("dark", True), client.record("dark", False)
    >>> witness.recorded("dark")
    Seen(times=1, labels=({},), skips=('already_answered',))
    """

    def __init__(self, directory: Path) -> None:
        self._directory, self._transport = directory, RecordingTransport()
        self._watched: list[tuple[Client, _Watched]] = []
        self._calls: list[_Call] = []
        self._names: set[str] = set()

    def client(self, manifest: Manifest | str | PathLike[str], **options: Any) -> Client:
        """Return a client with consent and without a network.

        options: as for Client. Raises ManifestError.
        """
        read = read_manifest(manifest)
        given = {"transport": self._transport, "data_dir": self._directory / read.app, **options}
        client = Client.for_testing(read, **given)
        return self._watch(client, client._session)  # noqa: SLF001 - an app has no business there, a test has

    def watch(self, client: Client, **options: Any) -> Client:
        """Watch a client that the app made itself, before its first record, and return it.

        Until this is closed it works on this test's directory, without a network: each time as it was made
        and with the consent that the app gave it unwatched, whatever was said to it in a test.

        options: as for Client.
        """
        own = client._session  # noqa: SLF001 - as above
        while isinstance(own, _Watched):
            own = own.before
        made = {field.name: getattr(own.settings, field.name) for field in fields(own.settings)}
        here = {
            "transport": self._transport,
            "data_dir": self._directory / own.settings.manifest.app,
            "marker_dir": None,
            "delivery": BY_FLUSH,
            "environ": {},
        }
        session = Client(**{**made, **here, **options})._session  # noqa: SLF001
        if "consent" not in options:
            session.permission.take_over(own.permission)
            session.skips.is_consent_settled = own.skips.is_consent_settled
        return self._watch(client, session)

    def _watch(self, client: Client, session: Session) -> Client:
        watched = _Watched(session, self._calls, client._session)  # noqa: SLF001 - as above
        client._session = cast("Session", watched)  # noqa: SLF001
        self._watched.append((client, watched))
        self._names.update(session.metrics)
        return client

    @property
    def requests(self) -> list[Request]:
        """What was sent, after ``flush``."""
        return self._transport.requests

    def recorded(self, name: str) -> Seen:
        """Return what was seen of a metric.

        Raises DomainError if no client of this test knows it, so that a slip of the pen proves nothing.
        """
        if name not in self._names:
            raise DomainError(f"no client of this test has a metric {name!r}")
        calls = [call for call in self._calls if call.name == name]
        labels = tuple(call.labels for call in calls if not call.skip)
        return Seen(len(labels), labels, tuple(call.skip for call in calls if call.skip))

    def close(self) -> None:
        """Close every client, and give each one back as it was before it was watched."""
        while self._watched:
            client, watched = self._watched.pop()
            client._session = watched.before  # noqa: SLF001 - as above
            watched.close()
