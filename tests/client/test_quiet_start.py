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
heavy = {{
    "numpy", "requests", "urllib3", "sqlite3", "msgspec", "click", "platformdirs", "flask", "cryptography",
    "ssl", "hashlib", "asyncio", "multiprocessing", "subprocess", "email", "http.client", "unittest",
}}
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


@pytest.mark.parametrize("variable", ["HUBBUB_OFF", "DO_NOT_TRACK"])
def test_a_device_that_is_switched_off_imports_nothing_and_opens_no_socket_thread_or_directory(
    tmp_path: Path, variable: str
) -> None:
    (tmp_path / "metrics.toml").write_text(MANIFEST)
    act = MAKE.format(consent="given") + '; said = client.record("dark", True).code, client.flush().sent'

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(act=act) + "print(said)"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), variable: "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("[] 1 []\n('off', 0)\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.toml"]


@pytest.mark.parametrize("home", ["/dev/null", "/proc"])
def test_an_app_without_a_home_that_can_be_written_to_goes_on_in_silence(tmp_path: Path, home: str) -> None:
    (tmp_path / "metrics.toml").write_text(MANIFEST)
    act = MAKE.format(consent="given") + '; said = client.record("dark", True).code, client.flush().sent'

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(act=act) + "print(said)"],
        cwd=tmp_path,
        env={"HOME": home},
        capture_output=True,
        text=True,
        check=False,
    )

    first, second = done.stdout.splitlines()
    assert (first[first.index("]") :], second, done.stderr) == ("] 1 []", "('storage', 0)", "")
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.toml"]


ANSWERED = """
import sys
from hubbub_client import Client
client = Client("http://127.0.0.1:9", "metrics.toml", consent="given", data_dir="device")
print([type(client.record("dark", True)).__name__ for _ in range(2)], "numpy" in sys.modules)
client.close()
"""


def test_an_app_that_starts_again_and_has_answered_imports_no_numpy(tmp_path: Path) -> None:
    (tmp_path / "metrics.toml").write_text(MANIFEST)

    told = [
        subprocess.run(
            [sys.executable, "-c", ANSWERED],
            cwd=tmp_path,
            env={"HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]

    assert told == ["['Recorded', 'Skipped'] True\n", "['Skipped', 'Skipped'] False\n"]
