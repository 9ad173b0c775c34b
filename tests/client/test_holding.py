"""This file proves that no handler of a signal that raises leaves a lock of ours to nobody."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.errors import BusyError
from hubbub_client import Client, Delivery
from hubbub_client.holding import holding

STORM = """
import _thread, signal, sys, threading, time
from hubbub_client.holding import holding

class Interruption(Exception):
    pass

def interrupt(*_):
    if is_armed:
        raise Interruption

def pester():
    while rounds:  # at every place where Python looks for a signal, since threads change there, too
        _thread.interrupt_main(signal.SIGUSR1)
        time.sleep(0)

lock, rounds, raised, leaks = threading.RLock(), int(sys.argv[1]), 0, 0
is_armed = False
signal.signal(signal.SIGUSR1, interrupt)
sys.setswitchinterval(1e-6)
threading.Thread(target=pester, daemon=True).start()
while raised < rounds:
    try:
        is_armed = True
        holding(lock, lambda: None, seconds=1, busy="")
    except Interruption:
        raised += 1
    is_armed = False
    while lock._is_owned():
        leaks += 1
        lock.release()
rounds = 0
print(leaks)
"""


NUDGES = """
import _thread, signal, sys, threading, time
from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery

class Interruption(Exception):
    pass

def interrupt(*_):
    if is_armed:
        raise Interruption

def pester():
    while rounds:
        _thread.interrupt_main(signal.SIGUSR1)
        time.sleep(0)

manifest = Manifest(app="a", serial=1, metrics=(boolean("dark", epsilon="1"),))
client = Client.for_testing(manifest, delivery=Delivery(delay=3600))
client.record("dark", True)
sender, rounds, raised, is_armed = client._session.recorder.sender, int(sys.argv[1]), 0, False
signal.signal(signal.SIGUSR1, interrupt)
sys.setswitchinterval(1e-6)
threading.Thread(target=pester, daemon=True).start()
while raised < rounds:
    try:
        is_armed = True
        sender.nudge(is_new=True)
    except Interruption:
        raised += 1
    is_armed = False
rounds, hung = 0, threading.Thread(target=sender.nudge, kwargs={"is_new": True}, daemon=True)
hung.start()
hung.join(30)
print(int(hung.is_alive() or client.flush(30, now=True).sent != 1))
"""


FORK = """
import os, signal, sys, threading
from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_client import Client

def interrupt(*_):
    is_over.set()
    raise KeyboardInterrupt

client = Client.for_testing(Manifest(app="a", serial=1, metrics=(boolean("dark", epsilon="1"),)))
client.record("dark", True)
is_held, is_over, device = threading.Event(), threading.Event(), client._session.recorder.device
thread = threading.Thread(target=device.transact, args=(lambda _: (is_held.set(), is_over.wait(60)),))
thread.start()
is_held.wait(60)
sys.unraisablehook = lambda _: None  # which is all that Python does with it
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.2)
if os.fork() == 0:
    os._exit(0)
thread.join(60)
print(int(client.flush(30, now=True).sent != 1))
"""

FORKS = """
import os, random, signal, sys, threading, time
from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_client import Client
from tests.client.conftest import MONDAY, Clock

def interrupt(*_):
    if armed:
        armed.clear()
        raise KeyboardInterrupt

def record():
    while rounds:
        clock.now += 86_400
        client.record("dark", True)
        time.sleep(0.01)

def fork():
    armed.append(True)
    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 0.004))
    child = os.fork()
    if child == 0:
        armed.clear()
        os._exit(client.obstacle() is not None)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return os.waitpid(child, 0)[1]

def is_held(lock):
    return lock._is_owned()

clock, rounds, armed, faults = Clock(MONDAY), int(sys.argv[1]), [], 0
manifest = Manifest(app="a", serial=1, metrics=(boolean("dark", epsilon="0.001", period="1d"),))
client = Client.for_testing(manifest, clock=clock, lock_wait=60)
client.record("dark", True)
sys.unraisablehook = lambda _: None
signal.signal(signal.SIGALRM, interrupt)
thread = threading.Thread(target=record)
thread.start()
while rounds:
    try:
        faults += fork() != 0
    except KeyboardInterrupt:  # before the fork, or after it
        armed.clear()
    rounds -= 1
    faults += is_held(client._session.importing()) + is_held(client._session.recorder.device.lock)
thread.join()
print(faults)
"""


def in_a_storm(interruptions: int, storm: str = STORM) -> int:
    """Return how often a lock is left held by one of so many handlers that raise."""
    command = [sys.executable, "-c", storm, str(interruptions)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=900).stdout)


@pytest.mark.parametrize("interruptions", [3_000, pytest.param(100_000, marks=pytest.mark.torture)])
def test_a_handler_that_raises_at_any_place_leaves_a_lock_to_other_threads(interruptions: int) -> None:
    assert in_a_storm(interruptions) == 0


@pytest.mark.parametrize("interruptions", [1_000, pytest.param(20_000, marks=pytest.mark.torture)])
def test_a_handler_that_raises_at_any_place_of_a_nudge_leaves_the_background_thread_to_others(
    interruptions: int,
) -> None:
    assert in_a_storm(interruptions, NUDGES) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_handler_that_raises_while_a_fork_waits_for_a_transaction_leaves_every_lock_to_others() -> None:
    assert in_a_storm(1, FORK) == 0


@pytest.mark.parametrize(
    "read", [lambda client: client.stats(), lambda client: client.withdraw()], ids=["stats", "withdraw"]
)
def test_a_read_that_a_handler_ends_locks_no_other_process_out_though_its_traceback_is_kept(
    make: Callable[..., Client], tmp_path: Path, read: Callable[[Client], object]
) -> None:
    client = make(delivery=Delivery())
    client.record("dark", True)
    client.withdraw()
    client.consent("given")
    client.record("seconds", 3)
    client.record("system", "mac")
    connection = client._session.recorder.device._opened.connection  # type: ignore[union-attr]

    def interrupt(cursor: object, row: tuple[object, ...]) -> tuple[object, ...]:
        del cursor
        if len(row) == 3:  # of many
            raise KeyboardInterrupt
        return row

    connection.row_factory = interrupt
    with pytest.raises(KeyboardInterrupt) as kept:
        read(client)
    other = sqlite3.connect(tmp_path / "device" / "device.sqlite3", timeout=0.1, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    other.close()

    assert kept.tb is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("forks", [40, pytest.param(500, marks=pytest.mark.torture)])
def test_a_handler_that_raises_anywhere_around_a_fork_leaves_every_lock_to_others_and_no_child_hangs(
    forks: int,
) -> None:
    assert in_a_storm(forks, FORKS) == 0


def test_a_lock_that_another_thread_holds_is_not_waited_for_longer_than_was_said() -> None:
    lock, is_held, is_over = threading.RLock(), threading.Event(), threading.Event()
    thread = threading.Thread(
        target=lambda: holding(lock, lambda: (is_held.set(), is_over.wait(60)), seconds=1, busy="")
    )
    thread.start()
    is_held.wait(60)

    with pytest.raises(BusyError, match="try again"):
        holding(lock, lambda: None, seconds=0.01, busy="it is held; try again")
    is_over.set()
    thread.join(60)

    assert holding(lock, lambda: "mine", seconds=1, busy="") == "mine"
