"""This file proves what becomes of a call in whose middle something raises that is no fault of the call.

That is a handler of a signal, such as Ctrl-C, or what an app gave us: its clock, its transport, its logging.
"""

import asyncio
import logging
import sys
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from hubbub.declaration import number
from hubbub.errors import StorageError
from hubbub.manifest import Manifest
from hubbub.period import DAY
from hubbub_client import Client, Policy, Recorded, Skipped
from hubbub_client.logs import Log
from hubbub_client.sending.transport import Answer, Request
from hubbub_client.testing import RecordingTransport
from tests.client.conftest import Clock
from tests.client.test_leaks import Figure, record_async, uncollected

__all__ = ["uncollected"]

Make = Callable[..., Client]
DAILY = Manifest(
    app="notepad", serial=1, metrics=(number("figure", low=0, high=10, epsilon="0.01", period="1d"),)
)
SPENDTHRIFT = Policy(source_window="100", window="100", source_life="100", life="100")


class Interruption(BaseException):
    """What a handler of a signal raises."""


def ended(by: type[BaseException] | BaseException) -> float:
    """Be a clock that shows nothing."""
    raise by


def interrupted_at(step: int, act: Callable[[], object]) -> tuple[bool, BaseException | None]:
    """Do something, and raise in the client where a handler may: a function begins, or a call has returned.

    Not as a call of the app's begins, which has its arguments by then. Tell whether there are so many such
    places, and what came of it.
    """
    left = [step]

    def profile(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        is_begun = event == "call" and file.endswith("hubbub_client/client.py")
        if event == "c_call" or is_begun or "/hubbub" not in file:
            return
        left[0] -= 1
        if left[0] == 0:
            raise Interruption

    before, caught = sys.getprofile(), None
    sys.setprofile(profile)
    try:
        act()
    except Interruption as error:
        caught = error
    finally:
        sys.setprofile(before)
    return left[0] <= 0, caught


class Awkward(Figure):
    """A number that can't be read."""

    def __float__(self) -> float:
        raise ValueError


def plainly(client: Client, held: list[float]) -> None:
    """Record what is held, and hold it no longer."""
    client.record("figure", held.pop())


def by_a_timer(client: Client, held: list[float]) -> None:
    """Do the same with a timer, whose clock makes the value."""
    ticks = iter([lambda: 0.0, held.pop])

    def clock() -> float:
        return next(ticks)()

    with client.timed("figure", clock=clock):
        pass


def kept_by(
    make: Make, clock: Clock, way: Callable[[Client, list[float]], None], kind: type[Figure]
) -> list[bool]:
    """Tell of each step of a record whether what is raised there keeps the value alive."""
    client = make(manifest=DAILY, policy=SPENDTHRIFT, lock_wait=0)
    way(client, [1.0])
    kept: list[bool] = []
    is_there = True
    while is_there:
        clock.now += DAY
        held: list[float] = [kind(7.5)]
        witness = weakref.ref(held[0])
        is_there, caught = interrupted_at(len(kept) + 1, lambda: way(client, held))  # noqa: B023 - called at once
        held.clear()
        kept.append(witness() is not None)
        del caught
    return kept[:-1]


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("kind", [Figure, Awkward])
@pytest.mark.parametrize("way", [plainly, by_a_timer], ids=lambda way: way.__name__)
def test_what_a_handler_raises_anywhere_in_a_record_holds_no_value(
    make: Make,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    way: Callable[[Client, list[float]], None],
    kind: type[Figure],
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # pytest's own keeps every frame

    kept = kept_by(make, clock, way, kind)

    assert len(kept) > 20
    assert [step for step, is_kept in enumerate(kept) if is_kept] == []


def recorded_after(client: Client, error: Exception) -> None:
    try:
        raise error
    except type(error):
        client.record("dark", True)


class Changeable:
    """A clock that is another one later."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.clock = clock or Clock()

    def __call__(self) -> float:
        return self.clock()


def test_what_ends_a_record_is_told_after_what_the_app_was_at(make: Make) -> None:
    clock, first = Changeable(), ValueError("the app's own")
    client = make(clock=clock)
    clock.clock = partial(ended, SystemExit(3))

    with pytest.raises(SystemExit) as caught:
        recorded_after(client, first)

    assert caught.value.code == 3
    assert caught.value.__context__ is first
    assert first.__traceback__ is not None


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("way", ["record", "record_async"])
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit, Interruption])
def test_what_an_app_s_own_clock_ends_is_ended_for_the_app_too_and_holds_no_value(
    make: Make, kind: type[BaseException], way: str
) -> None:
    clock = Changeable()
    client = make(manifest=DAILY, clock=clock)
    value = Figure(7.5)
    witness = weakref.ref(value)
    clock.clock = partial(ended, kind)

    with pytest.raises(kind) as caught:
        client.record("figure", value) if way == "record" else record_async(client, value)
    del value

    assert caught.value.__traceback__ is not None
    assert witness() is None


@pytest.mark.parametrize("kind", [SystemExit, Interruption])
def test_a_transport_that_ends_its_thread_keeps_no_flush_waiting(
    make: Make, kind: type[BaseException]
) -> None:
    class Ending:
        def send(self, _: Request) -> Answer:
            raise kind

    client = make(transport=Ending())
    client.record("dark", True)

    flushed = asyncio.run(asyncio.wait_for(client.flush_async(), 30))

    assert (flushed.sent, flushed.waiting) == (0, 1)
    assert "answer" in flushed.error


def test_without_a_loop_of_asyncio_a_record_is_made_at_once(make: Make) -> None:
    client = make(manifest=DAILY)

    with pytest.raises(StopIteration) as done:
        client.record_async("figure", 7.5).send(None)

    assert isinstance(done.value.value, Recorded)
    assert [entry.metric for entry in client.journal()] == ["figure"]


class BrokenLogger(logging.Logger):
    """A logger class of an app's that can't be made."""

    def __init__(self, *_: object) -> None:
        raise ValueError("no such logger")


class BrokenHandler(logging.Handler):
    """A handler of an app's that fails."""

    def handle(self, _: logging.LogRecord) -> bool:
        raise ValueError("no such disk")


@pytest.fixture(params=["class", "handler"])
def broken_logging(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    loggers = logging.Logger.manager.loggerDict
    for name in [name for name in loggers if name.startswith("hubbub_client")]:
        monkeypatch.delitem(loggers, name)
    if request.param == "class":
        monkeypatch.setattr(logging.Logger.manager, "loggerClass", BrokenLogger)
    else:
        monkeypatch.setattr(logging.root, "handlers", [BrokenHandler()])
        monkeypatch.setattr(logging.root, "level", 1)


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("way", [Client.record, record_async])
def test_what_an_app_s_log_raises_and_the_app_keeps_holds_no_value(
    make: Make, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, way: Callable[..., object]
) -> None:
    kept: list[ValueError] = []

    def fail(_: logging.LogRecord) -> bool:
        kept.append(ValueError())
        raise kept[-1]

    caplog.set_level(logging.DEBUG, "hubbub_client")
    monkeypatch.setattr(logging.getLogger("hubbub_client"), "filters", [fail])
    client = make(manifest=DAILY, consent="refused")
    value = Figure(3)
    witness = weakref.ref(value)

    outcome = way(client, *(() if way is record_async else ("figure",)), value)
    del value

    assert (isinstance(outcome, Skipped), len(kept)) == (True, 1)
    assert witness() is None


@pytest.mark.usefixtures("broken_logging")
def test_a_broken_log_costs_no_outcome(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub_client.sending.sender._log", Log("hubbub_client.sending.sender"))
    client = make(transport=RecordingTransport([Answer(500)]), consent=None)

    outcomes = [client.record("dark", True), asyncio.run(client.record_async("dark", True))]
    client.consent("given")
    outcomes += [client.record("nowhere", 1), client.record("dark", True)]
    flushed = client.flush()

    codes = [outcome.code if isinstance(outcome, Skipped) else "" for outcome in outcomes]
    assert codes == ["consent", "consent", "unknown_metric", ""]
    assert "500" in flushed.error


CLOCKS: dict[str, Callable[[], Any]] = {
    "fails": partial(ended, ValueError),
    "no number": lambda: "noon",
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
}


@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
def test_no_clock_keeps_a_decision_of_the_owner_from_being_taken(
    make: Make, transport: RecordingTransport, clock: Callable[[], float]
) -> None:
    changing = Changeable()
    client = make(clock=changing)
    client.record("dark", True)
    changing.clock = clock

    states = []
    for word in ("refused", "given", "unknown"):
        client.consent(word)
        states.append(client.consents()["dark"])
    client.consent("given", ["dark"])
    made = make(clock=clock, consent="given").consents()["dark"]
    withdrawn = client.withdraw()

    assert states == ["refused", "given", "unknown"]
    assert made == "given"
    assert client.consents()["dark"] == "refused"
    assert "clock" in withdrawn.error
    assert transport.requests == []


@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
def test_whatever_a_clock_does_each_call_keeps_its_promise(
    make: Make, tmp_path: Path, clock: Callable[[], float]
) -> None:
    make().record("dark", True)
    client = make(clock=clock)

    outcomes = [client.record("seconds", 3), asyncio.run(client.record_async("seconds", 3))]
    client.check_in()
    flushed, page = client.flush(), client.page()
    client.obstacle()
    client.check()
    with client.timed("seconds", clock=clock):
        pass

    assert [one.code for one in outcomes if isinstance(one, Skipped)] == ["storage", "storage"]
    assert "clock" in flushed.error
    assert "clock" in page
    with pytest.raises(StorageError, match="clock"):
        client.remaining()


def test_who_agrees_by_a_clock_that_fails_has_agreed_before_every_withdrawal(
    make: Make, clock: Clock
) -> None:
    make().record("dark", True)
    changing = Changeable(partial(ended, ValueError))
    client = make(clock=changing)
    make().withdraw()
    changing.clock = clock

    outcome = client.record("seconds", 3)

    assert isinstance(outcome, Skipped)
    assert outcome.code == "consent"
