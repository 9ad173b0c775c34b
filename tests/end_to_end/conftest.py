"""This file starts a real collector for the end-to-end tests, and a wire tap before it."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.server.process import Served, serving

MANIFEST = """\
format = 1
app = "planted"
serial = 1

[metrics.seconds]
kind = "number"
range = [0, 10]
epsilon = "1.0"

[metrics.dark]
kind = "boolean"
epsilon = "1.0"
labels.side = ["no", "yes"]

[metrics.theme]
kind = "choice"
options = ["plain", "other"]
epsilon = "2.0"
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "metrics.toml"
    file.write_text(MANIFEST)
    return file


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "collector", MANIFEST) as running:
        yield running


@dataclass
class WireTap:
    """A TCP relay that keeps every byte in both directions."""

    target: str
    heard: bytearray = field(default_factory=bytearray)
    listener: socket.socket = field(default_factory=socket.socket)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    @property
    def bodies(self) -> list[bytes]:
        """The bodies of the requests, each connection being closed after one."""
        return [part.split(b"\r\n\r\n", 1)[1] for part in bytes(self.heard).split(b"POST ")[1:]]

    def run(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, socket.create_connection(_address(self.target)) as server:
                answer = threading.Thread(target=self._pump, args=(server, client, bytearray()))
                answer.start()
                self._pump(client, server, self.heard)
                answer.join()

    def _pump(self, source: socket.socket, sink: socket.socket, heard: bytearray) -> None:
        try:
            while data := source.recv(65536):
                heard += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@pytest.fixture
def tap(collector: Served) -> Iterator[WireTap]:
    wire_tap = WireTap(collector.url)
    wire_tap.listener.bind(("127.0.0.1", 0))
    wire_tap.listener.listen()
    thread = threading.Thread(target=wire_tap.run)
    thread.start()
    yield wire_tap
    wire_tap.listener.shutdown(socket.SHUT_RDWR)
    wire_tap.listener.close()
    thread.join()


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    return parts.hostname, parts.port
