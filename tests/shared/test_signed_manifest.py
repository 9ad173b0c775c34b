"""This file proves that only what a maker signed is taken for it, and holds the golden vector."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as some

from hubbub.declaration import boolean
from hubbub.errors import DomainError, ManifestError
from hubbub.manifest import Manifest
from hubbub.signed_manifest import LONGEST, SignedManifest, check_public_key, public_key_text, sign

VECTOR: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors/signed_manifest.json").read_text())
KEY = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(VECTOR["private_key"]))
PUBLIC = KEY.public_key().public_bytes_raw()
DOCUMENT = VECTOR["document"].encode()
MANIFEST = SignedManifest.decode(DOCUMENT).manifest()


def test_the_golden_vector_is_signed_to_the_byte() -> None:
    signed = sign(MANIFEST, KEY)

    assert signed.encode() == DOCUMENT
    assert signed.content.decode() == VECTOR["content"]
    assert signed.signature.hex() == VECTOR["signature"]
    assert signed.digest == VECTOR["digest"]
    assert bytes.fromhex(VECTOR["message"]) == b"hubbub manifest 1\0" + signed.content


def test_the_golden_vector_is_taken_by_its_public_key() -> None:
    public = check_public_key(VECTOR["public_key"])

    SignedManifest.decode(DOCUMENT).verify(public)

    assert public == PUBLIC


@pytest.mark.parametrize("refused", VECTOR["refused"], ids=lambda refused: refused["why"])
def test_every_forged_vector_is_refused(refused: dict[str, str]) -> None:
    document = refused["document"].encode("latin-1")

    with pytest.raises(ManifestError):
        SignedManifest.decode(document).verify(PUBLIC)


@given(some.integers(0, len(DOCUMENT) - 1), some.integers(1, 255))
def test_a_document_with_one_byte_changed_is_refused_or_says_the_same(place: int, change: int) -> None:
    changed = bytearray(DOCUMENT)
    changed[place] ^= change

    try:
        signed = SignedManifest.decode(bytes(changed))
        signed.verify(PUBLIC)
        said = signed.content.decode()
    except ManifestError:
        said = VECTOR["content"]

    assert said == VECTOR["content"]


@given(some.binary(max_size=200))
def test_bytes_that_are_no_document_are_refused_with_our_error(data: bytes) -> None:
    with pytest.raises(ManifestError):
        SignedManifest.decode(data)


@pytest.mark.parametrize(
    "document",
    [
        {"manifest": 1, "signature": ""},
        {"manifest": "{}", "signature": None},
        {"manifest": "\ud800", "signature": ""},
        {"manifest": "{}", "signature": "\u00e4"},
        {"manifest": "{}", "signature": "A A="},
        {"manifest": "{}"},
        [],
    ],
)
def test_a_document_of_another_shape_is_refused(document: object) -> None:
    with pytest.raises(ManifestError):
        SignedManifest.decode(json.dumps(document).encode())


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format":1,"format":1}', "[" * 30_000])
def test_a_signature_under_no_manifest_is_no_manifest(content: str) -> None:
    signed = SignedManifest(content.encode(), KEY.sign(b"hubbub manifest 1\0" + content.encode()))
    signed.verify(PUBLIC)

    with pytest.raises(ManifestError):
        signed.manifest()


def test_the_key_of_somebody_else_is_refused() -> None:
    other = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw()

    with pytest.raises(ManifestError, match="not signed by its maker"):
        SignedManifest.decode(DOCUMENT).verify(other)


def test_a_document_longer_than_a_device_reads_is_neither_written_nor_read() -> None:
    metrics = tuple(boolean(f"fact_{at}", epsilon=1, why="w" * 400) for at in range(200))
    signed = sign(Manifest(app="notepad", serial=1, metrics=metrics), KEY)

    with pytest.raises(ManifestError, match=f"at most {LONGEST} bytes"):
        signed.encode()
    with pytest.raises(ManifestError, match=f"at most {LONGEST} bytes"):
        SignedManifest.decode(b" " * (LONGEST + 1))


def test_an_open_mechanism_is_not_signed() -> None:
    manifest = Manifest(app="a", serial=1, metrics=(boolean("dark", epsilon=1, mechanism="best"),))

    with pytest.raises(ManifestError, match="still open in dark"):
        sign(manifest, KEY)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hb_public_",
        "hb_public_" + "A" * 42,
        "hb_public_" + "A" * 44,
        "hb_public_" + "A" * 42 + "B",  # which sets bits that belong to no byte
        "hb_public_" + base64.b64encode(b"\xff" * 32).decode().rstrip("="),
        "hb_ingest_" + "A" * 43,
        "hb_public_" + "A" * 43 + "\n",
        7,
    ],
)
def test_a_text_that_is_no_public_key_is_refused(text: Any) -> None:
    with pytest.raises(DomainError, match="hubbub keypair"):
        check_public_key(text)


@given(some.binary(min_size=32, max_size=32))
def test_a_public_key_survives_as_text(key: bytes) -> None:
    assert check_public_key(public_key_text(key)) == key
