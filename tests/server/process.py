"""This file runs a real ``hubbub-server serve`` on loopback, to be stopped, killed and started again."""

import http.client
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner

from hubbub_server.commands.cli import command
from tests.server.site import MANIFEST
from tests.server.waiting import wait_until

STARTED = re.compile(
    r'\burl"?[=:]\s*"?http://\S+?:(\d+)\b.*\boperations"?[=:]\s*"?http://\S+?:(\d+)/operations'
)
SERVER = (sys.executable, "-m", "hubbub_server")
_RUN = """
import runpy, sys
sys.argv = sys.argv[3:]  # without python -m
runpy.run_module("hubbub_server", run_name="__main__", alter_sys=True)
"""


@dataclass(slots=True)
class Served:
    """A collector's directory, its keys, the process while it runs, and its ports once it has run.

    settings: beside those of its file, by name. log: file for its stderr: two that start at once need two.
    """

    directory: Path
    keys: dict[str, str]
    port: int = 0
    settings: dict[str, str] = field(default_factory=dict)
    log: str = "stderr.txt"
    operations_port: int = 0
    process: "subprocess.Popen[str] | None" = None

    @property
    def database(self) -> Path:
        return self.directory / "hubbub.sqlite3"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def resident(self) -> int:
        """How many MiB of memory the process holds."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) // 1024

    def start(self, *, prefix: tuple[str, ...] = ()) -> None:
        """Return once connections are taken: on any free port at first, then on the same again.

        prefix: a command that runs the collector, such as a tracer.
        """
        arguments = (
            *prefix,
            *SERVER,
            "serve",
            "--config",
            str(self.directory / "hubbub.toml"),
            "--port",
            str(self.port),
        )
        log = self.directory / self.log
        with log.open("a") as errors:
            before = errors.tell()
            environment = os.environ | _environment(self.settings)
            self.process = subprocess.Popen(
                arguments, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
            )
        wait_until(lambda: self._is_settled(log.read_bytes()[before:]))
        started = STARTED.search(log.read_text()[before:])
        assert started, log.read_text()
        self.port, self.operations_port = int(started[1]), int(started[2])

    def _is_settled(self, said: bytes) -> bool:
        assert self.process is not None
        return bool(STARTED.search(said.decode())) or self.process.poll() is not None

    def kill(self) -> None:
        """End the process as a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def end(self) -> None:
        """Leave nothing running, whatever happened."""
        if self.process and self.process.returncode is None:
            self.kill()

    def stop(self) -> int:
        """End it as an operator does, and return its exit code."""
        assert self.process is not None
        self.process.terminate()
        self.process.communicate(timeout=30)
        return self.process.returncode

    def request(
        self, method: str, path: str, *, key: str = "ingest", body: bytes = b"", form: str = "", port: int = 0
    ) -> tuple[int, bytes]:
        """Send one request on a connection of its own, to any port, and return status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.keys[key]}"} | ({"Content-Type": form} if form else {})
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def altered(by: str) -> tuple[str, ...]:
    """Return what to start a collector with, so that some statements come before it."""
    return sys.executable, "-c", by + _RUN


def set_up(directory: Path, text: str = MANIFEST, **settings: str) -> Served:
    """Make a collector ready to start, with a manifest in force."""
    printed = run("init", "--dir", str(directory), **settings)
    keys = {kind: key for key, kind in re.findall(r"(hb_(ingest|analyst|admin)_\S+)", printed)}
    manifest = directory / "metrics.toml"
    manifest.write_text(text)
    run("publish", "--config", str(directory / "hubbub.toml"), str(manifest), **settings)
    return Served(directory, keys, settings=settings)


@contextmanager
def serving(directory: Path, text: str = MANIFEST, **settings: str) -> Iterator[Served]:
    """Run a new collector until the block ends."""
    served = set_up(directory, text, **settings)
    try:
        served.start()
        yield served
    finally:
        served.end()


def run(*arguments: str, **settings: str) -> str:
    """Run a command in this process and return what it printed."""
    done = CliRunner().invoke(command, arguments, env=_environment(settings))
    assert done.exit_code == 0, done.output
    return done.output


def _environment(settings: dict[str, str]) -> dict[str, str]:
    return {f"HUBBUB_SERVER_{name.upper()}": value for name, value in settings.items()}
