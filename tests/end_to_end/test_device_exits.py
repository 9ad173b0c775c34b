"""This file proves that an app ends as it would without hubbub, whatever its collector does, losing nothing.

Each case is a real process that records and ends; how long that takes is measured in ``benchmarks``.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from hubbub_client import Client
from tests.end_to_end.peers import resetting, serving, silent, trickling
from tests.end_to_end.test_device_over_http import MANIFEST

APP = """
import atexit, os, signal, sys, threading, time

def telemetry(url, directory):
    from hubbub.declaration import boolean
    from hubbub.manifest import Manifest
    from hubbub_client import Client, Delivery

    metrics = (boolean("dark", epsilon=1), boolean("loud", epsilon=1))
    manifest = Manifest(app="notepad", serial=1, metrics=metrics)
    client = Client(url, manifest, data_dir=directory, consent="given", delivery=Delivery(delay=0))
    client.record("dark", True)
    return lambda: client.record("loud", True), lambda: client.flush(timeout=0.3)

def work(record, flush):
    print("working")
    print("complaining", file=sys.stderr)
    ENDING

record = flush = lambda: None
if sys.argv[1:]:
    record, flush = telemetry(*sys.argv[1:])
work(record, flush)
"""
LONG_EXIT = """
import atexit, time
atexit.register(time.sleep, 2)  # the first to register is the last to run
import hubbub_client.sending.http  # so that not even a slow machine imports it while it exits
"""
BREATH = "time.sleep(0.3); "  # until a request is on its way
ENDINGS = {
    "return": "record()",
    "sys.exit": "record(); sys.exit(3)",
    "exception": "record(); raise LookupError('of the app')",
    "SIGTERM": "record(); sys.stdout.flush(); os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)",
    "SIGINT": "signal.signal(signal.SIGINT, signal.default_int_handler); record(); " + BREATH
    + "os.kill(os.getpid(), signal.SIGINT); time.sleep(9)",
    "SIGTERM with a handler": "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5)); record(); " + BREATH
    + "os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)",
    "os._exit": "record(); sys.stdout.flush(); os._exit(7)",
    "os._exit in a request": "record(); sys.stdout.flush(); " + BREATH + "os._exit(7)",
    "return in a request": "record(); " + BREATH,
    "flush": "record(); flush(); sys.exit(3)",
    "record at exit": "atexit.register(record)",
    "flush at exit": "record(); atexit.register(flush)",
    "record in a thread that outlives the main one":
        "threading.Thread(target=lambda: (time.sleep(0.1), record(), flush())).start()",
}  # fmt: skip


@contextmanager
def closed() -> Iterator[int]:
    """Give a port that nobody listens on."""
    with silent() as port:
        pass
    yield port


@contextmanager
def answering(status: int) -> Iterator[int]:
    with serving() as peer:
        peer.status = status
        yield peer.port


STATES: dict[str, Callable[[], "contextmanager[int]"]] = {
    "closed": closed,
    "silent": silent,
    "500": lambda: answering(500),
    "trickling": lambda: trickling(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "resetting": resetting,
    "well": lambda: answering(200),
}
QUICK = {
    ("closed", "return"),
    ("silent", "sys.exit"),
    ("500", "exception"),
    ("trickling", "SIGTERM"),
    ("resetting", "os._exit in a request"),
    ("silent", "flush at exit"),
    ("well", "record at exit"),
}
CASES = [
    pytest.param(*case, id="-".join(case), marks=[pytest.mark.torture] * (case not in QUICK))
    for case in product(STATES, ENDINGS)
]


@pytest.mark.parametrize(("state", "ending"), CASES)
def test_an_app_ends_as_it_would_without_hubbub_and_nothing_is_lost(
    tmp_path: Path, state: str, ending: str
) -> None:
    app, directory = tmp_path / "app.py", tmp_path / "device"
    app.write_text(APP.replace("ENDING", ENDINGS[ending]))

    with STATES[state]() as port:
        url = f"http://127.0.0.1:{port}"
        bare, measured = run(app), run(app, url, directory)

    with Client(url, MANIFEST, data_dir=directory, consent="given", environ={}) as client:
        stats = client.stats()
    assert measured == bare
    assert "complaining\n" in measured[2]
    assert stats.waiting + stats.sent == 2


def test_an_answer_after_the_last_finalizer_of_an_exit_leaves_no_connection_open(tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text(LONG_EXIT + APP.replace("ENDING", BREATH))

    with serving() as peer:
        peer.delay = 1.5  # longer than an exit waits for what is just being sent
        measured = run(app, peer.url, tmp_path / "device")

    assert measured == (0, "working\n", "complaining\n")
    assert len(peer.heard) == 1


def run(app: Path, *arguments: object) -> tuple[int, str, str]:
    """Run an app with every warning on; return its exit code and what it said."""
    command = [sys.executable, "-X", "dev", "-X", "no_debug_ranges", str(app), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr
