"""This file holds the signed manifest: one that devices take from afar if its maker signed it, by Ed25519.

What is signed are the manifest's exact bytes behind a prefix that no other use of the key has. The public key
ships with the app as text; signing and checking need the extra "signed".
"""

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hubbub.errors import DomainError, ManifestError, MissingExtraError
from hubbub.manifest import Manifest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PREFIX = b"hubbub manifest 1\0"
LONGEST = 65_536  # bytes of the whole document
_PUBLIC_KEY = re.compile(r"hb_public_([A-Za-z0-9_-]{43})")
_MEMBERS = {"manifest", "signature"}


@dataclass(frozen=True, slots=True)
class SignedManifest:
    """A manifest's exact bytes, and the 64-byte signature over them; not yet checked."""

    content: bytes
    signature: bytes

    @classmethod
    def decode(cls, data: bytes) -> "SignedManifest":
        """Read the JSON document that travels.

        Raises ManifestError.
        """
        if len(data) > LONGEST:
            raise ManifestError(f"a signed manifest has at most {LONGEST} bytes")
        document = _plain(data)
        if not isinstance(document, dict) or document.keys() != _MEMBERS:
            raise ManifestError("a signed manifest is a JSON object of manifest and signature, and no more")
        content, signature = document["manifest"], document["signature"]
        if not isinstance(content, str) or not isinstance(signature, str):
            raise ManifestError("manifest and signature must be strings")
        try:
            return cls(content.encode("utf-8"), base64.b64decode(signature, validate=True))
        except ValueError:
            raise ManifestError("the manifest must be Unicode, and the signature base64") from None

    def encode(self) -> bytes:
        """Write the JSON document that travels.

        Raises ManifestError if it is too long.
        """
        signature = base64.b64encode(self.signature).decode("ascii")
        document = {"manifest": self.content.decode("utf-8"), "signature": signature}
        data = json.dumps(document, indent=1).encode("ascii") + b"\n"
        if len(data) > LONGEST:
            raise ManifestError(f"a signed manifest has at most {LONGEST} bytes, this one {len(data)}")
        return data

    @property
    def digest(self) -> str:
        """The SHA-256 of the manifest's bytes, in hex: by it, people can compare what they were sent."""
        return hashlib.sha256(self.content).hexdigest()

    def manifest(self) -> Manifest:
        """Read the manifest, whoever signed it.

        Raises ManifestError.
        """
        return Manifest.from_document(_plain(self.content))

    def verify(self, public_key: bytes) -> None:
        """Make sure that whoever holds the other half of a key signed exactly this.

        Raises ManifestError if not, MissingExtraError without the extra "signed".
        """
        try:
            from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
        except ImportError:
            raise MissingExtraError("a signed manifest", "signed") from None
        try:
            Ed25519PublicKey.from_public_bytes(public_key).verify(self.signature, PREFIX + self.content)
        except InvalidSignature:
            raise ManifestError(
                "the manifest is not signed by its maker's key, or was changed since"
            ) from None


def sign(manifest: Manifest, key: "Ed25519PrivateKey") -> SignedManifest:
    """Sign a manifest.

    Raises ManifestError while one of its mechanisms is open.
    """
    if manifest.unresolved:
        raise ManifestError(
            f'mechanism = "best" is still open in {", ".join(manifest.unresolved)}',
            remedy="run hubbub plan --write, or name a mechanism",
        )
    content = json.dumps(manifest.document(), sort_keys=True, separators=(",", ":")).encode("ascii")
    return SignedManifest(content, key.sign(PREFIX + content))


def public_key_text(public_key: bytes) -> str:
    """Write a public key as an app has it in its code.

    >>> public_key_text(bytes(32))
    'hb_public_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    return f"hb_public_{base64.urlsafe_b64encode(public_key).decode('ascii').rstrip('=')}"


def check_public_key(text: str) -> bytes:
    """Return the 32 bytes of a public key, by which a device is to check signatures.

    Raises DomainError for any other text, and MissingExtraError where nothing can be checked.
    """
    found = _PUBLIC_KEY.fullmatch(text) if isinstance(text, str) else None
    key = base64.urlsafe_b64decode(f"{found[1]}=") if found else b""
    if not key or public_key_text(key) != text:  # or spare bits of the last letter are set
        raise DomainError("a maker's key must be hb_public_ and 43 letters, as hubbub keypair prints it")
    if find_spec("cryptography") is None:  # which imports nothing
        raise MissingExtraError("a maker's key", "signed")
    return key


def _plain(data: bytes) -> object:
    """Parse strict JSON: no key twice, no floats."""
    from hubbub.batch_json import strict_json  # noqa: PLC0415 - imports msgspec, which a client may do without
    from hubbub.errors import BatchError  # noqa: PLC0415

    try:
        return strict_json(data)
    except BatchError as error:
        raise ManifestError(str(error)) from None
