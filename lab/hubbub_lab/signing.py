"""This file holds the commands of an app's maker: make a key pair, and sign a manifest with it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hubbub.errors import ConfigError, ManifestError, MissingExtraError
from hubbub.manifest import Manifest
from hubbub.signed_manifest import public_key_text, sign
from hubbub_lab.exit_codes import exit_codes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def make_key(file: Path) -> str:
    """Write a new private key for its owner's eyes alone, and return the public key for the app.

    Raises ConfigError if the file exists or can't be written, MissingExtraError without the extra "signed".
    """
    try:
        from cryptography.hazmat.primitives import serialization as form  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("hubbub keypair", "signed") from None
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(pem)
    except FileExistsError:
        raise ConfigError(f"{file} exists already; a key that is lost can't sign again, so keep it") from None
    except OSError as error:
        raise ConfigError(f"{file} can't be written: {error.strerror}") from None
    return _public(key)


def read_key(file: Path) -> "Ed25519PrivateKey":
    """Read a private key.

    Raises ConfigError if it is none, MissingExtraError without the extra "signed".
    """
    try:
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
        from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("hubbub sign", "signed") from None
    try:
        key = load_pem_private_key(file.read_bytes(), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm):  # whose texts may quote the file
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigError(
            f"{file} holds no Ed25519 private key in PEM without a password; see hubbub keypair"
        )
    return key


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def keypair(file: Path) -> None:
    """Write a private key to FILE, and print the public key that an app takes as maker_key."""
    with exit_codes():
        click.echo(make_key(file))
    click.echo(f"{file} holds the private key: keep it off every server, and never lose it", err=True)


@click.command("sign")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--key", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="By default beside it.")
def sign_file(file: Path, key: Path, output: Path | None) -> None:
    """Sign a manifest, so that devices with an older one may be paused or asked for less."""
    with exit_codes():
        try:
            text = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ManifestError(f"can't be read: {error}", where=str(file)) from None
        manifest = Manifest.from_toml(text, where=str(file))
        private = read_key(key)
        signed = sign(manifest, private)
        target = output or file.with_suffix(".signed.json")
        try:
            target.write_bytes(signed.encode())
        except OSError as error:
            raise ConfigError(f"{target} can't be written: {error.strerror}") from None
        click.echo(f"{target}: {manifest.app} serial {manifest.serial}, for devices with {_public(private)}")
        click.echo(f"digest {signed.digest}")


def _public(key: "Ed25519PrivateKey") -> str:
    return public_key_text(key.public_key().public_bytes_raw())
