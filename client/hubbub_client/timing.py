"""This file times a block or a function, and records how many seconds it took.

A block that fails is recorded like one that succeeds: if only successes left a report, its existence would
tell, in clear, that nothing failed.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from threading import local
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from hubbub.errors import DomainError
from hubbub_client.clocks import read
from hubbub_client.interruption import bare, passed

if TYPE_CHECKING:
    from hubbub_client.session import Session

P = ParamSpec("P")
R = TypeVar("R")


class _Starts(local):
    """When the blocks began that a thread is in, the innermost last."""

    def __init__(self) -> None:
        self.times: list[float] = []


@dataclass(frozen=True, slots=True)
class Timer:
    """Times a ``with`` or ``async with`` block, or every call of a function that it decorates.

    session: returns the client's, which a test may replace. clock: of seconds, which never runs backwards.

    In use it never raises, not even for a strict client, and the block's own exceptions pass; ``stats``
    counts what was skipped. Blocks and calls may nest, recur, and run in many threads; in asynchronous code,
    give each block a timer of its own. There, nobody waits for the report: a worker makes it.

    Raises DomainError for a function in the place of the name.
    """

    session: "Callable[[], Session]" = field(repr=False)
    name: str
    labels: Mapping[str, str] | None = None
    clock: Callable[[], float] = field(default=time.perf_counter, repr=False)
    _starts: _Starts = field(default_factory=_Starts, init=False, repr=False)

    def __post_init__(self) -> None:
        if callable(self.name):
            raise DomainError('name the metric that is timed: @client.timed("name_of_a_metric")')

    def __enter__(self) -> None:
        self._starts.times.append(read(self.clock))

    def __exit__(self, *_: object) -> None:
        self._record(self._starts.times.pop())

    async def __aenter__(self) -> None:
        self._starts.times.append(read(self.clock))

    async def __aexit__(self, *_: object) -> None:
        self._hand_over(self._starts.times.pop())

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function, timed.

        Raises DomainError for a generator function, whose time would be that of its consumer, and for what is
        no function.
        """
        if not callable(function):
            raise DomainError("only a function can be timed; write @client.timed(...) below @classmethod")
        if isgeneratorfunction(function) or isasyncgenfunction(function):
            raise DomainError("a generator can't be timed as a whole; time a block in it")
        if iscoroutinefunction(function):
            return cast("Callable[P, R]", self._timed_coroutine(function))

        @wraps(function)
        def timed(*args: P.args, **kwargs: P.kwargs) -> R:
            started = read(self.clock)
            try:
                return function(*args, **kwargs)
            finally:
                self._record(started)

        return timed

    def _timed_coroutine(self, function: Callable[P, Any]) -> Callable[P, Any]:
        @wraps(function)
        async def timed(*args: P.args, **kwargs: P.kwargs) -> Any:
            started = read(self.clock)
            try:
                return await function(*args, **kwargs)
            finally:
                self._hand_over(started)

        return timed

    def _record(self, started: float) -> None:
        session = self.session()
        self._pass_on(started, lambda value: session.record(self.name, value, self.labels))

    def _hand_over(self, started: float) -> None:
        session = self.session()
        self._pass_on(
            started, lambda value: session.hand_over(partial(session.record, self.name, value, self.labels))
        )

    def _pass_on(self, started: float, record: Callable[[float], object]) -> None:
        """Record, and let pass what ends that; not with the value, as in ``Client.record``."""
        ended: BaseException | None = None
        try:
            record(read(self.clock) - started)
        except BaseException as error:
            ended = bare(error)
        passed(ended)
