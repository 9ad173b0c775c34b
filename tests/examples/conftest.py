"""This file gives the examples a home of their own, and a real collector on loopback that can be asked."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.server.process import Served, run, set_up

EXAMPLES = Path(__file__).parents[2] / "examples"
NOBODY = "http://127.0.0.1:9"  # a collector that is down


@dataclass(frozen=True, slots=True)
class Asked:
    """A running collector and the analyst's command on its machine."""

    served: Served

    @property
    def url(self) -> str:
        return self.served.url

    @property
    def key(self) -> str:
        return self.served.keys["ingest"]

    def count(self, metric: str) -> object:
        """Return over how many reports ``hubbub-server estimate`` estimates a metric, of all periods."""
        config = str(self.served.directory / "hubbub.toml")
        (group,) = json.loads(run("estimate", metric, "--config", config, "--format", "json"))["groups"]
        return group["answer"]["n"]


@dataclass(frozen=True, slots=True)
class Home:
    """A user's home directory, and an environment in which nothing of another home is seen."""

    directory: Path

    @property
    def files(self) -> list[str]:
        every = self.directory.rglob("*")
        return sorted(str(path.relative_to(self.directory)) for path in every if path.is_file())

    def environment(self, **more: str) -> dict[str, str]:
        foreign = ("XDG_", "HUBBUB_", "DO_NOT_TRACK", "PYTEST_")
        clean = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
        return {**clean, "HOME": str(self.directory), "PYTHONWARNINGS": "error", **more}

    def run(
        self, script: Path, *arguments: str, days: float = 0, settings: Mapping[str, str], text: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program to its end as if so many days had passed."""
        return subprocess.run(
            [*program(script, days=days), *arguments],
            env=self.environment(**settings),
            cwd=self.directory,
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def program(script: Path, *, days: float = 0) -> list[str]:
    """Return the command that runs a program, with its clock ahead by so many days."""
    if not days:
        return [sys.executable, str(script)]
    return [sys.executable, str(Path(__file__).with_name("later.py")), str(days), str(script)]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    directory = tmp_path / "home"
    directory.mkdir()
    return Home(directory)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[Path], Asked]]:
    """Start a collector with a manifest in force."""
    with ExitStack() as stack:

        def start(manifest: Path) -> Asked:
            served = set_up(tmp_path / "collector", manifest.read_text())
            stack.callback(served.end)
            served.start()
            return Asked(served)

        yield start
