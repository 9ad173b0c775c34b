"""This file measures one durable record on a device: what perturbing is of it, and a collector in trouble."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from benchmarks.answering import DOWN, SILENT, answering
from benchmarks.goals import Contest, Goal
from benchmarks.rivals import Rivals
from benchmarks.running import scratch
from hubbub import registry
from hubbub.declaration import boolean, choice, number
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub_client import Client, Delivery
from hubbub_client.answering.system_coins import system_coins

RECORDS = 30  # metrics of a device, one record of each; a device answers at most 32
DEVICES = 5
APP = """
import sys
if sys.argv[2]:
    from hubbub.declaration import boolean
    from hubbub.manifest import Manifest
    from hubbub_client import Client, Delivery
    manifest = Manifest(app="benchmark", serial=1, metrics=(boolean("fact", epsilon=1),))
    client = Client(
        sys.argv[2], manifest, data_dir=sys.argv[1], consent="given", strict=True, delivery=Delivery(delay=0)
    )
    client.record("fact", True)
"""
Declare = Callable[..., Metric]
QUESTIONS: dict[str, tuple[Declare, object]] = {
    "randomized response": (boolean, True),
    "optimized unary": (
        partial(choice, options=[f"option {i}" for i in range(64)], mechanism="optimized_unary"),
        "option 7",
    ),
    "laplace": (partial(number, low=0, high=10), 2.5),
}


@contextmanager
def _share(_: Rivals, *, declare: Declare, value: object) -> Iterator[Contest]:
    metric = declare("fact", epsilon="0.25")
    encoded, mechanism, coins = metric.domain.encode(value), registry.build(metric), system_coins()

    def perturbing() -> float:
        start = time.perf_counter()
        for _ in range(RECORDS):
            mechanism.perturb(np.array([encoded]), coins)
        return (time.perf_counter() - start) / RECORDS

    yield Contest(perturbing, lambda: statistics.mean(_records(declare, value)), "the whole of its record")


@contextmanager
def _ending(_: Rivals, *, status: int) -> Iterator[Contest]:
    with answering(status) as url:
        yield Contest(lambda: _process(url) - _process(), lambda: 1.0, "one second")


def _process(url: str = "") -> float:
    """Return how long an app lives that records and ends; without a url, one that only ends."""
    with tempfile.TemporaryDirectory(
        dir=scratch(), prefix="device-", ignore_cleanup_errors=True
    ) as directory:
        command = [sys.executable, "-c", APP, directory, url]
        return _time(partial(subprocess.run, command, check=True))


@contextmanager
def _trouble(_: Rivals, *, status: int) -> Iterator[Contest]:
    declare, value = QUESTIONS["randomized response"]

    def tail(url: str) -> float:
        times = sorted(time for _ in range(DEVICES) for time in _records(declare, value, url=url))
        return times[len(times) * 99 // 100]

    with answering(200) as well, answering(status) as ill:
        yield Contest(partial(tail, ill), partial(tail, well), "a collector that is up")


def _records(declare: Declare, value: object, *, url: str = "") -> list[float]:
    """Return how long each durable record of a new device took but the first, which makes its files.

    url: of the collector that every report is sent to at once; without it nothing is sent.
    """
    names = [f"fact_{number}" for number in range(RECORDS)]
    metrics = tuple(declare(name, epsilon="0.25") for name in names)
    manifest = Manifest(app="benchmark", serial=1, metrics=metrics)
    delivery = Delivery(delay=0, background=bool(url))
    with (
        tempfile.TemporaryDirectory(
            dir=scratch(), prefix="device-", ignore_cleanup_errors=True  # a request may be on its way yet
        ) as directory,
        Client(
            url or "https://collector.invalid", manifest, data_dir=directory, consent="given",
            delivery=delivery, strict=True,
        ) as client,
    ):  # fmt: skip
        client.prepare()
        client.record(names[0], value)
        return [_time(partial(client.record, name, value)) for name in names[1:]]


def _time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def goals() -> list[Goal]:
    """Return the goals of this file."""
    shares = [
        Goal(f"perturb one value: {name}", "at most", 0.05, partial(_share, declare=declare, value=value))
        for name, (declare, value) in QUESTIONS.items()
    ]
    troubles = (("down", DOWN), ("silent", SILENT), ("answering 500", 500))
    tails = [
        Goal(f"record, p99, collector {name}", "at most", 1.2, partial(_trouble, status=status))
        for name, status in troubles
    ]
    endings = [
        Goal(f"seconds added to an app, collector {name}", "at most", 1.0, partial(_ending, status=status))
        for name, status in troubles
    ]
    return [*shares, *tails, *endings]
