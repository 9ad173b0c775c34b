"""This file holds the owner's consent by metric: unknown until the app has asked, given, or refused."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from hubbub.errors import DomainError, StorageError
from hubbub_client.newest import Newest
from hubbub_client.outcome import Skipped
from hubbub_client.switch import Switch

State = Literal["unknown", "given", "refused"]
Moment = tuple[float, float]  # by two clocks: of Unix time, and one that nobody sets


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

    def but(self, state: State, metrics: Collection[str]) -> "Consents":
        """Return these, with another word about some metrics, or with "" among them about every one."""
        if "" in metrics:
            return Consents(state)
        return Consents(self.overall, {**self.since, **dict.fromkeys(metrics, state)})

    def are_known(self, metric: str) -> bool:
        """Tell whether the owner was heard about a metric, or with "" about any."""
        said = (self.about(metric),) if metric else (self.overall, *self.since.values())
        return any(state != "unknown" for state in said)

    @property
    def is_given(self) -> bool:
        """Whether anything at all may be recorded."""
        return "given" in (self.overall, *self.since.values())


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the owner's will.

    interruptions: how often permission was found missing, by metric; under "" that to every metric. A look at
    the environment leaves no trace on a disk, so what was found is all that is known. unheard: when consent
    was given to each metric, or with "" to every one, since this process last heard of withdrawals.
    withdrawal: the number of the last one on this device, and its time in milliseconds.
    """

    consents: Consents
    interruptions: Mapping[str, int] = field(default_factory=dict)
    unheard: Mapping[str, Moment] = field(default_factory=dict)
    withdrawal: tuple[int, int] = (0, 0)

    def interrupted(self, metrics: Iterable[str]) -> "_Known":
        """Return this after one more interruption of each metric."""
        counts = {metric: self.interruptions.get(metric, 0) + 1 for metric in metrics}
        return replace(self, interruptions={**self.interruptions, **counts})

    def decided(self, state: State, about: tuple[str, ...]) -> "_Known":
        """Return this after a word that is no consent, about some metrics or, with ("",), about every one."""
        lost = [metric for metric in about if state == "refused" or self.consents.are_known(metric)]
        return replace(self, consents=self.consents.but(state, about)).interrupted(lost)

    def given(self, about: tuple[str, ...], said: Moment, before: tuple[int, int]) -> "_Known":
        """Return this after consent, unless another withdrawal than the one before came later, and first."""
        if self.withdrawal != before and not _is_later(said, self.withdrawal, said):
            return self
        unheard = {**self.unheard, **dict.fromkeys(about, said)}
        return replace(self, consents=self.consents.but("given", about), unheard=unheard)

    def heard(self, withdrawal: tuple[int, int], now: Moment) -> "_Known":
        """Return this after a look at the last withdrawal: only what was agreed to later still holds."""
        known = replace(self, withdrawal=withdrawal, unheard={})
        later = [metric for metric, said in self.unheard.items() if _is_later(said, withdrawal, now)]
        if withdrawal[0] == self.withdrawal[0] or "" in later or not self.consents.is_given:
            return known
        agreed = [metric for metric in later if self.consents.about(metric) == "given"]
        return replace(known, consents=Consents("refused").but("given", agreed)).interrupted([""])


class Permission:
    """Whether the owner lets a metric be recorded and sent, and how often it was found that not.

    Any thread may ask and decide. clock: Unix time. steady: seconds of a clock that nobody sets.
    """

    def __init__(
        self,
        switch: Switch,
        consents: Consents,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.switch, self._clock, self._steady = switch, clock, steady
        self._known = Newest(_Known(consents))

    @property
    def consents(self) -> Consents:
        """What the owner decided."""
        return self._known.value.consents

    @property
    def interruptions(self) -> Mapping[str, int]:
        """How often permission was found missing, by metric; under "" that to every metric."""
        return self._known.value.interruptions

    def obstacle(self, metric: str = "") -> Skipped | None:
        """Say why nothing may be recorded or sent now, about a metric or about any, or return None.

        What it finds is an interruption, since a report or silence is lost by it.
        """
        found = self.look(metric)
        if found is not None:
            lost = metric if found.code == "consent" and self.consents.is_given else ""
            self._known.change(lambda known: known.interrupted([lost]))
        return found

    def look(self, metric: str = "") -> Skipped | None:
        """Say the same where nothing is lost by it."""
        reason = self.switch.reason()
        if reason:
            return Skipped("off", reason)
        consents = self.consents
        if consents.about(metric) == "given" if metric else consents.is_given:
            return None
        return Skipped("consent", _missing(consents.about(metric)))

    def agrees(self, metric: str) -> bool:
        """Tell whether the owner consents to a metric; the switch is not looked at."""
        return self.consents.about(metric) == "given"

    def decide(self, state: State, metrics: Iterable[str] | None = None) -> None:
        """Take a new state of consent: of every metric, whatever was said before, or of some.

        "unknown" about what nothing was said about is no news: many apps begin with it at each start.

        Raises DomainError for a word that is no state.
        """
        about = ("",) if metrics is None else tuple(metrics)
        if check_state(state) == "given":
            before, said = self._known.value.withdrawal, self._now()
            self._known.change(lambda known: known.given(about, said, before))
        else:
            self._known.change(lambda known: known.decided(state, about))

    def hear(self, withdrawal: tuple[int, int]) -> None:
        """Take note of the last withdrawal on this device: what was agreed to before it holds no more.

        The last of which this process knew tells what is news by its number. What was agreed to since then,
        without a look at the device, holds if that was after it, by the clock.

        withdrawal: its number, and its time in milliseconds by the clock; 0 and 0 if there was none.
        """
        known = self._known.value
        if known.unheard or withdrawal[0] != known.withdrawal[0]:
            now = self._now()
            self._known.change(lambda known: known.heard(withdrawal, now))

    def _now(self) -> Moment:
        """Return this moment; if the clock fails, one before every withdrawal."""
        try:
            return self._clock(), self._steady()
        except StorageError:
            return 0.0, 0.0

    def take_over(self, other: "Permission") -> None:
        """Begin with the consents of another."""
        self._known.change(lambda known: replace(known, consents=other.consents))


def check_state(state: State) -> State:
    """Return a state of consent.

    Raises DomainError for any other word.
    """
    if state not in get_args(State):
        raise DomainError('consent must be "unknown", "given" or "refused"')
    return state


def _is_later(said: Moment, withdrawal: tuple[int, int], now: Moment) -> bool:
    """Tell whether something was said after a withdrawal, by a clock that may have been set back since."""
    return withdrawal[1] < int(1000 * min(said[0], now[0] - (now[1] - said[1])))


def _missing(state: State) -> str:
    """Say why nothing is recorded, with the line to write."""
    if state == "refused":
        return "consent was refused, so nothing is recorded or sent"
    return (
        "nothing is recorded or sent before consent; once the user agreed, and at every start from then on, "
        'call client.consent("given")'
    )
