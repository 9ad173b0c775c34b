"""This file makes a call for asynchronous code: a thread does it, and the event loop goes on meanwhile."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from hubbub_client.interruption import bare, passed

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


async def outcome_of(call: Callable[[], T], hand_over: Callable[[Callable[[], object]], T | None]) -> T:
    """Let a thread make a call, and wait for its outcome or for what it raises.

    Whoever stops waiting, or closes the loop, changes nothing: what was handed over is done once. Once it is,
    nothing here holds what the call was given. No executor has a part in it: a loop's end waits for its own.
    Where no loop of asyncio runs, the call is made at once.

    hand_over: gives a call to a thread, or returns the outcome if none takes it.
    """
    import asyncio  # noqa: PLC0415 - not for an app without it; where a loop runs, it was imported

    refused: T | BaseException | None
    try:
        loop = asyncio._get_running_loop()  # noqa: SLF001 - the other way to ask raises
        if loop is None:
            return call()
        outcome: asyncio.Future[T | BaseException] = loop.create_future()
        refused = hand_over(partial(_make, call, loop, outcome))
    except BaseException as error:
        refused = bare(error)
    finally:
        del call
    return passed(await outcome if refused is None else refused)


def _make(
    call: Callable[[], T], loop: "asyncio.AbstractEventLoop", outcome: "asyncio.Future[T | BaseException]"
) -> None:
    """Make a call in a thread that is used to the exception which a closed loop raises."""
    found: T | BaseException
    try:
        found = call()
    except BaseException as error:  # or else whoever waits would do so for ever
        found = bare(error)
    loop.call_soon_threadsafe(_settle, outcome, found)


def _settle(outcome: "asyncio.Future[T]", found: T) -> None:
    if not outcome.done():  # or else nobody waits any more
        outcome.set_result(found)
