"""This file plays devices with permanent answers, also in processes of their own: ``python -m``."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hubbub import registry
from hubbub.declaration import metric_of
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub_client import Client, Delivery, Recorded
from tests.client.actors import in_children

ROOT = Path(__file__).parents[2]
MONDAY, DAY = 1_767_571_200, 86_400
OPTIONS = "abcd"
KINDS = tuple(entry.kind for entry in registry.ENTRIES if entry.remembers)
PARAMETERS: dict[str, dict[str, object]] = {
    **{kind: {"first": "0.5"} for kind in KINDS},
    "dbitflip": {"buckets": 2},
}
SOME, ALL = 1, 5  # changes: for a part of the states, and for more than all of them


def asked(kind: str, changes: int, *, name: str = "place", **more: Any) -> Metric:
    """Declare a daily question with a permanent answer, by default for epsilon 1."""
    parameters = PARAMETERS[kind]
    usual = {"options": list(OPTIONS), "epsilon": "1", "period": "1d", "parameters": parameters}
    return metric_of(name, {"kind": "choice", "mechanism": kind, "changes": changes, **usual, **more})


def about(*metrics: Metric) -> Manifest:
    """Ask some questions."""
    return Manifest(app="notepad", serial=1, metrics=metrics)


def memos(client: Client, columns: str = "metric, state, memo") -> list[tuple[bytes, ...]]:
    """Read what a device keeps, in the order in which it was kept."""
    query = f"SELECT {columns} FROM memo ORDER BY number"  # noqa: S608 - a test's own words

    def read(connection: sqlite3.Connection | None) -> list[tuple[bytes, ...]]:
        assert connection is not None
        return connection.execute(query).fetchall()

    return client._session.recorder.device.read(read)


@contextmanager
def quick_directory() -> Iterator[Path]:
    """Make a directory for a while, in memory where there is such a file system."""
    memory = Path("/dev/shm")  # noqa: S108 - the directory in it has a name of its own
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as directory:
        yield Path(directory)


def alive(directory: Path, kind: str, clock: Callable[[], float], **more: Any) -> Client:
    """Return a device on a directory, at any time, that is asked one question whose memo stays."""
    delivery = Delivery(delay=0, background=False, most_batches=10**6)
    return Client.for_testing(
        about(asked(kind, 0, **more)), data_dir=directory, clock=clock, delivery=delivery, lock_wait=60.0
    )


def children(directory: Path, kind: str) -> Any:
    """Fork a client that has never recorded, and let all children record, each on a day of its own."""
    today = [MONDAY + 5.0]
    client = alive(directory, kind, lambda: today[0])
    client.prepare()

    def act(at: int) -> bool:
        today[0] += at * DAY
        return isinstance(client.record("place", OPTIONS[at]), Recorded)

    recorded = sum(in_children(4, act))
    costs = [str(entry.cost) for entry in client.journal()]
    return {"recorded": recorded, "costs": costs, "memos": len(memos(client))}


def go_on(directory: Path, kind: str) -> Any:
    """Record a day after the other until killed, from the day that the device remembers."""
    today = [MONDAY + 5.0]
    client = alive(directory, kind, lambda: today[0])
    print("ready", flush=True)
    today[0] += DAY * len(list(client.journal()))
    while True:
        client.record("place", OPTIONS[int(today[0]) // DAY % 4])
        today[0] += DAY


def start(actor: str, directory: Path, *more: object) -> "subprocess.Popen[str]":
    """Start an actor."""
    command = [sys.executable, "-m", "tests.client.lives", actor, str(directory), *map(str, more)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


ACTORS: dict[str, Callable[..., Any]] = {"children": children, "go_on": go_on}

if __name__ == "__main__":
    name, place, *rest = sys.argv[1:]
    print(json.dumps(ACTORS[name](Path(place), *rest)))
