"""This file holds what a client was made with, its manifest among it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.addresses import check_url
from hubbub.errors import DomainError, ManifestError
from hubbub.manifest import Manifest
from hubbub.period import DAY
from hubbub_client.clocks import careful
from hubbub_client.policy import Policy
from hubbub_client.sending.delivery import Delivery
from hubbub_client.sending.transport import Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a client was made with; see there.

    Directories are made absolute: if an app goes elsewhere, its ledger and its owner's switch stay.
    """

    url: str
    manifest: Manifest
    key: str | None = field(repr=False)
    policy: Policy
    data_dir: Path | None
    marker_dir: Path | None
    clock: Callable[[], float]
    transport: Transport | None
    delivery: Delivery
    strict: bool
    lock_wait: float
    environ: Mapping[str, str] = field(repr=False)
    maker_key: str | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", check_url(self.url))
        object.__setattr__(self, "clock", careful(self.clock))
        if not 0 <= self.lock_wait <= DAY:  # what is less or more, no lock can wait
            raise DomainError("lock_wait must be a number of seconds from 0 to 86,400")
        for name, directory in (("data_dir", self.data_dir), ("marker_dir", self.marker_dir)):
            if directory is not None:
                object.__setattr__(self, name, _absolute(directory))


def read_manifest(manifest: Manifest | str | os.PathLike[str]) -> Manifest:
    """Return a manifest, read from its file if it is the name of one.

    Raises ManifestError.
    """
    if isinstance(manifest, Manifest):
        return manifest
    path = Path(manifest)
    try:
        return Manifest.from_toml(path.read_text(encoding="utf-8"), where=path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"the manifest can't be read ({type(error).__name__})", where=str(path)) from None


def _absolute(directory: Path) -> Path:
    try:
        return directory.absolute()
    except OSError:  # the directory that the app is in was deleted
        raise DomainError("a relative directory leads nowhere from here; give an absolute one") from None
