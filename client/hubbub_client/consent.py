"""This file holds the owner's consent as the app states it: unknown until asked, given, or refused."""

from typing import Literal, get_args

from hubbub.errors import DomainError

State = Literal["unknown", "given", "refused"]


def check_state(state: State) -> State:
    """Return a state of consent.

    Raises DomainError for any other word.
    """
    if state not in get_args(State):
        raise DomainError('consent must be "unknown", "given" or "refused"')
    return state


def missing(state: State) -> str:
    """Say why nothing is recorded, with the line to write, or return "" if consent was given."""
    if state == "given":
        return ""
    if state == "refused":
        return "consent was refused, so nothing is recorded or sent"
    return 'nothing is recorded or sent before consent; once the user agreed, call client.consent("given")'
