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

from examples.demo.collector import SERVER, Collector, running_collector

EXAMPLES = Path(__file__).parents[2] / "examples"
NOBODY = "http://127.0.0.1:9"  # a collector that is down


@dataclass(frozen=True, slots=True)
class Asked:
    """A running collector and the analyst's command on its machine."""

    collector: Collector

    @property
    def environment(self) -> dict[str, str]:
        return {"COLLECTOR": self.collector.url, "KEY": self.collector.keys["ingest"]}

    def estimate(self, metric: str) -> dict[str, object]:
        """Return what ``hubbub-server estimate`` answers about a metric, over all labels and periods."""
        config = self.collector.database.parent / "hubbub.toml"
        command = [*SERVER, "estimate", metric, "--config", str(config), "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        (group,) = json.loads(done.stdout)["groups"]
        answer: dict[str, object] = group["answer"]
        return answer

    def count(self, metric: str) -> object:
        return self.estimate(metric)["n"]


@dataclass(frozen=True, slots=True)
class Home:
    """A user's home directory, and an environment in which nothing of another home is seen."""

    directory: Path

    @property
    def files(self) -> list[str]:
        return sorted(
            str(path.relative_to(self.directory)) for path in self.directory.rglob("*") if path.is_file()
        )

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
    """Start a collector that publishes a manifest."""
    with ExitStack() as stack:

        def start(manifest: Path) -> Asked:
            return Asked(stack.enter_context(running_collector(tmp_path / "collector", manifest)))

        yield start
