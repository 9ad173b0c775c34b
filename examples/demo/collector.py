"""This file starts a real collector on loopback with an empty database, and stops it again."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

SERVER = (sys.executable, "-m", "hubbub_server")


@dataclass(frozen=True, slots=True)
class Collector:
    """A running collector. keys: one of each kind, by kind."""

    url: str
    keys: dict[str, str]
    database: Path

    def estimates_by_route(self, metric: str) -> dict[str, dict[str, Any]]:
        """Ask for a metric's estimate for each route, as an analyst does."""
        answer = requests.get(
            f"{self.url}/v1/estimates",
            params={"metric": metric, "by": "label"},
            headers={"Authorization": f"Bearer {self.keys['analyst']}"},
            timeout=30,
        )
        answer.raise_for_status()
        return {group["labels"]["route"]: group["answer"] for group in answer.json()["groups"]}


@contextmanager
def running_collector(folder: Path, manifest: Path) -> Iterator[Collector]:
    """Set a collector up in an empty folder, publish the manifest, serve until the block ends."""
    config = folder / "hubbub.toml"
    printed = _run("init", "--dir", str(folder))
    keys = {kind: secret for secret, kind in re.findall(r"(hb_(ingest|analyst|admin)_\S+)", printed)}
    _run("publish", "--config", str(config), str(manifest))
    serve = (*SERVER, "serve", "--config", str(config), "--port", "0", "--log-level", "warning")
    process = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    try:
        url = _listening(process)
        yield Collector(url, keys, next(folder.glob("*.sqlite3")))
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _run(*arguments: str) -> str:
    done = subprocess.run((*SERVER, *arguments), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"hubbub-server {arguments[0]} failed: {done.stderr}")
    return done.stdout


def _listening(process: "subprocess.Popen[str]") -> str:
    """Return the address that the collector prints once it listens."""
    line = process.stdout.readline() if process.stdout else ""
    if "http" not in line:
        raise SystemExit(f"the collector ended with status {process.wait(timeout=30)}")
    return line.split()[-1]
