"""This file keeps the signed manifests that a device took, in a file of their own beside its database.

To lose the file costs no privacy: an app's own manifest holds then, which asks at most more than they did.
"""

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import msgspec

from hubbub.period import DAY, GRACE, LENGTHS
from hubbub_client.moments import EARLIEST, LATEST, day

FILE = "manifest.signed"
_LONGEST = 2**23  # bytes: some 44 documents of 64 KiB, with every quote escaped once more
_NEEDED = max(LENGTHS) * DAY + GRACE  # seconds in which a period that began under a document is reported on
_MOST = _NEEDED // DAY + 2  # documents: one for each midnight among them, and the newest

_Moment = Annotated[int, msgspec.Meta(ge=EARLIEST, le=LATEST)]  # a file that says another is damaged
_Serial = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


@dataclass(frozen=True, slots=True)
class Document:
    """A signed manifest as it came, and the Unix time from which this device has had it."""

    since: _Moment
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a device keeps about its app's maker.

    documents: oldest first. ask_at: Unix time of the next question for news, or None before one was drawn.
    seen_at: when the collector last showed the newest document. serial, digest: of that. changes: what it
    changes, in words. trouble: why the last question brought nothing, or "".
    """

    documents: Annotated[tuple[Document, ...], msgspec.Meta(max_length=_MOST)] = ()
    ask_at: _Moment | None = None
    seen_at: _Moment = 0
    serial: _Serial = 0
    digest: str = ""
    changes: tuple[str, ...] = ()
    trouble: str = ""

    def plus(self, document: Document) -> "Kept":
        """Add the newest document, and forget those under which no period began that is still reported on.

        Periods begin at midnight, so at most one a day is kept. No number of newer ones displaces one that
        a period still holds to: to forget it would ask in the middle of that period what it had paused.
        """
        documents, oldest = (*self.documents, document), document.since - _NEEDED
        needed = (
            one for one, later in pairwise(documents) if _midnight(max(one.since, oldest)) < later.since
        )
        return replace(self, documents=(*needed, document))

    def lines(self) -> tuple[str, ...]:
        """Say what the app's maker asked from afar, and whether anything was wrong with it."""
        taken = (
            f"signed manifest {self.serial}, digest {self.digest}, seen {day(self.seen_at)}:",
            f"  {'; '.join(self.changes) or 'changes nothing'}",
        )
        wrong = f"no signed manifest at the last try: {self.trouble}"
        return (taken if self.documents else ()) + ((wrong,) if self.trouble else ())


def load(directory: Path) -> Kept:
    """Read what is kept; nothing, if the file is missing, damaged or not to be read."""
    damage = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
    if not (directory / FILE).is_file():  # a pipe in its place would hold up an app for ever
        return Kept()
    with suppress(OSError, *damage), (directory / FILE).open("rb") as file:
        return msgspec.json.decode(file.read(_LONGEST), type=Kept)
    return Kept()


def save(directory: Path, kept: Kept) -> None:
    """Replace the file as a whole.

    Raises OSError.
    """
    draft = directory / f"{FILE}.{secrets.token_hex(8)}"  # other threads save, and other machines' processes
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(kept))
        draft.replace(directory / FILE)
    finally:
        draft.unlink(missing_ok=True)


def version(directory: Path) -> tuple[int, int] | None:
    """Tell one state of the file from another without reading it; None if there is none."""
    with suppress(OSError):
        found = os.stat(directory / FILE)  # noqa: PTH116 - at each record, and Path is slow
        return found.st_ino, found.st_mtime_ns
    return None


def _midnight(at: int) -> int:
    """Return the first midnight that is not before a Unix time."""
    return -(-at // DAY) * DAY
