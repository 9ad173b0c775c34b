"""This file writes to an app's log, where the app's own classes, filters and handlers may raise anything."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hubbub_client.interruption import bare

if TYPE_CHECKING:
    import logging


@dataclass(frozen=True, slots=True)
class Log:
    """A logger's name; the logger is made at first need, and once.

    A handler of a signal that raises while it is made leaves the lock of ``logging`` held.
    """

    name: str
    _made: "list[logging.Logger]" = field(default_factory=list, init=False, repr=False)

    def say(self, text: str, *told: object, is_warning: bool = False) -> None:
        """Write a line for who looks for it, or as a warning for everyone."""
        try:
            import logging  # noqa: PLC0415 - takes a while, and most records say nothing

            if not self._made:
                self._made.append(logging.getLogger(self.name))
            self._made[0].log(logging.WARNING if is_warning else logging.DEBUG, text, *told)
        except Exception as error:
            bare(error)  # the app may keep it, and it must not keep what is being recorded
