"""This file makes and checks access keys: ``hb_ingest_``, ``hb_analyst_`` and ``hb_admin_``.

A key is its kind, a public number and a secret of 160 random bits; only the SHA-256 of the whole is kept.
"""

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

from hubbub.errors import RefusedError, StorageError
from hubbub.period import DAY
from hubbub_server.store.protocol import Keys
from hubbub_server.store.records import StoredKey

NOTED_AGAIN = 600.0  # seconds after which it is seen to anew that a day of use is noted
LONGEST_ROTATION = 3650  # days
ROTATION = 30  # days
FRESH = 1.0  # seconds that a key may still work that was revoked in another process, or has expired
KINDS = ("ingest", "analyst", "admin")
_FORM = re.compile(r"hb_(ingest|analyst|admin)_([0-9a-f]{8})_[0-9a-f]{40}")


def add_key(keys: Keys, kind: str, *, note: str = "") -> str:
    """Make a key, keep its hash, and return it: the only time that it is seen.

    Raises RefusedError for an unknown kind.
    """
    if kind not in KINDS:
        raise RefusedError("malformed_json", f"a key's kind is one of {', '.join(KINDS)}")
    if not isinstance(note, str) or len(note) > 200 or not note.isprintable():
        raise RefusedError("malformed_json", "a key's note is printable text of at most 200 characters")
    key, stored = _draw(kind, note)
    keys.add(stored)
    return key


def rotate_key(keys: Keys, number: str, *, days: int, now: float) -> tuple[str, str]:
    """Make a key of the same kind and note, and let the old one expire; return the new one and that day.

    days: from today until the old key is out of use; 0 for at once.

    Raises RefusedError if there is no key of this number in use, or if it has a successor already.
    """
    old = keys.find(number)
    if old is None or not old.is_in_use(day_of(now)):
        raise RefusedError("not_found", "there is no key of this number in use")
    key, successor = _draw(old.kind, old.note)
    expires = (date.fromisoformat(day_of(now)) + timedelta(days=days)).isoformat()
    if not keys.replace(number, successor, expires):
        raise RefusedError(
            "already_replaced",
            "this key has a successor already, and ends on the day that was told then; "
            "make one more with keys add, or end it at once with keys revoke",
        )
    return key, expires


def number_of(text: str) -> str:
    """Return the public number of a key that is given by its number or, by mistake, as a whole.

    >>> number_of("54761519"), number_of(f"hb_ingest_54761519_{'0' * 40}")
    ('54761519', '54761519')
    """
    form = _FORM.fullmatch(text)
    return form[2] if form else text


class KeyRing:
    """Let requests pass by their keys, each looked up at most once a second."""

    __slots__ = ("_forgotten", "_fresh", "_keys", "_noted")

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._fresh: dict[str, tuple[float, StoredKey | None]] = {}  # by number: until when, and what it is
        self._forgotten = 0  # how often any was
        self._noted: dict[str, tuple[int, float]] = {}  # by number: day of use, till when noted

    def authenticate(self, header: str | None, kinds: Collection[str], *, now: float) -> StoredKey:
        """Return the key that an Authorization header bears, if it is in use and of one of some kinds.

        Raises RefusedError: unauthorized or forbidden.
        """
        scheme, _, key = (header or "").partition(" ")
        form = _FORM.fullmatch(key.strip())
        if scheme.lower() != "bearer" or not form:
            raise RefusedError("unauthorized", "send the header Authorization: Bearer, then a key")
        stored = self._find(form[2], now)
        is_right = hmac.compare_digest(stored.secret_hash if stored else bytes(32), _hash(form[0]))
        if not is_right or stored is None:
            raise RefusedError("unauthorized", "this key is unknown, revoked or expired")
        if stored.kind not in kinds:
            raise RefusedError("forbidden", f"this route takes a key of kind {' or '.join(kinds)}")
        self._note(stored, now)
        return stored

    def forget(self, number: str) -> None:
        """Look a key up anew the next time: it was revoked, or is to expire."""
        self._forgotten += 1
        self._fresh.pop(number, None)

    def _find(self, number: str, now: float) -> StoredKey | None:
        until, stored = self._fresh.get(number, (0.0, None))
        asked, forgotten = time.monotonic(), self._forgotten
        if asked < until:
            return stored
        stored = self._keys.find(number)
        if stored is None:  # and not remembered: there are too many numbers that somebody may try
            return None
        usable = stored if stored.is_in_use(day_of(now)) else None
        self._fresh[number] = (asked + FRESH, usable)
        if forgotten != self._forgotten:  # meanwhile, so that this may be old already
            self._fresh.pop(number, None)
        return usable

    def _note(self, key: StoredKey, now: float) -> None:
        """Note the day of a use; trouble is no reason to turn a batch away, nor to wait for it again soon."""
        today = int(now // DAY)
        day, until = self._noted.get(key.number, (0, 0.0))
        if day == today and time.monotonic() < until:
            return
        self._noted[key.number] = (today, time.monotonic() + NOTED_AGAIN)
        if key.last_used < day_of(now):
            with suppress(StorageError):
                self._keys.use(key.number, day_of(now))


def day_of(now: float) -> str:
    """Return the day of a Unix time as an ISO date."""
    return datetime.fromtimestamp(now, UTC).date().isoformat()


def _draw(kind: str, note: str) -> tuple[str, StoredKey]:
    number = secrets.token_hex(4)
    key = f"hb_{kind}_{number}_{secrets.token_hex(20)}"
    return key, StoredKey(number, kind, _hash(key), note)


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("ascii")).digest()
