"""This file says what an accuracy task is: an error of ours over another's, and how large it may be."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a task found.

    ratio: our error over the other, or an upper bound of that. limit: the most that it may be.
    details: in words, for people.
    """

    ratio: float
    limit: float
    details: str

    @property
    def is_met(self) -> bool:
        """Whether the ratio is within its limit."""
        return self.ratio <= self.limit


@dataclass(frozen=True, slots=True)
class Task:
    """A comparison, by name.

    run: raises NotMeasuredError if something it needs is not there.
    """

    name: str
    run: Callable[[], Outcome]


def rows_of(file: str) -> list[dict[str, Any]]:
    """Return the rows of a table of reference values beside this file."""
    document = json.loads((HERE / file).read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = document["rows"]
    return rows
