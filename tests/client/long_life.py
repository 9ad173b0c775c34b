"""This file lives a device's life from day to day, as badly as it may go, for tests of what must hold."""

import gzip
import os
import random
import resource
import sqlite3
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from hubbub.batch import decode
from hubbub.declaration import boolean, choice, number
from hubbub.errors import NotReachableError
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery, Policy, Recorded
from hubbub_client.sending.transport import Answer, Request
from tests.client.conftest import DAY, MONDAY, Clock
from tests.client.lives import OPTIONS, asked

MANIFEST = Manifest(
    app="notepad",
    serial=1,
    metrics=(
        boolean("dark", epsilon="0.3", period="1d"),
        number("seconds", low=0, high=10, epsilon="0.5", period="1d", absent=0),
        boolean("loud", epsilon="1", labels={"version": ["1.0", "other"]}, source="dark"),
        choice("system", options=list(OPTIONS), epsilon="2", period="28d", absent="d"),
        choice("origin", options=list(OPTIONS), epsilon="2", once=True),
        asked("l_grr", 1, name="place"),
        asked("dbitflip", 0, name="site", absent="d", period="7d"),
        asked("rappor", 5, name="theme", source="dark"),
    ),
)
VALUES: dict[str, Callable[[random.Random], object]] = {
    "boolean": lambda chance: chance.random() < 0.3,
    "number": lambda chance: chance.uniform(-1, 11),
    "choice": lambda chance: chance.choice(OPTIONS),
}
POLICIES = (
    Policy(),
    Policy(source_window="5", window="8"),
    Policy(source_window="2", window="16", source_life="12", life="40"),
    Policy(report="1", metrics=6),
)
INSTRUCTIONS, LINES = 8_000, 25_000  # of SQLite and of Python, that a day takes, about
SKEWS = {0: 300, -4000: 2, -20: 4, -1: 8, 5: 2, 30: 1}  # days that a clock is wrong by, and how often


class Flaky:
    """A collector that takes batches, refuses them, fails or is not there, at random."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.seen: set[bytes] = set()

    def send(self, request: Request) -> Answer:
        self.seen.add(decode(gzip.decompress(request.body)).id)
        (status,) = self._chance.choices([200, 400, 413, 425, 429, 500, 0], [12, 1, 1, 1, 1, 1, 1])
        if status == 0:
            raise NotReachableError("the collector is not there")
        return Answer(status, b'{"accepted": 1, "refused": []}')


@dataclass(slots=True)
class Life:
    """A device, and what surrounds it.

    is_cut_short: whether work was cut short today, so that the marker may be one record behind.
    """

    directory: Path
    chance: random.Random
    clock: Clock = field(default_factory=Clock)
    today: int = 0
    policy: Policy = POLICIES[0]
    is_refused: bool = False
    is_cut_short: bool = False
    client: Client = field(init=False)
    collector: Flaky = field(init=False)

    def __post_init__(self) -> None:
        self.collector = Flaky(self.chance)
        self.client = self._begin()
        self.client.record("dark", True)

    def live(self) -> int:
        """Live through a day: something may happen, and then record; return how many answers were given."""
        self.today += 1
        (skew,) = self.chance.choices(list(SKEWS), list(SKEWS.values()))
        self.clock.now = MONDAY + (self.today + skew) * DAY + self.chance.randrange(DAY)
        events = [self._restart, self._choose, self._send, self._fill, self._interrupt, self._kill]
        (event,) = self.chance.choices([lambda: 0, *events], [10, 4, 7 if self.is_refused else 1, 8, 2, 2, 4])
        self.is_cut_short = False
        return (event() or 0) + self.record()

    def record(self) -> int:
        """Record most metrics, in any order; return how many answers were given."""
        metrics = self.chance.sample(MANIFEST.metrics, self.chance.randrange(3, len(MANIFEST.metrics) + 1))
        values = [VALUES[metric.domain.kind](self.chance) for metric in metrics]
        labels = [{label.name: "1.0" for label in metric.labels} for metric in metrics]
        names = [metric.name for metric in metrics]
        return sum(isinstance(one, Recorded) for one in map(self.client.record, names, values, labels))

    def _begin(self) -> Client:
        return Client.for_testing(
            MANIFEST,
            data_dir=self.directory,
            clock=self.clock,
            policy=self.policy,
            transport=self.collector,
            delivery=Delivery(delay=0, background=False),
            consent="refused" if self.is_refused else "given",
        )

    def _restart(self) -> None:
        """Begin another process, which may have another policy, after the end of this one or beside it."""
        if self.chance.random() < 0.5:
            self.client.close()
        self.policy = self.chance.choice(POLICIES)
        self.client = self._begin()

    def _choose(self) -> None:
        """Let the owner refuse, or agree again."""
        self.is_refused = not self.is_refused
        self.client.consent("refused" if self.is_refused else "given")

    def _send(self) -> None:
        self.client.flush(60, now=self.chance.random() < 0.3)

    def _fill(self) -> int:
        """Record tomorrow on a disk that gets full."""
        self._next_day()
        self.is_cut_short = True
        size = (self.directory / "device.sqlite3").stat().st_size
        unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.chance.randrange(size + 8192), unlimited[1]))
        try:
            return self.record()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)

    def interrupted_after(self, steps: int, act: Callable[[Client], Any]) -> Any:
        """Let one statement of SQLite's fail, after so many instructions, and go on."""
        connection = self._connection()
        connection.set_progress_handler(after(steps, lambda: True), 1)
        done = act(self.client)
        with suppress(sqlite3.ProgrammingError):  # it may have been closed since
            connection.set_progress_handler(None, 0)
        return done

    def _interrupt(self) -> int:
        """Record tomorrow, and let a statement fail in the middle."""
        self._next_day()
        self.is_cut_short = True
        recorded: int = self.interrupted_after(self.chance.randrange(INSTRUCTIONS), lambda _: self.record())
        return recorded

    def _kill(self) -> None:
        """Record tomorrow in another process that ends: within a statement, or between two of our lines."""
        self._next_day()
        self.is_cut_short = True
        is_within = self.chance.random() < 0.5
        end = after(self.chance.randrange(INSTRUCTIONS if is_within else LINES), lambda: os._exit(0))
        child = os.fork()
        if child == 0:
            if is_within:
                self._connection().set_progress_handler(end, 1)
            else:
                sys.settrace(lambda *_: lambda *_: end())
            self.record()
            os._exit(0)
        os.waitpid(child, 0)

    def _next_day(self) -> None:
        self.today += 1
        self.clock.now += DAY

    def _connection(self) -> sqlite3.Connection:
        connection = self.client._session.recorder.device.read(lambda connection: connection)
        assert connection is not None
        return connection


def after(steps: int, act: Callable[[], object]) -> Callable[[], Any]:
    """Return what does something once, at one call after so many."""
    calls = count()

    def call() -> Any:
        return act() if next(calls) == steps else None

    return call
