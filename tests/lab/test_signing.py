"""This file proves that a maker's key stays its own, and that what it signs is what devices take."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.manifest import Manifest
from hubbub.signed_manifest import SignedManifest, check_public_key
from hubbub_lab.cli import command

TOML = 'format = 1\napp = "notepad"\nserial = 2\n[metrics.dark]\nkind = "boolean"\nepsilon = "0.5"\n'
START = """
import sys
sys.modules |= {"cryptography": None}  # None there is Python's own way to say: not installed
sys.argv = ["hubbub", *sys.argv[1:]]
from hubbub_lab.__main__ import main
main()
"""


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words])


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "metrics.toml"
    file.write_text(TOML)
    return file


def test_a_manifest_is_signed_for_the_public_key_that_was_printed(tmp_path: Path, manifest: Path) -> None:
    public = run("keypair", tmp_path / "private.pem").stdout.strip()
    target = tmp_path / "signed.json"

    result = run("sign", manifest, "--key", tmp_path / "private.pem", "-o", target)

    signed = SignedManifest.decode(target.read_bytes())
    signed.verify(check_public_key(public))
    assert signed.manifest() == Manifest.from_toml(TOML)
    assert result.output.splitlines() == [
        f"{target}: notepad serial 2, for devices with {public}",
        f"digest {signed.digest}",
    ]


def test_the_signed_file_is_by_default_beside_the_manifest(tmp_path: Path, manifest: Path) -> None:
    run("keypair", tmp_path / "private.pem")

    run("sign", manifest, "--key", tmp_path / "private.pem")

    assert (tmp_path / "metrics.signed.json").exists()


def test_a_private_key_is_its_owner_s_alone_and_is_never_shown(tmp_path: Path, manifest: Path) -> None:
    file = tmp_path / "private.pem"

    made, signed = run("keypair", file), run("sign", manifest, "--key", file)

    secret = file.read_text().splitlines()[1]
    assert file.stat().st_mode & 0o777 == 0o600
    assert secret not in made.output + signed.output


def test_a_key_is_never_written_over_another(tmp_path: Path) -> None:
    file = tmp_path / "private.pem"
    run("keypair", file)
    before = file.read_bytes()

    again = run("keypair", file)

    assert (again.exit_code, file.read_bytes()) == (1, before)
    assert "exists already" in again.output


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n",
        b"-----BEGIN PRIVATE KEY-----\n"  # of X25519
        b"MC4CAQAwBQYDK2VuBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n-----END PRIVATE KEY-----\n",
    ],
)
def test_a_file_that_holds_no_key_to_sign_with_is_refused_and_not_shown(
    tmp_path: Path, manifest: Path, content: bytes
) -> None:
    file = tmp_path / "private.pem"
    file.write_bytes(content)

    result = run("sign", manifest, "--key", file)

    assert (result.exit_code, result.exception.__class__) == (1, SystemExit)
    assert "holds no Ed25519 private key" in result.output
    assert "SECRET" not in result.output


def test_a_manifest_that_leaves_a_mechanism_open_is_not_signed(tmp_path: Path, manifest: Path) -> None:
    run("keypair", tmp_path / "private.pem")
    manifest.write_text(f'{TOML}mechanism = "best"\n')

    result = run("sign", manifest, "--key", tmp_path / "private.pem")

    assert result.exit_code == 1
    assert "still open in dark" in result.output
    assert not (tmp_path / "metrics.signed.json").exists()


@pytest.mark.parametrize("words", [["keypair", "new.pem"], ["sign", "metrics.toml", "--key", "metrics.toml"]])
def test_without_the_extra_it_is_said_what_to_install(
    tmp_path: Path, manifest: Path, words: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 3
    assert (
        done.stderr
        == f"hubbub: hubbub {words[0]} needs its signed parts: pip install '.[signed]' in a clone of hubbub\n"
    )
    assert not (tmp_path / "new.pem").exists()
