"""This file says what a fault is: a change to our own source text."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROMISES = "statistical/test_promises.py"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault to plant.

    what: in words. file: from the root of the repository, in shared/, client/ or server/. changes: texts that
    stand there once, and what takes their places. tests: the file in tests/ that must catch it. only: what
    pytest's -k selects there, by default all.
    """

    what: str
    file: str
    changes: tuple[tuple[str, str], ...]
    tests: str
    only: str = ""

    @property
    def wing(self) -> str:
        """The folder of the repository that the fault is in."""
        return self.file.partition("/")[0]

    def plant(self, source: str) -> str:
        """Return the source with the fault in it.

        Raises ValueError if a text does not stand there exactly once.
        """
        for old, new in self.changes:
            if source.count(old) != 1:
                raise ValueError(f"{self.what}: {self.file} has {source.count(old)} times: {old}")
            source = source.replace(old, new)
        return source
