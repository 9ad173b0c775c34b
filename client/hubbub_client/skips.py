"""This file counts what was skipped and logs why, never with a value."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hubbub_client.outcome import Skipped

if TYPE_CHECKING:
    import logging


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
    _logger: "logging.Logger | None" = field(default=None, init=False, repr=False)

    def note(self, skip: Skipped) -> None:
        """Count a skip and log it: as a warning, once, where an app has forgotten to speak of consent.

        An app without logging of its own shows warnings to its users; who was asked must not see any. An app
        under development is warned, once for each, of every mistake in a call: a timer can't raise.
        """
        import logging  # noqa: PLC0415 - takes a while, and most records are not skipped

        self.counts[skip.code] = self.counts.get(skip.code, 0) + 1
        if skip.code == "storage":
            self.storage = skip.message
        is_news = skip.code == "consent" and self.counts[skip.code] == 1 and not self.is_consent_settled
        if self.is_strict and skip.code in ("unknown_metric", "value") and skip.message not in self._warned:
            self._warned.add(skip.message)
            is_news = True
        level = logging.WARNING if is_news else logging.DEBUG
        if self._logger is None:  # once: a handler of a signal that raises there leaves its lock held
            self._logger = logging.getLogger("hubbub_client")
        with suppress(Exception):  # an app's filters and handlers may raise, and record never does
            self._logger.log(level, "not recorded (%s): %s", skip.code, skip.message)
