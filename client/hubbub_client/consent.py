"""This file holds the owner's consent as the app states it: unknown until asked, given, or refused."""

from dataclasses import dataclass
from typing import Literal, get_args

from hubbub.errors import DomainError
from hubbub_client.outcome import Skipped
from hubbub_client.switch import Switch

State = Literal["unknown", "given", "refused"]


@dataclass(slots=True)
class Permission:
    """Whether the owner lets anything be recorded and sent, and how often it was found that not.

    A look at the environment leaves no trace on a disk, so what was found is all that is known.
    """

    switch: Switch
    state: State
    interruptions: int = 0

    def obstacle(self) -> Skipped | None:
        """Say why nothing may be recorded or sent now, or return None."""
        reason = self.switch.reason()
        found = Skipped("off", reason) if reason else None
        if found is None and self.state != "given":
            found = Skipped("consent", _missing(self.state))
        if found is not None:
            self.interruptions += 1
        return found

    def decide(self, state: State) -> None:
        """Take a new state of consent.

        Raises DomainError for a word that is no state.
        """
        self.state = check_state(state)
        if state != "given":
            self.interruptions += 1


def check_state(state: State) -> State:
    """Return a state of consent.

    Raises DomainError for any other word.
    """
    if state not in get_args(State):
        raise DomainError('consent must be "unknown", "given" or "refused"')
    return state


def _missing(state: State) -> str:
    """Say why nothing is recorded, with the line to write."""
    if state == "refused":
        return "consent was refused, so nothing is recorded or sent"
    return 'nothing is recorded or sent before consent; once the user agreed, call client.consent("given")'
