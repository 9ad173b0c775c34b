"""This file makes a call for asynchronous code: a worker does it, and the event loop goes on meanwhile."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from hubbub_client.outcome import Recorded, Skipped

if TYPE_CHECKING:
    import asyncio

    from hubbub_client.session import Session

Outcome = Recorded | Skipped


async def outcome_of(session: "Session", call: Callable[[], Outcome]) -> Outcome:
    """Let the session's worker make a call that never raises, and wait for its outcome.

    Whoever stops waiting, or closes the loop, changes nothing: what was handed over is done once. Once it is,
    nothing here holds what the call was given.
    """
    import asyncio  # noqa: PLC0415 - not for an app without it; where a loop runs, it was imported

    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Outcome] = loop.create_future()
    refused = session.hand_over(partial(_make, call, loop, outcome))
    del call
    return await outcome if refused is None else refused


def _make(
    call: Callable[[], Outcome], loop: "asyncio.AbstractEventLoop", outcome: "asyncio.Future[Outcome]"
) -> None:
    """Make a call in the worker, who is used to the exception that a closed loop raises."""
    loop.call_soon_threadsafe(_settle, outcome, call())


def _settle(outcome: "asyncio.Future[Outcome]", found: Outcome) -> None:
    if not outcome.done():  # or else nobody waits any more
        outcome.set_result(found)
