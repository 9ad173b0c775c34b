"""This file plays full devices, in several processes: each has a ledger of its own and sends over HTTP."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from examples.demo.population import Person
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery, Recorded

AT_ONCE = 10  # people that a process plays before it says how far it is


def play_all(
    people: Sequence[Person], manifest: Manifest, url: str, key: str, *, home: Path, processes: int
) -> Iterator[int]:
    """Let each person's device answer and send, and yield how many are through.

    home: person number i keeps their files in the folder ``home / str(i)``.
    """
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        numbered = list(enumerate(people))
        tasks = [
            pool.submit(_play, numbered[start : start + AT_ONCE], manifest, url, key, home)
            for start in range(0, len(people), AT_ONCE)
        ]
        for task in as_completed(tasks):
            yield task.result()


def open_device(manifest: Manifest, url: str, key: str, *, folder: Path) -> Client:
    """Return the client of one person, who has agreed to answer."""
    return Client(url, manifest, key=key, data_dir=folder, consent="given", delivery=Delivery(delay=0))


def _play(people: list[tuple[int, Person]], manifest: Manifest, url: str, key: str, home: Path) -> int:
    for number, person in people:
        client = open_device(manifest, url, key, folder=home / str(number))
        for name, value in asdict(person).items():
            recorded = client.record(name, value, labels={"route": "device"})
            if not isinstance(recorded, Recorded):
                raise SystemExit(f"person {number} could not answer {name}: {recorded.message}")
        flushed = client.flush(timeout=30)
        client.close()
        if flushed.waiting or flushed.refused:
            raise SystemExit(f"person {number} could not send everything: {flushed}")
    return len(people)
