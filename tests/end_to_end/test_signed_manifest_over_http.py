"""This file takes a signed manifest all the way: made, published, fetched on a wire, followed and shown."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hubbub_client import Client, Delivery
from hubbub_client.showing.cli import command as owner
from hubbub_lab.cli import command as lab
from hubbub_server.commands.cli import command as server
from tests.end_to_end.conftest import MANIFEST, WireTap
from tests.server.process import Served


def run(command: click.Command, *words: str | Path) -> str:
    done = CliRunner().invoke(command, list(map(str, words)))
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def public(tmp_path: Path) -> str:
    return run(lab, "keypair", tmp_path / "private.pem").strip()


def test_a_maker_pauses_and_lowers_over_a_real_wire(
    collector: Served, tap: WireTap, tmp_path: Path, manifest: Path, public: str
) -> None:
    newer, device = tmp_path / "newer.toml", tmp_path / "device"
    kept, _, _ = MANIFEST.partition("[metrics.theme]")
    newer.write_text(
        kept.replace("serial = 1", "serial = 2").replace('epsilon = "1.0"', 'epsilon = "0.5"', 1)
    )
    told = run(lab, "sign", newer, "--key", tmp_path / "private.pem")
    settings = collector.directory / "hubbub.toml"
    run(server, "publish", tmp_path / "newer.signed.json", "--config", settings)
    client = Client(
        tap.url,
        manifest,
        collector.keys["ingest"],
        data_dir=device,
        consent="given",
        delivery=Delivery(delay=0, background=False),
        environ={},
        maker_key=public,
    )
    client.record("dark", True, labels={"side": "no"})
    first = client.flush(timeout=30)

    lowered, paused = client.record("seconds", 3), client.record("theme", "plain")
    second = client.flush(timeout=30)
    client.close()

    assert (first.sent, second.sent) == (1, 1)
    assert str(getattr(lowered, "spent", "")) == "0.5"
    assert getattr(paused, "code", "") == "paused"
    shown = run(owner, "--data-dir", device, "status")
    (digest,) = re.findall(r"digest ([0-9a-f]{64})", told)
    assert f"signed manifest 2, digest {digest}" in shown
    assert "lowers seconds to 0.5; pauses theme" in shown


def test_a_question_for_news_looks_on_the_wire_like_anybody_else_s(
    collector: Served, tap: WireTap, tmp_path: Path, manifest: Path, public: str
) -> None:
    client = Client(
        tap.url,
        manifest,
        collector.keys["ingest"],
        data_dir=tmp_path / "device",
        consent="given",
        delivery=Delivery(delay=0, background=False),
        environ={},
        maker_key=public,
    )
    client.record("seconds", 3)

    client.flush(timeout=30)
    client.close()

    _, _, question = bytes(tap.heard).partition(b"GET ")
    host = tap.url.removeprefix("http://")
    assert question.decode().splitlines() == [
        "/v1/manifests/planted/signed HTTP/1.1",
        f"Host: {host}",
        "User-Agent: hubbub",
        "Accept: application/json",
        "Accept-Encoding: identity",
        "Connection: close",
        "",
    ]
