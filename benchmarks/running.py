"""This file starts a collector in a process of its own, and writes the requests that it is sent."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load import Address, request
from benchmarks.questions import OPTIONS, batch, manifest
from benchmarks.rivals import ROOT
from hubbub.batch import BINARY
from hubbub_client.sending.envelope import pack


@dataclass(frozen=True, slots=True)
class Running:
    """A collector, where it listens, and a key of each kind."""

    process: "subprocess.Popen[str]"
    address: Address
    ingest: str
    analyst: str

    def singles(self, path: str, count: int) -> list[bytes]:
        """Return requests of one report each, packed as a device does."""
        headers = {
            "Content-Type": BINARY,
            "Content-Encoding": "gzip",
            "Authorization": f"Bearer {self.ingest}",
        }
        bodies = (pack(batch("single", b"\1")) for _ in range(count))
        return [request(self.address, "POST", path, headers, body) for body in bodies]

    def gateways(self, path: str, count: int, *, reports: int, metric: str = "many") -> list[bytes]:
        """Return requests of many reports each."""
        headers = {"Content-Type": BINARY, "Authorization": f"Bearer {self.ingest}"}
        data = bytes(itertools.islice(itertools.cycle(range(len(OPTIONS))), reports))
        bodies = (batch(metric, data) for _ in range(count))
        return [request(self.address, "POST", path, headers, body) for body in bodies]

    def queries(self, metric: str, count: int) -> list[bytes]:
        """Return requests for the estimates of a metric."""
        path = f"/v1/estimates?metric={manifest()[metric].id.hex()}"
        return [request(self.address, "GET", path, {"Authorization": f"Bearer {self.analyst}"})] * count

    def resident_mebibytes(self) -> float:
        """Return how much memory the process holds."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def scratch() -> Path:
    """Return a directory on the disk that this checkout is on; a temporary one may be in memory."""
    directory = ROOT / "build"
    directory.mkdir(exist_ok=True)
    return directory


@contextmanager
def running(how: str = "together") -> Iterator[Running]:
    """Run a collector on an empty database, on the disk that this checkout is on.

    how: "together", or "alone" for one commit a request.
    """
    with tempfile.TemporaryDirectory(dir=scratch(), prefix="collector-") as directory:
        command = [sys.executable, "-m", "benchmarks.collector", directory, how]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            facts = json.loads(process.stdout.readline())
            yield Running(process, tuple(facts["address"]), facts["ingest"], facts["analyst"])
        finally:
            process.terminate()
            process.communicate()
