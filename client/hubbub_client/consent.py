"""This file holds the owner's consent by metric: unknown until the app has asked, given, or refused."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from hubbub.errors import DomainError
from hubbub_client.outcome import Skipped
from hubbub_client.switch import Switch

State = Literal["unknown", "given", "refused"]


@dataclass(frozen=True, slots=True)
class Consents:
    """What the owner decided: about every metric, and about single ones since then.

    >>> Consents("refused").but("given", ["dark"]).about("dark")
    'given'
    """

    overall: State
    since: Mapping[str, State] = field(default_factory=dict)

    def about(self, metric: str) -> State:
        """Return what holds for a metric: the last word about it."""
        return self.since.get(metric, self.overall)

    def but(self, state: State, metrics: Iterable[str]) -> "Consents":
        """Return these, with another word about some metrics."""
        return Consents(self.overall, {**self.since, **dict.fromkeys(metrics, state)})

    def are_known(self, metric: str) -> bool:
        """Tell whether the owner was heard about a metric, or with "" about any."""
        said = (self.about(metric),) if metric else (self.overall, *self.since.values())
        return any(state != "unknown" for state in said)

    @property
    def is_given(self) -> bool:
        """Whether anything at all may be recorded."""
        return "given" in (self.overall, *self.since.values())


@dataclass(slots=True)
class Permission:
    """Whether the owner lets a metric be recorded and sent, and how often it was found that not.

    clock: Unix time. steady: seconds of a clock that nobody sets. interruptions: by metric; under "" those of
    every metric. A look at the environment leaves no trace on a disk, so what was found is all that is known.
    _unheard: when consent was given, by both clocks, to each metric or with "" to every one, since this
    process last heard of withdrawals.
    """

    switch: Switch
    consents: Consents
    clock: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    interruptions: dict[str, int] = field(default_factory=dict)
    _unheard: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    _withdrawal: int = 0  # the last one on this device that is known

    def obstacle(self, metric: str = "") -> Skipped | None:
        """Say why nothing may be recorded or sent now, about a metric or about any, or return None.

        What it finds is an interruption, since a report or silence is lost by it.
        """
        found = self.look(metric)
        if found is not None:
            self._interrupt(metric if found.code == "consent" and self.consents.is_given else "")
        return found

    def look(self, metric: str = "") -> Skipped | None:
        """Say the same where nothing is lost by it."""
        reason = self.switch.reason()
        if reason:
            return Skipped("off", reason)
        if self.consents.about(metric) == "given" if metric else self.consents.is_given:
            return None
        return Skipped("consent", _missing(self.consents.about(metric)))

    def agrees(self, metric: str) -> bool:
        """Tell whether the owner consents to a metric; the switch is not looked at."""
        return self.consents.about(metric) == "given"

    def decide(self, state: State, metrics: Iterable[str] | None = None) -> None:
        """Take a new state of consent: of every metric, whatever was said before, or of some.

        "unknown" about what nothing was said about is no news: many apps begin with it at each start.

        Raises DomainError for a word that is no state.
        """
        before, about = self.consents, ("",) if metrics is None else tuple(metrics)
        if check_state(state) == "given":
            self._unheard = {**self._unheard, **dict.fromkeys(about, (self.clock(), self.steady()))}
        self.consents = Consents(state) if metrics is None else self.consents.but(state, about)
        if state != "given":
            for metric in about:
                if state == "refused" or before.are_known(metric):
                    self._interrupt(metric)

    def hear(self, withdrawal: tuple[int, int]) -> None:
        """Take note of the last withdrawal on this device: what was agreed to before it holds no more.

        The last of which this process knew tells what is news by its number. What was agreed to since then,
        without a look at the device, holds if that was after it, by the clock.

        withdrawal: its number, and its time in milliseconds by the clock; 0 and 0 if there was none.
        """
        number, at = withdrawal
        if number != self._withdrawal and self.consents.is_given:
            later = [metric for metric, said in self._unheard.items() if at < int(1000 * self._when(*said))]
            if "" not in later:
                self.consents = Consents("refused").but("given", filter(self.agrees, later))
                self._interrupt("")
        self._withdrawal, self._unheard = number, {}

    def _when(self, at: float, steady: float) -> float:
        """Return when something was said, by a clock that may have been set back since then."""
        return min(at, self.clock() - (self.steady() - steady))

    def _interrupt(self, metric: str) -> None:
        self.interruptions[metric] = self.interruptions.get(metric, 0) + 1


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
    return (
        "nothing is recorded or sent before consent; once the user agreed, and at every start from then on, "
        'call client.consent("given")'
    )
