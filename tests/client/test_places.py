"""This file proves that where no device can be kept, this is told before a record, and nothing is made."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub_client import Client

Make = Callable[..., Client]


def below_a_file(root: Path) -> Path:
    (root / "file").touch()
    return root / "file" / "deep" / "device"


def a_file(root: Path) -> Path:
    (root / "file").touch()
    return root / "file"


def a_link_to_nowhere(root: Path) -> Path:
    (root / "link").symlink_to(root / "nowhere" / "at all")
    return root / "link" / "device"


def a_pipe(root: Path) -> Path:
    (root / "device").mkdir()
    os.mkfifo(root / "device" / "device.sqlite3")
    return root / "device"


def read_only(root: Path) -> Path:
    (root / "closed").mkdir(mode=0o555)
    return root / "closed" / "device"


def unsearchable(root: Path) -> Path:
    (root / "locked").mkdir(mode=0o600)
    return root / "locked" / "device"


def of_the_system(root: Path) -> Path:
    return Path("/proc/x") if sys.platform == "linux" else read_only(root)


def a_device_that_is_read_only(root: Path) -> Path:
    with Client.for_testing("metrics.toml", data_dir=root / "device") as client:
        client.record("loud", True)
    for path in (*(root / "device").iterdir(), root / "device"):
        path.chmod(0o555)
    return root / "device"


def a_device_with_a_read_only_database(root: Path) -> Path:
    with Client.for_testing("metrics.toml", data_dir=root / "device") as client:
        client.record("loud", True)
    for path in (root / "device").iterdir():
        path.chmod(0o444)
    (root / "device").chmod(0o777)
    return root / "device"


WRONG = (below_a_file, a_file, a_link_to_nowhere, a_pipe)
CLOSED = (
    read_only,
    unsearchable,
    of_the_system,
    a_device_that_is_read_only,
    a_device_with_a_read_only_database,
)
MANIFEST = """
format = 1
app = "notepad"
serial = 1
[metrics.loud]
kind = "boolean"
epsilon = "1"
[metrics.dark]
kind = "boolean"
epsilon = "1"
"""
AS_NOBODY = """
import json, os, sys
from hubbub_client import Client

client = Client.for_testing("metrics.toml", data_dir=sys.argv[1], transport=None)
client.prepare()
if os.getuid() == 0:
    os.setuid(65534)
before, record, after = client.obstacle(), client.record("dark", True), client.obstacle()
print(json.dumps([getattr(one, "code", "") for one in (before, record, after)]))
"""


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for parent in tmp_path.parents[:2]:
        parent.chmod(parent.stat().st_mode | 0o555)
    tmp_path.chmod(0o777)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "metrics.toml").write_text(MANIFEST)
    return tmp_path


@pytest.mark.parametrize("option", ["data_dir", "marker_dir"])
@pytest.mark.parametrize("place", WRONG[:3])
def test_a_place_that_can_not_be_made_is_an_obstacle_and_a_trouble_and_on_the_page(
    make: Make, root: Path, place: Callable[[Path], Path], option: str
) -> None:
    client = make(**{option: place(root)})
    there = sorted(root.rglob("*"))

    obstacle, troubles, page = client.obstacle("dark"), client.check(), client.page()

    assert obstacle is not None
    assert obstacle.code == "storage"
    assert troubles[0].startswith(obstacle.message)
    assert f"Nothing is recorded, since its files can't be used: {obstacle.message}" in page
    assert sorted(root.rglob("*")) == there


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs users")
@pytest.mark.parametrize("place", [*WRONG, *CLOSED])
def test_what_a_record_would_meet_is_an_obstacle_before(root: Path, place: Callable[[Path], Path]) -> None:
    directory = place(root)

    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(directory)], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert json.loads(done.stdout) == ["storage"] * 3


@pytest.mark.parametrize("parts", ["device", "far/below/what/is/there"])
def test_a_place_that_can_be_made_is_none_and_is_not_made(make: Make, root: Path, parts: str) -> None:
    client = make(data_dir=root / parts, marker_dir=root / "markers" / parts)
    there = sorted(root.rglob("*"))

    obstacle = client.obstacle()

    assert obstacle is None
    assert sorted(root.rglob("*")) == there


def test_without_consent_no_place_is_looked_at(make: Make, root: Path) -> None:
    client = make(data_dir=below_a_file(root), consent="unknown")

    obstacle = client.obstacle()

    assert obstacle is not None
    assert obstacle.code == "consent"
