"""This file runs the proxy of the compose file here: nginx with our configuration, on loopback."""

import re
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx.conf"


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where it listens, and where it writes what it has to say."""

    port: int
    errors: Path


@contextmanager
def proxy(directory: Path, collectors: Sequence[int], *, patience: int = 10) -> Iterator[Proxy]:
    """Run nginx before collectors on these ports of loopback.

    patience: seconds that a slow device gets, in place of those of the configuration.
    """
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = int(free.getsockname()[1])
    text = CONFIGURATION.read_text()
    text = text.replace("/tmp/", f"{directory}/")  # noqa: S108 - of the container
    text = text.replace("listen 8080", f"listen 127.0.0.1:{port}")
    text = re.sub(r"_timeout 10s", f"_timeout {patience}s", text)
    for name, own in zip(("collector-a:8750", "collector-b:8750"), collectors, strict=True):
        text = text.replace(name, f"127.0.0.1:{own}")
    (directory / "nginx.conf").write_text(text)
    directory.chmod(0o755)
    errors = directory / "nginx.errors"
    arguments = [
        "nginx",
        "-p",
        str(directory),
        "-c",
        str(directory / "nginx.conf"),
        "-g",
        "daemon off; user root;",
    ]
    with errors.open("wb") as stream, subprocess.Popen(arguments, stderr=stream) as process:
        try:
            _wait_for(port)
            yield Proxy(port, errors)
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError("nginx did not start")
