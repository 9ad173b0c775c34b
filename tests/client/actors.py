"""This file plays devices in processes of their own, for tests that fork, kill and crowd: ``python -m``.

Every actor prints one JSON document. What an actor sends, it appends to a file, as a collector would see it.
"""

import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hubbub.declaration import boolean, number
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery, Policy, Recorded, assembly
from hubbub_client.sending.transport import Answer, Request
from hubbub_client.testing import ACCEPTED

CAP = Policy(source_window="10", window="10", source_life="10", life="10", metrics=1000)
MANY = Manifest(
    app="crowd",
    serial=1,
    metrics=tuple(boolean(f"fact_{at}", epsilon="0.1", source="fact") for at in range(900)),
)
NOISY = Manifest(app="noise", serial=1, metrics=(number("noisy", low=0, high=1, epsilon="0.5"),))


class FileTransport:
    """Appends each body to a file, whole, before it answers."""

    def __init__(self, file: Path, *, delay: float = 0.0) -> None:
        self._handle, self._delay = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), delay

    def send(self, request: Request) -> Answer:
        os.write(self._handle, request.body.hex().encode() + b"\n")
        time.sleep(self._delay)
        return ACCEPTED


def device(directory: Path, manifest: Manifest = MANY, *, prepare: bool = True, **options: Any) -> Client:
    """Return a client on a directory, prepared and used to an owner who agreed."""
    defaults: dict[str, Any] = {
        "policy": CAP,
        "lock_wait": 60.0,
        "delivery": Delivery(delay=0, background=False),
    }
    client = Client.for_testing(manifest, data_dir=directory, **{**defaults, **options})
    if prepare:
        client.prepare()
    return client


def in_children(count: int, act: Callable[[int], Any]) -> list[Any]:
    """Fork children, let each do something, and collect what they return, in order."""
    pipes = []
    for at in range(count):
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.close(reading)
            with os.fdopen(writing, "w") as out:
                json.dump(act(at), out)
            os._exit(0)
        os.close(writing)
        pipes.append(reading)
    documents = []
    for reading in pipes:
        with os.fdopen(reading) as source:
            documents.append(json.load(source))
        os.wait()
    return documents


def crowd(directory: Path, processes: str, tries: str) -> Any:
    """Let many processes spend one budget at once."""
    client = device(directory)

    def act(at: int) -> list[str]:
        outcomes = [client.record(f"fact_{at * int(tries) + one}", True) for one in range(int(tries))]
        return ["recorded" if isinstance(one, Recorded) else one.code for one in outcomes]

    codes = in_children(int(processes), act)
    entries = list(client.journal())
    return {
        "codes": sorted(code for child in codes for code in child),
        "entries": len(entries),
        "spent": str(sum(entry.cost for entry in entries)),
        "left": str(client.remaining()),
    }


def impatient_crowd(directory: Path, processes: str, tries: str) -> Any:
    """Let many processes spend one budget at once, none of which waits for another."""
    client = device(directory, lock_wait=0.002)

    def act(at: int) -> Any:
        outcomes = [client.record(f"fact_{at * int(tries) + one}", True) for one in range(int(tries))]
        codes = ["recorded" if isinstance(one, Recorded) else one.code for one in outcomes]
        return [codes, client._session.skips.counts]

    done = in_children(int(processes), act)
    patient = device(directory, lock_wait=60)
    return {
        "codes": [code for codes, _ in done for code in codes],
        "busy": sum(counts.get("busy", 0) for _, counts in done),
        "entries": len(list(patient.journal())),
        "left": str(patient.remaining()),
    }


def siblings(directory: Path) -> Any:
    """Draw from a client that was made, and used, before the fork."""
    client = device(directory, NOISY)
    client.record("noisy", 0.5)
    question = client._session.recorder.questions.question(NOISY["noisy"])

    def act(_: int) -> str:
        return "".join(question.report(0.5, None).hex() for _ in range(16))

    return in_children(64, act)


def fork_in_a_record(directory: Path) -> Any:
    """Fork while another thread is in the middle of its transaction."""
    inside, hold = threading.Event(), 0.3

    def clock() -> float:
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            time.sleep(hold)
        return 1_767_571_200.0

    client = device(directory, clock=clock)
    thread = threading.Thread(target=client.record, args=("fact_0", True))
    thread.start()
    inside.wait()

    def act(_: int) -> list[bool]:
        inherits = client._session.recorder.device._opened is not None
        return [inherits, isinstance(client.record("fact_1", True), Recorded)]

    ((inherits, child),) = in_children(1, act)
    thread.join()
    parent = isinstance(client.record("fact_2", True), Recorded)
    return {"inherits": inherits, "child": child, "parent": parent, "entries": len(list(client.journal()))}


def fork_in_a_request(directory: Path) -> Any:
    """Fork while the background thread waits for an answer; then let both send."""
    sent = directory.parent / "sent"
    client = device(directory, transport=FileTransport(sent, delay=0.3), delivery=Delivery(delay=0))
    client.record("fact_0", True)
    while not sent.exists() or not sent.read_bytes():
        time.sleep(0.001)

    def act(_: int) -> Any:
        again = client.flush(timeout=30, now=True)
        client.record("fact_1", True)
        while client.stats().waiting:
            time.sleep(0.01)
        return again.sent

    (again,) = in_children(1, act)
    while client.stats().waiting:
        time.sleep(0.01)
    return {"child_sent_of_its_parents": again, "bodies": sent.read_text().split()}


def fork_in_an_import(directory: Path) -> Any:
    """Fork while the background thread imports what sending needs; then let the child send."""
    (directory.parent / "slow_transport.py").write_text(
        "import time\ntime.sleep(0.3)\nfrom hubbub_client.testing import RecordingTransport\n"
    )
    sys.path.insert(0, str(directory.parent))
    assembly._http = lambda: importlib.import_module("slow_transport").RecordingTransport()
    client = device(directory, transport=None, delivery=Delivery(delay=0), prepare=False)
    client.record("fact_0", True)
    while "slow_transport" not in sys.modules:
        time.sleep(0.001)

    def act(_: int) -> Any:
        recorded = isinstance(client.record("fact_1", True), Recorded)
        return [recorded, client.flush(timeout=3, now=True).error]

    return in_children(1, act)


def go_on(directory: Path, start: str) -> Any:
    """Record and send until killed, saying so after each record that was acknowledged to the app."""
    client = device(directory, transport=FileTransport(directory.parent / "sent"), delivery=Delivery(delay=0))
    print("ready", flush=True)
    for at in range(int(start), 900):
        client.record(f"fact_{at}", True)
    time.sleep(60)


ACTORS: dict[str, Callable[..., Any]] = {
    act.__name__: act
    for act in (
        crowd,
        impatient_crowd,
        siblings,
        fork_in_a_record,
        fork_in_a_request,
        fork_in_an_import,
        go_on,
    )
}

if __name__ == "__main__":
    name, place, *more = sys.argv[1:]
    print(json.dumps(ACTORS[name](Path(place), *more)))
