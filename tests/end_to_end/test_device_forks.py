"""This file proves that a device survives forks, spawns and preloading: real processes, a real wire."""

import gzip
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from hubbub.batch import decode
from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_client import Client
from tests.end_to_end.peers import Peer, serving

METRICS = 30
WORKERS = 3
MANIFEST = Manifest(
    app="forks", serial=1, metrics=tuple(boolean(f"fact_{at}", epsilon="0.1") for at in range(METRICS))
)
CLIENT = """
import os, random, signal, sys, threading, time
from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery

metrics = tuple(boolean(f"fact_{at}", epsilon="0.1") for at in range(30))
client = Client(
    os.environ["URL"], Manifest(app="forks", serial=1, metrics=metrics), data_dir=os.environ["DEVICE"],
    consent="given", lock_wait=30, delivery=Delivery(delay=0, background=bool(os.environ["BACKGROUND"])),
)
"""
SERVICE = """
def app(environ, start_response):
    recorded = type(client.record(environ["PATH_INFO"].strip("/"), True)).__name__
    flushed = client.flush(timeout=20, now=True)
    time.sleep(0.2)  # until the next request goes to another worker
    start_response("200 OK", [])
    return [f"{os.getpid()} {recorded} {flushed.sent} {flushed.error}".encode()]
"""
FIRST = """
def first():
    client.record("fact_0", True)
    client.flush(timeout=1)

def fork():
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a dead-lock ends in this
        recorded = client.record("fact_1", True)
        client.flush(timeout=10)
        os._exit(0 if type(recorded).__name__ == "Recorded" else 1)
    return os.waitpid(child, 0)[1]

thread = threading.Thread(target=first)
thread.start()
time.sleep(float(sys.argv[1]))
print(fork())
thread.join()
client.close()
"""
STORM = """
client.prepare()

def busy(at):
    while True:
        client.record(f"fact_{at}", True)
        client.flush(timeout=1)
        client.stats()

for at in range(3):
    threading.Thread(target=busy, args=(at,), daemon=True).start()
statuses = []
for at in range(int(sys.argv[1])):
    time.sleep(random.random() * 0.02)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a dead-lock ends in this
        recorded = client.record(f"fact_{3 + at}", True)
        client.flush(timeout=10)
        os._exit(0 if type(recorded).__name__ == "Recorded" else 1)
    statuses.append(os.waitpid(child, 0)[1])
print(set(statuses))
sys.stdout.flush()
os._exit(0)  # the threads are still busy
"""
POOL = """
import multiprocessing

def work(at):
    return os.getpid(), type(client.record(f"fact_{at}", True)).__name__

if __name__ == "__main__":
    method = sys.argv[1]
    client.record("fact_29", True)
    with multiprocessing.get_context(method).Pool(2) as pool:
        done = pool.map(work, range(8), chunksize=1)
    print({kind for _, kind in done}, os.getpid() in {pid for pid, _ in done})
"""


@pytest.fixture
def peer() -> Iterator[Peer]:
    with serving() as peer:
        yield peer


def environment(peer: Peer, directory: Path, *, background: bool) -> dict[str, str]:
    given = {"URL": peer.url, "DEVICE": str(directory), "BACKGROUND": "yes" * background}
    return {**os.environ, **given}


def arrived(peer: Peer) -> list[bytes]:
    """Return the ids of what came; a process that is killed in between sends a head without a body."""
    return [decode(gzip.decompress(heard.body)).id for heard in peer.heard if heard.body]


def journal(peer: Peer, directory: Path) -> list[bytes]:
    """Return the ids of all batches, after sending what waits, a minute later: no lease lasts so long."""
    with Client(
        peer.url, MANIFEST, data_dir=directory, consent="given", environ={}, clock=lambda: time.time() + 61
    ) as client:
        flushed = client.flush(timeout=30, now=True)
        assert (flushed.waiting, flushed.error) == (0, "")
        return [entry.batch.id for entry in client.journal()]


