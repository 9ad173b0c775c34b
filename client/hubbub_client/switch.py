"""This file knows whether the device's owner has switched telemetry off: in the environment or by a file.

The environment is read first, and then no disk is touched.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLES = ("HUBBUB_OFF", "DO_NOT_TRACK")
FLAG = "_off"  # no app's name begins with _
_NO = ("", "0", "false", "no")


@dataclass(frozen=True, slots=True)
class Switch:
    """The owner's switch: variables of the environment, and directories that may hold the flag."""

    environ: Mapping[str, str]
    directories: Callable[[], Iterable[Path]]

    def reason(self) -> str:
        """Say why telemetry is off, or return "" if it is on."""
        for variable in VARIABLES:
            if self.environ.get(variable, "").lower() not in _NO:
                return f"{variable} is set"
        for directory in self.directories():
            if os.path.exists(directory / FLAG):  # noqa: PTH110 - False, too, for a home that may not be searched
                return f"the owner switched it off, as the file {directory / FLAG} says"
        return ""
