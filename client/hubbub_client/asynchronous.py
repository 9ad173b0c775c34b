"""This file records from asynchronous code: a worker does it, and the event loop goes on meanwhile."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hubbub.errors import SkippedError
from hubbub_client.outcome import Recorded, Skipped
from hubbub_client.worker import FULL

if TYPE_CHECKING:
    from hubbub_client.session import Session

Outcome = Recorded | Skipped


async def record(session: "Session", name: str, value: object, labels: Mapping[str, str] | None) -> Outcome:
    """Record in the session's worker and wait for the outcome.

    Whoever stops waiting, or closes the loop, changes nothing: what was handed over is recorded once.

    Raises SkippedError if the client is strict.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Outcome] = loop.create_future()

    def settle(found: Outcome | SkippedError) -> None:
        if outcome.done():  # nobody waits any more
            return
        if isinstance(found, SkippedError):
            outcome.set_exception(found)
        else:
            outcome.set_result(found)

    def work() -> None:
        try:
            found: Outcome | SkippedError = session.record(name, value, labels)
        except SkippedError as error:
            found = error
        loop.call_soon_threadsafe(
            settle, found
        )  # raises into the worker, who is used to it, if it was closed

    if not session.worker.submit(work):
        return session.noted(FULL)
    return await outcome
