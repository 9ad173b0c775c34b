"""This file starts the peers' processes, asks them for times, and finds the fastest at a task."""

import json
import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.pairs import duration

ROOT = Path(__file__).parent.parent
INTERPRETER = ROOT / ".venv-bench" / "bin" / "python"


class RivalError(Exception):
    """A peer is not installed, or crashed; the message is its own."""


@dataclass(slots=True)
class Rivals:
    """The peers, each in a process that is started when it is first needed.

    failures: what went wrong, by peer. versions: of the peers that answered.
    """

    versions: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    _workers: dict[str, "subprocess.Popen[str]"] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def seconds(self, peer: str, task: str, *, n: int, size: int, repeats: int = 1) -> float:
        """Return the least of a peer's times for one value of a task.

        Raises RivalError if the peer is not there, or fails.
        """
        if peer not in self._workers and peer not in self.failures:
            self._start(peer)
        if peer in self.failures:
            raise RivalError(f"{peer}: {self.failures[peer]}")
        answer = self._ask(peer, {"task": task, "n": n, "size": size, "repeats": repeats})
        seconds: list[float] = answer["seconds"]
        return min(seconds) / n

    def fastest(self, task: str, peers: tuple[str, ...], *, n: int, size: int) -> tuple[str, list[str]]:
        """Return the peer that is fastest at a task, and a note on every peer that was tried.

        Raises RivalError if none can do it.
        """
        times, notes = {}, []
        for peer in peers:
            try:
                times[peer] = self.seconds(peer, task, n=n, size=size, repeats=3)
                notes.append(f"{peer} {duration(times[peer])}")
            except RivalError as error:
                notes.append(f"not measured: {error}")
        if not times:
            raise RivalError("; ".join(notes))
        return min(times, key=times.__getitem__), notes

    def _start(self, peer: str) -> None:
        try:
            worker = subprocess.Popen(
                [INTERPRETER, "-m", "benchmarks.peers.worker", peer],
                cwd=ROOT, env=os.environ | {"PYTHONWARNINGS": "ignore"}, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            self.failures[peer] = f"no environment for peers ({error.strerror}): make .venv-bench/installed"
            return
        self._stack.callback(_stop, worker)
        self._workers[peer] = worker
        try:
            self.versions[peer] = _read(worker)["version"]
        except RivalError as error:
            self.failures[peer] = str(error)

    def _ask(self, peer: str, request: dict[str, Any]) -> dict[str, Any]:
        worker = self._workers[peer]
        assert worker.stdin is not None
        try:
            print(json.dumps(request), file=worker.stdin, flush=True)
            return _read(worker)
        except OSError as error:
            raise RivalError(f"{peer}: its process is gone ({error.strerror})") from None


def _read(worker: "subprocess.Popen[str]") -> dict[str, Any]:
    assert worker.stdout is not None
    line = worker.stdout.readline()
    if not line:
        raise RivalError(f"its process ended with {worker.wait()}")
    answer: dict[str, Any] = json.loads(line)
    if "error" in answer:
        raise RivalError(answer["error"])
    return answer


def _stop(worker: "subprocess.Popen[str]") -> None:
    worker.kill()
    worker.communicate()
