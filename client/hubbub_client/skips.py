"""This file counts what was skipped and logs why, never with a value."""

from dataclasses import dataclass, field

from hubbub_client.logs import Log
from hubbub_client.outcome import Skipped


@dataclass(slots=True)
class Skips:
    """Counts by code since a client was made.

    is_consent_settled: whether the app ever said what the owner decided, or that it doesn't know yet.
    is_strict: whether the app is under development. storage: why the device's files last kept something from
    being recorded, or "".
    """

    is_consent_settled: bool
    is_strict: bool = False
    storage: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    _warned: set[str] = field(default_factory=set, init=False)
    _log: Log = field(default_factory=lambda: Log("hubbub_client"), init=False, repr=False)

    def note(self, skip: Skipped) -> None:
        """Count a skip and log it: as a warning, once, where an app has forgotten to speak of consent.

        An app without logging of its own shows warnings to its users; who was asked must not see any. An app
        under development is warned, once for each, of every mistake in a call: a timer can't raise.
        """
        self.counts[skip.code] = self.counts.get(skip.code, 0) + 1
        if skip.code == "storage":
            self.storage = skip.message
        is_news = skip.code == "consent" and self.counts[skip.code] == 1 and not self.is_consent_settled
        if self.is_strict and skip.code in ("unknown_metric", "value") and skip.message not in self._warned:
            self._warned.add(skip.message)
            is_news = True
        self._log.say("not recorded (%s): %s", skip.code, skip.message, is_warning=is_news)
