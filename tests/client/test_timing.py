"""This file proves that what is timed is recorded in seconds whatever becomes of it, and isn't disturbed."""

import asyncio
import inspect
import logging
import re
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from hubbub.declaration import boolean, number
from hubbub.errors import DomainError
from hubbub.manifest import Manifest
from hubbub_client import Client
from hubbub_client.session import Session

Make = Callable[..., Client]
MANIFEST = Manifest(
    app="notepad",
    serial=1,
    metrics=(
        number("seconds", low=0, high=10, epsilon="0.5", labels={"way": ["cold", "warm"]}),
        *(number(f"step_{at}", low=0, high=10, epsilon="0.1") for at in range(30)),
        boolean("dark", epsilon="1"),
    ),
)


def test_a_name_that_no_metric_has_is_warned_of_once_while_an_app_is_under_development(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    for strict in (False, True):
        client = make(manifest=MANIFEST, strict=strict)
        for name in ("secnods", "secnods"):
            with client.timed(name):
                pass

    warned = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warned) == 1
    assert "no metric of that name" in warned[0]


class Recording(list[tuple[str, Any, Any]]):
    """Lets every record through, and keeps what it was told, which a client never shows."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        through = Session.record

        def record(session: Session, name: str, value: object, labels: Any) -> Any:
            self.append((name, value, labels))
            return through(session, name, value, labels)

        monkeypatch.setattr(Session, "record", record)


class Ticks:
    """A clock that shows one second more at every look."""

    def __init__(self) -> None:
        self._numbers = count()

    def __call__(self) -> float:
        return float(next(self._numbers))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Recording:
    return Recording(monkeypatch)


@pytest.fixture
def client(make: Make) -> Client:
    return make(manifest=MANIFEST)


def recorded(client: Client) -> list[str]:
    return [entry.metric for entry in client.journal()]


def test_a_block_is_recorded_in_seconds_when_it_ends(client: Client, told: Recording) -> None:
    with client.timed("seconds", {"way": "cold"}, clock=Ticks()):
        assert recorded(client) == []

    assert told == [("seconds", 1.0, {"way": "cold"})]
    assert recorded(client) == ["seconds"]


def test_time_runs_by_a_clock_that_is_never_set_back(client: Client, told: Recording) -> None:
    with client.timed("step_0"):
        pass

    ((_, seconds, _),) = told
    assert 0 <= seconds < 60


def test_a_block_that_fails_is_recorded_like_any_other_and_its_exception_passes(
    client: Client, told: Recording
) -> None:
    broken = KeyError("mine")

    with pytest.raises(KeyError) as caught, client.timed("step_0", clock=Ticks()):
        raise broken

    assert caught.value is broken
    assert caught.value.__context__ is None
    assert told == [("step_0", 1.0, None)]


def test_a_function_that_fails_is_recorded_like_any_other_and_its_exception_passes(
    client: Client, told: Recording
) -> None:
    @client.timed("step_0", clock=Ticks())
    def fail() -> None:
        raise SystemExit(7)

    with pytest.raises(SystemExit, match="7"):
        fail()

    assert told == [("step_0", 1.0, None)]


def test_blocks_may_nest_in_one_timer(client: Client, told: Recording) -> None:
    timer = client.timed("step_0", clock=Ticks())  # outer 0, inner 1 and 2, outer 3

    with timer, timer:
        pass

    assert [seconds for _, seconds, _ in told] == [1.0, 3.0]


def test_a_function_may_call_itself(client: Client, told: Recording) -> None:
    @client.timed("step_0", clock=Ticks())
    def factorial(n: int) -> int:
        return 1 if n == 0 else n * factorial(n - 1)

    product = factorial(3)

    assert product == 6
    assert [seconds for _, seconds, _ in told] == [1.0, 3.0, 5.0, 7.0]


def test_one_timer_serves_many_threads_at_once(client: Client, told: Recording) -> None:
    threads_in, local = threading.Barrier(8), threading.local()

    def clock() -> float:
        local.looks = getattr(local, "looks", -1) + 1
        return float(local.looks * (1 + threading.current_thread().name.count("x")))

    timer = client.timed("step_0", clock=clock)

    @timer
    def call() -> None:
        with timer:
            threads_in.wait()

    threads = [threading.Thread(target=call, name="x" * at) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    seconds = sorted(seconds for _, seconds, _ in told)
    assert seconds == sorted([1.0 * (1 + at) for at in range(8)] + [3.0 * (1 + at) for at in range(8)])
    assert recorded(client) == ["step_0"]


def test_a_timed_function_keeps_its_name_signature_and_result(client: Client) -> None:
    def add(left: int, *, right: int = 2) -> int:
        """Add."""
        return left + right

    timed = client.timed("step_0")(add)

    assert (timed(1, right=4), timed(1)) == (5, 3)
    assert (timed.__name__, timed.__doc__, inspect.signature(timed)) == (
        "add",
        "Add.",
        inspect.signature(add),
    )


def test_a_timed_coroutine_function_stays_one_and_counts_what_it_awaits(
    client: Client, told: Recording
) -> None:
    ticks = Ticks()

    @client.timed("step_0", clock=ticks)
    async def load(name: str) -> str:
        await asyncio.sleep(0)
        ticks()  # a second passes
        return name

    async def run() -> str:
        loaded = await load("all")
        await client.record_async("dark", True)  # the worker does what it is handed in order
        return loaded

    loaded = asyncio.run(run())

    assert inspect.iscoroutinefunction(load)
    assert loaded == "all"
    assert told[0] == ("step_0", 2.0, None)
    assert recorded(client) == ["step_0", "dark"]


def test_an_asynchronous_block_is_recorded_though_it_is_cancelled(client: Client, told: Recording) -> None:
    async def run() -> None:
        async def block() -> None:
            async with client.timed("step_0", clock=Ticks()):
                await asyncio.Event().wait()

        task = asyncio.ensure_future(block())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.record_async("dark", True)

    asyncio.run(run())

    assert told[0] == ("step_0", 1.0, None)


def test_a_coroutine_that_is_closed_before_its_end_is_recorded(client: Client, told: Recording) -> None:
    @client.timed("step_0", clock=Ticks())
    async def wait() -> None:
        await asyncio.sleep(3600)

    coroutine = wait()
    with pytest.raises(RuntimeError, match="loop"):  # there is none
        coroutine.send(None)
    client._session._assembly.settle(60)

    assert told == [("step_0", 1.0, None)]


@pytest.mark.parametrize("options", [{}, {"strict": True}, {"consent": "refused"}], ids=str)
@pytest.mark.parametrize("name", ["nowhere", "dark", "seconds"])
def test_a_timer_never_raises(make: Make, name: str, options: dict[str, Any]) -> None:
    client = make(manifest=MANIFEST, **options)

    async def run() -> None:
        async with client.timed(name):
            pass

    with client.timed(name):
        pass
    asyncio.run(run())
    client._session._assembly.settle(60)

    assert sum(client.stats().skipped.values()) == 2
    assert recorded(client) == []


def test_a_generator_is_refused_where_it_is_decorated(client: Client) -> None:
    def numbers() -> Any:
        yield 1

    async def later() -> Any:
        yield 1

    with pytest.raises(DomainError, match="block in it"):
        client.timed("step_0")(numbers)
    with pytest.raises(DomainError, match="block in it"):
        client.timed("step_0")(later)


def test_a_decorator_without_a_name_is_refused_where_it_is_written(client: Client) -> None:
    def load() -> None: ...

    async def load_later() -> None: ...

    for function in (load, load_later, len):
        with pytest.raises(DomainError, match=re.escape('@client.timed("name_of_a_metric")')):
            client.timed(function)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [classmethod, property])
def test_what_can_not_be_called_is_refused_where_it_is_decorated(client: Client, kind: Any) -> None:
    with pytest.raises(DomainError, match="below @classmethod"):
        client.timed("step_0")(kind(lambda _: None))


def test_a_method_is_timed_whichever_way_it_is_bound(client: Client, told: Recording) -> None:
    class App:
        @staticmethod
        @client.timed("step_0", clock=Ticks())
        def still() -> int:
            return 1

        @classmethod
        @client.timed("step_1", clock=Ticks())
        def of_class(cls) -> int:
            return 2

        @client.timed("step_2", clock=Ticks())
        def bound(self) -> int:
            return 3

    returned = [App.still(), App.of_class(), App().bound()]

    assert returned == [1, 2, 3]
    assert [name for name, *_ in told] == ["step_0", "step_1", "step_2"]


def test_a_timer_says_nothing_of_what_it_measured(client: Client) -> None:
    timer = client.timed("step_0", clock=lambda: 7.8125377)

    with timer:
        shown = repr(timer)

    assert shown == "Timer(name='step_0', labels=None)"
