"""This file makes a call for asynchronous code: a thread does it, and the event loop goes on meanwhile."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


async def outcome_of(call: Callable[[], T], hand_over: Callable[[Callable[[], object]], T | None]) -> T:
    """Let a thread make a call that never raises, and wait for its outcome.

    Whoever stops waiting, or closes the loop, changes nothing: what was handed over is done once. Once it is,
    nothing here holds what the call was given. No executor has a part in it: a loop's end waits for its own.

    hand_over: gives a call to a thread, or returns the outcome if none takes it.
    """
    import asyncio  # noqa: PLC0415 - not for an app without it; where a loop runs, it was imported

    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()
    refused = hand_over(partial(_make, call, loop, outcome))
    del call
    return await outcome if refused is None else refused


def _make(call: Callable[[], T], loop: "asyncio.AbstractEventLoop", outcome: "asyncio.Future[T]") -> None:
    """Make a call in a thread that is used to the exception which a closed loop raises."""
    loop.call_soon_threadsafe(_settle, outcome, call())


def _settle(outcome: "asyncio.Future[T]", found: T) -> None:
    if not outcome.done():  # or else nobody waits any more
        outcome.set_result(found)
