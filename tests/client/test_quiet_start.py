"""This file proves that importing the package and making a client costs and does nothing yet."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import socket, sys, threading
sockets = []
socket.socket.__init__ = lambda *_, **__: sockets.append(1)
from hubbub_client import Client
{act}
heavy = {{"numpy", "requests", "sqlite3", "msgspec", "click", "platformdirs", "flask"}}
print(sorted(heavy & set(sys.modules)), threading.active_count(), sockets)
"""
MAKE = 'client = Client("https://collector.invalid", "metrics.toml", consent={consent!r})'
MANIFEST = (
    'format = 1\napp = "a"\nserial = 1\n[metrics.dark]\nkind = "boolean"\nepsilon = "1"\nabsent = false\n'
)
ACTS = {
    "import": "",
    "make": MAKE.format(consent="given"),
    "no consent": MAKE.format(consent=None) + '; client.record("dark", True); client.close()',
}


@pytest.mark.parametrize("act", ["import", "make"])
def test_nothing_heavy_is_imported_started_or_written_before_the_first_record(
    tmp_path: Path, act: str
) -> None:
    (tmp_path / "metrics.toml").write_text(MANIFEST)

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(act=ACTS[act])],
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("[] 1 []\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.toml"]


def test_a_record_without_consent_opens_no_socket_thread_or_directory(tmp_path: Path) -> None:
    (tmp_path / "metrics.toml").write_text(MANIFEST)

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(act=ACTS["no consent"])],
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "['platformdirs'] 1 []\n"
    assert "client.consent(" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.toml"]