@contextmanager
def gunicorn(folder: Path, settings: dict[str, str], log: Path) -> Iterator[int]:
    command = [sys.executable, "-m", "gunicorn", "--preload", "--workers", str(WORKERS)]
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, "--bind", "127.0.0.1:0", "service:app"],
            cwd=folder, env=settings, stdout=out, stderr=out,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + 30
        while not (found := re.findall(r"Listening at: http://127.0.0.1:(\d+)", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield int(found[0])
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0, log.read_text()


def ask(port: int, name: str) -> list[str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", f"/{name}")
    said = connection.getresponse().read().decode()
    connection.close()
    return said.split(maxsplit=3)


@pytest.mark.parametrize("background", [True, False], ids=["thread", "flush"])
@pytest.mark.parametrize("before", ["pass", "client.prepare()", "client.record('fact_29', True)"])
def test_a_client_made_before_gunicorn_preloads_records_and_sends_from_every_worker(
    peer: Peer, tmp_path: Path, before: str, background: bool
) -> None:
    (tmp_path / "service.py").write_text(f"{CLIENT}{before}\n{SERVICE}")
    settings = environment(peer, tmp_path / "device", background=background)
    log, said = tmp_path / "log", []

    with gunicorn(tmp_path, settings, log) as port, ThreadPoolExecutor(WORKERS) as people:
        names = iter(f"fact_{at}" for at in range(METRICS - 1))
        while len({pid for pid, *_ in said}) < WORKERS and len(said) < METRICS - WORKERS:
            said += people.map(lambda name: ask(port, name), [next(names) for _ in range(WORKERS)])

    sent = journal(peer, tmp_path / "device")
    assert len({pid for pid, *_ in said}) == WORKERS
    assert {recorded for _, recorded, *_ in said} == {"Recorded"}
    assert sorted(arrived(peer)) == sorted(sent)
    assert len(sent) == len(said) + ("record" in before)
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize("forks", [6, pytest.param(26, marks=pytest.mark.torture)])
@pytest.mark.parametrize("background", [True, False], ids=["thread", "flush"])
def test_forks_while_other_threads_hold_any_lock_dead_lock_nobody_and_send_nothing_twice(
    peer: Peer, tmp_path: Path, forks: int, background: bool
) -> None:
    done = run(STORM, str(forks), settings=environment(peer, tmp_path / "device", background=background))

    sent = journal(peer, tmp_path / "device")
    assert (done.returncode, done.stdout, done.stderr) == (0, "{0}\n", "")
    assert forks < len(sent) <= forks + 3
    assert set(arrived(peer)) == set(sent)


@pytest.mark.parametrize("background", [True, False], ids=["thread", "flush"])
@pytest.mark.parametrize(
    "delay",
    [0.0, 0.02, 0.1, 0.2, *(pytest.param(at / 100, marks=pytest.mark.torture) for at in range(3, 60, 4))],
)
def test_a_fork_in_the_middle_of_another_threads_first_record_and_its_imports_dead_locks_nobody(
    peer: Peer, tmp_path: Path, delay: float, background: bool
) -> None:
    done = run(FIRST, str(delay), settings=environment(peer, tmp_path / "device", background=background))

    sent = journal(peer, tmp_path / "device")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
    assert len(sent) == 2
    assert set(arrived(peer)) == set(sent)


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_the_processes_of_a_pool_share_the_device_of_their_parent(
    peer: Peer, tmp_path: Path, method: str
) -> None:
    (tmp_path / "app.py").write_text(CLIENT + POOL)
    settings = environment(peer, tmp_path / "device", background=True)

    done = run(str(tmp_path / "app.py"), method, settings=settings)

    sent = journal(peer, tmp_path / "device")
    assert (done.returncode, done.stdout, done.stderr) == (0, "{'Recorded'} False\n", "")
    assert len(sent) == 9
    assert set(arrived(peer)) == set(sent)


def run(script: str, *arguments: str, settings: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    program = [script] if script.endswith(".py") else ["-c", CLIENT + script]
    fork_beside_threads = "ignore:This process:DeprecationWarning"  # Python 3.12 warns of what is proven here
    command = [sys.executable, "-X", "dev", "-W", fork_beside_threads, *program, *arguments]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=120)
