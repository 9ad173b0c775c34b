"""This file carries letters from a device's outbox to its collector: the work of one round of sending.

Nothing here holds the database while it waits for a network.
"""

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hubbub.errors import NotReachableError
from hubbub_client.consent import Permission
from hubbub_client.sending import outbox, withdrawals
from hubbub_client.sending.delivery import Delivery, Verdict
from hubbub_client.sending.letters import Letter
from hubbub_client.sending.transport import Collector, Request, Transport
from hubbub_client.sending.troubles import answered
from hubbub_client.storage import ledger
from hubbub_client.storage.device import Device

if TYPE_CHECKING:
    from hubbub_client.maker import Maker

OFF = "sending was switched off"
GONE = "it was withdrawn, or is no longer in line"


@dataclass(slots=True)
class Progress:
    """How far sending came in this process, in whatever thread: what left, and the last trouble since."""

    sent: int = 0
    refused: int = 0
    trouble: str = ""


@dataclass(slots=True)
class Round:
    """One round of sending: what it may do, and how far it came.

    deadline: monotonic. pause: seconds for which the collector asks to be left alone, or None.
    """

    everything: bool
    deadline: float
    progress: Progress
    sent: int = 0
    error: str = ""
    pause: float | None = None


class OutOfTimeError(Exception):
    """A round has lasted as long as it may."""


@dataclass(frozen=True, slots=True)
class Courier:
    """Carries the letters of one device to one collector.

    permission: asked before every connection, and again before anything is said over it. transport: gives
    it, once its imports are done.
    """

    device: Device
    collector: Collector
    permission: Permission
    delivery: Delivery
    clock: Callable[[], float]
    transport: Callable[[], Transport]

    def carry(self, run: Round) -> None:
        """Send what is due.

        Raises NotReachableError where all has to stay in line, OutOfTimeError, BusyError and StorageError.
        """
        while leased := self.lease(everything=run.everything):
            self._carry(list(leased), run)

    def ask(self, maker: "Maker", run: Round) -> None:
        """Ask for news from the app's maker, with consent, if it is time for that and there is time left."""
        if (
            run.deadline <= time.monotonic()
            or not self.device.exists
            or self.permission.obstacle() is not None
        ):
            return
        if maker.wait() > 0:
            return
        url, transport, timeout = self.collector.url, self.transport(), self._timeout(run)
        maker.ask(url, transport, timeout=timeout, permit=self.permit_question)

    def lease(self, *, everything: bool) -> tuple[Letter, ...]:
        """Take some letters for this process alone."""
        if not self.device.exists:
            return ()
        clock = self.clock()  # before the transaction: whatever a clock does, it does not hold the database

        def work(connection: sqlite3.Connection) -> tuple[Letter, ...]:
            now = ledger.latest(connection, clock)
            self.permission.hear(withdrawals.latest(connection))
            outbox.give_up(connection, now)
            return outbox.lease(connection, now, self.permission.agrees, everything=everything)

        return self.device.transact(work, create=False)

    def _carry(self, letters: list[Letter], run: Round) -> None:
        try:
            while letters:
                self._permit(letters[0], run)
                self._try(letters.pop(0), run)
        finally:
            if letters:
                self.device.transact(lambda connection: outbox.release(connection, letters), create=False)

    def _permit(self, letter: Letter, run: Round) -> None:
        """Make sure that a letter may be sent now.

        Raises OutOfTimeError, NotReachableError if sending is not allowed, BusyError and StorageError.
        """
        if run.deadline <= time.monotonic():
            raise OutOfTimeError
        if not self.hear(letter):
            raise NotReachableError(GONE)
        is_off = self.permission.switch.reason() != ""
        if is_off or (letter.kind.needs_consent and not self.permission.agrees(letter.metric)):
            raise NotReachableError(OFF)

    def permit_question(self) -> None:
        """Make sure that the maker may be asked now; raises as for a letter."""
        self.hear()
        if self.permission.obstacle() is not None:
            raise NotReachableError(OFF)

    def hear(self, letter: Letter | None = None) -> bool:
        """Take note of a withdrawal by another process, and tell whether a letter is still in line."""

        def hear(connection: sqlite3.Connection | None) -> bool:
            if connection is None:
                return False
            self.permission.hear(withdrawals.latest(connection))
            return letter is None or outbox.is_in_line(connection, letter)

        return self.device.read(hear)

    def _try(self, letter: Letter, run: Round) -> None:
        """Send one letter, once, and note what became of it.

        Raises NotReachableError if it has to stay in line, and all others with it.
        """
        url, timeout = self.collector.url + letter.kind.path, self._timeout(run)
        request = Request(
            url,
            letter.body,
            letter.headers,
            timeout,
            self.collector.key,
            permit=lambda: self._permit(letter, run),
        )
        verdict = Verdict("waiting", "no_answer")
        try:
            verdict = letter.kind.judge(self.transport().send(request))
        finally:
            self._note(letter, verdict, run)
        if verdict.status == "waiting":
            run.pause = verdict.pause
            raise NotReachableError(answered(verdict.code))

    def _timeout(self, run: Round) -> float:
        return min(self.delivery.request_timeout, max(run.deadline - time.monotonic(), 0.1))

    def _note(self, letter: Letter, verdict: Verdict, run: Round) -> None:
        clock = self.clock()

        def work(connection: sqlite3.Connection) -> None:
            now = ledger.latest(connection, clock)
            if verdict.status == "waiting":
                outbox.keep(connection, letter, verdict.code, now=now)
            elif verdict.status == "postponed":
                outbox.postpone(connection, letter, verdict.code, now=now)
            else:
                outbox.settle(connection, letter, verdict.status, verdict.code)

        self.device.transact(work, create=False)
        run.sent += verdict.status == "sent"
        run.progress.sent += verdict.status == "sent"
        run.progress.refused += verdict.status == "refused"
        if verdict.status in ("postponed", "refused"):
            run.error = answered(verdict.code)
