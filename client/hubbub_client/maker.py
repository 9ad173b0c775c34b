"""This file listens to an app's maker: signed manifests from afar, which can take away and never add.

The collector only carries them. It can hold one back; it can neither make one nor bring back an earlier one.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from hubbub.errors import HubbubError, ManifestError
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub.period import DAY, period_at, start_of
from hubbub.signed_manifest import SignedManifest, check_public_key
from hubbub.tightening import differences, tighten
from hubbub_client import kept_manifests
from hubbub_client.kept_manifests import Document, Kept
from hubbub_client.logs import Log
from hubbub_client.sending.transport import Answer, Request, Transport

_log = Log(__name__)


@dataclass(frozen=True, slots=True)
class _Signed:
    """A document that was read and checked, and what it leaves of the app's own manifest."""

    document: Document
    serial: int
    digest: str
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class _View:
    """The kept file as it was read: documents that hold, newest first, and every form of every metric."""

    version: tuple[int, int] | None
    kept: Kept
    documents: tuple[_Signed, ...]
    forms: tuple[Metric, ...]


class Maker:
    """What the maker of an app asks of a device: in the app itself, and from afar.

    key: the public key as text. delay: seconds within which to ask for the first time; None for a day.
    """

    def __init__(
        self, own: Manifest, key: str, directory: Path, *, clock: Callable[[], float], delay: float | None
    ) -> None:
        self._own, self._public_key, self._directory = own, check_public_key(key), directory
        self._clock, self._delay = clock, DAY if delay is None else delay
        self._view = _View(None, Kept(), (), own.metrics)

    def metric(self, own: Metric, now: float) -> Metric | None:
        """Return how a metric of the app is asked now, or None while it is paused.

        One that reports about silence changes with its next period: else the change would tell who had
        recorded something before it.
        """
        at = inf if own.absent is None else start_of(period_at(now, own.period), own.period)
        manifest = next(
            (one.manifest for one in self._read().documents if one.document.since <= at), self._own
        )
        return next((metric for metric in manifest.metrics if metric.name == own.name), None)

    def forms(self) -> tuple[Metric, ...]:
        """Return every metric in every form in which a period that is over may have begun."""
        return self._read().forms

    def wait(self) -> float:
        """Return how many seconds it is until the maker is to be asked, at a time drawn at random."""
        view, now = self._read(), self._clock()
        if any(one.since > now + DAY for one in view.kept.documents):  # taken while the clock was ahead
            told = (replace(one, since=min(one.since, int(now))) for one in view.kept.documents)
            self._keep(replace(view.kept, documents=tuple(told)))
            view = self._view
        asks = view.kept.ask_at
        if asks is None or asks > now + 2 * DAY:  # the clock was set back
            asks = int(now + self._delay * _chance())
            self._keep(replace(view.kept, ask_at=asks))
        return max(0.0, asks - now)

    def ask(self, url: str, transport: Transport, *, timeout: float, permit: Callable[[], object]) -> None:
        """Fetch the newest manifest, once; whatever comes, the next question is more than a day away.

        timeout, permit: as for a request.
        """
        now = int(self._clock())
        self._keep(replace(self._read().kept, ask_at=now + DAY + int(DAY * _chance())))
        address = f"{url}/v1/manifests/{self._own.app}/signed"
        request = Request(address, b"", {}, timeout, method="GET", permit=permit)
        try:
            self._take(transport.send(request), now)
        except HubbubError as error:
            _log.say("no news from the app's maker: %s", error)
            self._keep(replace(self._read().kept, trouble=str(error)))

    def prepare(self) -> None:
        """Import what it takes to check a signature."""
        with suppress(ImportError):
            import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401, PLC0415 - an extra
        self._read()

    def _take(self, answer: Answer, now: int) -> None:
        """Accept what came.

        Raises ManifestError if it is not what it should be.
        """
        if answer.status != 200:
            raise ManifestError(f"the collector answered {answer.status}")
        signed, manifest = self._checked(answer.body)
        view = self._read()
        newest = view.documents[0] if view.documents else None
        if newest is not None and manifest.serial < newest.serial:
            raise ManifestError(f"serial {manifest.serial} came back, after {newest.serial} was taken")
        if newest is not None and manifest.serial == newest.serial and signed.digest != newest.digest:
            raise ManifestError(f"two manifests have serial {manifest.serial}; this device keeps the first")
        kept = replace(view.kept, seen_at=now, trouble="")
        if newest is None or manifest.serial > newest.serial:
            kept = kept.plus(Document(now, answer.body.decode("utf-8")))
        self._keep(kept)

    def _checked(self, data: bytes) -> tuple[SignedManifest, Manifest]:
        """Read a document.

        Raises ManifestError if the maker did not sign it, or for another app.
        """
        signed = SignedManifest.decode(data)
        signed.verify(self._public_key)
        manifest = signed.manifest()
        if manifest.app != self._own.app:
            raise ManifestError("the signed manifest is for another app")
        return signed, manifest

    def _read(self) -> _View:
        """Return what was taken, by this process or another."""
        version = kept_manifests.version(self._directory)
        if version != self._view.version:
            self._view = self._viewed(version, kept_manifests.load(self._directory))
        return self._view

    def _keep(self, kept: Kept) -> None:
        """Keep something, and the words for it; in memory alone if the disk refuses."""
        view = self._viewed(None, kept)
        if view.documents:
            newest = view.documents[0]
            words = differences(self._own, newest.manifest)
            kept = replace(kept, serial=newest.serial, digest=newest.digest, changes=words)
        with suppress(OSError):
            kept_manifests.save(self._directory, kept)
        self._view = replace(view, kept=kept, version=kept_manifests.version(self._directory))

    def _viewed(self, version: tuple[int, int] | None, kept: Kept) -> _View:
        documents = tuple(self._held(kept))
        forms: dict[object, Metric] = {}
        for manifest in (*(one.manifest for one in documents), self._own):
            for metric in manifest.metrics:
                forms.setdefault((metric.name, metric.epsilon, metric.delta), metric)
        return _View(version, kept, documents, tuple(forms.values()))

    def _held(self, kept: Kept) -> Iterator[_Signed]:
        known = {one.document: one for one in self._view.documents}  # to check many takes half a second
        for document in reversed(kept.documents):
            if document in known:
                yield known[document]
                continue
            with suppress(HubbubError):  # damaged, or of another key or app: as if it had never come
                signed, manifest = self._checked(document.text.encode("utf-8"))
                left = tighten(self._own, manifest)
                yield _Signed(document, manifest.serial, signed.digest, left)


def _chance() -> float:
    return secrets.randbelow(2**32) / 2**32
