"""This file carries batches from a device's outbox to its collector: the work of one round of sending.

Nothing here holds the database while it waits for a network.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from hubbub import batch
from hubbub.errors import NotReachableError
from hubbub_client import ledger, outbox
from hubbub_client.delivery import Delivery, Verdict, judge
from hubbub_client.device import Device
from hubbub_client.envelope import pack
from hubbub_client.transport import Collector, Request, Transport

_HEADERS = {"Content-Type": batch.BINARY, "Content-Encoding": "gzip"}


@dataclass(slots=True)
class Round:
    """One round of sending: what it may do, and how far it came.

    deadline: monotonic. pause: seconds for which the collector asks to be left alone, or None.
    """

    everything: bool
    deadline: float
    sent: int = 0
    refused: int = 0
    error: str = ""
    pause: float | None = None


class OutOfTimeError(Exception):
    """A round has lasted as long as it may."""


@dataclass(frozen=True, slots=True)
class Courier:
    """Carries the batches of one device to one collector.

    transport: gives it, once its imports are done.
    """

    device: Device
    collector: Collector
    delivery: Delivery
    clock: Callable[[], float]
    transport: Callable[[], Transport]

    def carry(self, run: Round) -> None:
        """Send what is due.

        Raises NotReachableError where all has to stay in line, OutOfTimeError, BusyError and StorageError.
        """
        while leased := self.lease(everything=run.everything):
            self._carry(list(leased), run)

    def lease(self, *, everything: bool) -> tuple[outbox.Waiting, ...]:
        """Take some batches in line for this process alone."""
        if not self.device.exists:
            return ()
        with self.device.transaction(create=False) as connection:
            now = ledger.latest(connection, self.clock())
            outbox.drop_old(connection, now)
            return outbox.lease(connection, now, everything=everything)

    def _carry(self, leased: list[outbox.Waiting], run: Round) -> None:
        try:
            while leased:
                verdict = self._try(leased[0], run)
                self._note(leased.pop(0).number, verdict, run)
        finally:
            if leased:
                with self.device.transaction(create=False) as connection:
                    outbox.release(connection, tuple(one.number for one in leased))

    def _note(self, number: int, verdict: Verdict, run: Round) -> None:
        with self.device.transaction(create=False) as connection:
            if verdict.status == "postponed":
                now = ledger.latest(connection, self.clock())
                outbox.postpone(connection, number, verdict.code, now=now)
                run.error = f"the collector answered {verdict.code}"
            else:
                outbox.settle(connection, number, verdict.status, verdict.code)
        run.sent += verdict.status == "sent"
        run.refused += verdict.status == "refused"

    def _try(self, one: outbox.Waiting, run: Round) -> Verdict:
        """Send one batch, once.

        Raises NotReachableError if it has to stay in line.
        """
        left = run.deadline - time.monotonic()
        if left <= 0:
            raise OutOfTimeError
        if not self.collector.allowed():
            raise NotReachableError("sending was switched off")
        timeout = min(self.delivery.request_timeout, max(left, 0.1))
        request = Request(
            f"{self.collector.url}/v1/batches", pack(one.batch), dict(_HEADERS), timeout, self.collector.key
        )
        verdict = judge(self.transport().send(request))
        if verdict.status == "waiting":
            run.pause = verdict.pause
            raise NotReachableError(f"the collector answered {verdict.code}")
        return verdict
