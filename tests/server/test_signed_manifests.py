"""This file proves that a collector hands a signed manifest to anybody, as it came, and only what is one."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hubbub.batch_json import JSON
from hubbub.manifest import Manifest
from hubbub.signed_manifest import LONGEST, sign
from hubbub_server.commands.cli import command
from tests.server.site import MANIFEST, METRICS, Site, code

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
ROUTE = "/v1/manifests/notepad/signed"
LOWERED = Manifest.from_toml(
    MANIFEST.replace("serial = 1", "serial = 2").replace('epsilon = "1"', 'epsilon = "0.5"', 1)
)


def put(home: Site, data: bytes, *, key: str = "admin", route: str = ROUTE) -> Any:
    return home.client.put(f"/operations{route}", data=data, content_type=JSON, headers=home.bearer(key))


def test_a_signed_manifest_is_put_in_force_and_handed_to_anybody_to_the_byte(home: Site) -> None:
    data = sign(LOWERED, KEY).encode()

    answer = put(home, data)
    fetched = home.client.get(ROUTE)

    assert answer.json == {
        "app": "notepad",
        "serial": 2,
        "changes": ['- dark.epsilon = "1"', '+ dark.epsilon = "0.5"'],
        "dropped": [],
    }
    assert (fetched.status_code, fetched.data, fetched.content_type) == (200, data, "application/json")
    in_force = home.client.get("/v1/manifests/notepad", headers=home.bearer("ingest"))
    assert in_force.json == LOWERED.document()


def test_a_manifest_that_is_in_force_can_be_signed_later(home: Site) -> None:
    data = sign(METRICS, KEY).encode()

    answer = put(home, data)

    assert answer.json["changes"] == []
    assert home.client.get(ROUTE).data == data


def test_devices_get_the_newest_manifest_that_is_signed(home: Site) -> None:
    data = sign(METRICS, KEY).encode()
    put(home, data)

    home.client.put("/operations/v1/manifests/notepad", json=LOWERED.document(), headers=home.bearer("admin"))

    assert home.client.get(ROUTE).data == data


@pytest.mark.parametrize("app", ["notepad", "calendar"])
def test_where_nothing_is_signed_nothing_is_found(home: Site, app: str) -> None:
    answer = home.client.get(f"/v1/manifests/{app}/signed")

    assert (answer.status_code, code(answer)) == (404, "not_found")


@pytest.mark.parametrize("key", ["ingest", "analyst"])
def test_only_an_admin_publishes(home: Site, key: str) -> None:
    answer = put(home, sign(LOWERED, KEY).encode(), key=key)

    assert code(answer) == "forbidden"
    assert home.client.get(ROUTE).status_code == 404


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "bad_manifest"),
        (b"{}", "bad_manifest"),
        (b"\xff", "bad_manifest"),
        (json.dumps(METRICS.document()).encode(), "bad_manifest"),
        (b'{"manifest": "{}", "signature": ""}', "bad_manifest"),
        (sign(LOWERED, KEY).encode()[:-9], "bad_manifest"),
        (b" " * (LONGEST + 1), "too_large"),
    ],
)
def test_what_is_no_signed_manifest_is_refused(home: Site, data: bytes, expected: str) -> None:
    answer = put(home, data)

    assert code(answer) == expected
    assert home.client.get(ROUTE).status_code == 404


def test_a_signed_manifest_is_put_under_its_own_app(home: Site) -> None:
    answer = put(home, sign(LOWERED, KEY).encode(), route="/v1/manifests/calendar/signed")

    assert code(answer) == "bad_manifest"


def test_a_signed_manifest_changes_no_serial_that_is_in_force(home: Site) -> None:
    other = Manifest(app="notepad", serial=1, metrics=LOWERED.metrics)

    answer = put(home, sign(other, KEY).encode())

    assert code(answer) == "serial_conflict"
    assert home.client.get(ROUTE).status_code == 404


def test_the_operator_s_command_takes_the_signed_file(home: Site, tmp_path: Path) -> None:
    file, settings = tmp_path / "metrics.signed.json", tmp_path / "hubbub.toml"
    file.write_bytes(sign(LOWERED, KEY).encode())
    settings.write_text(f'database = "{home.database}"\n')

    result = CliRunner().invoke(command, ["publish", str(file), "--config", str(settings)])

    assert result.output.splitlines()[-1] == "notepad serial 2 is in force"
    assert home.client.get(ROUTE).data == file.read_bytes()
