"""This file sends requests over many connections from one thread, and says how long each answer took.

Every connection sends its next request as soon as it has the answer to the last, so the server is never idle,
and the sender costs it as little of the machine as Python can.
"""

import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Load:
    """What a load of requests came to.

    seconds: from the first request to the last answer. latencies: of each answer, in seconds, sorted.
    """

    seconds: float
    latencies: list[float]

    @property
    def p99(self) -> float:
        """The time within which 99 in 100 answers came."""
        return self.latencies[len(self.latencies) * 99 // 100]


def request(address: Address, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """Return the bytes of a request."""
    fields = {"Host": f"{address[0]}:{address[1]}", "Content-Length": str(len(body))} | headers
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode("ascii") + body


def drive(address: Address, requests: Sequence[bytes], *, connections: int) -> Load:
    """Send all requests and wait for all answers.

    Raises RuntimeError if one is answered by anything but success.
    """
    waiting, latencies = iter(requests), list[float]()
    start = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for _ in range(min(connections, len(requests))):
            line = _Line(socket.create_connection(address, timeout=60))
            selector.register(line.socket, selectors.EVENT_READ, line)
            line.send_next(waiting)
        while selector.get_map():
            for key, _ in selector.select():
                if not key.data.receive():
                    continue
                latencies.append(time.perf_counter() - key.data.sent_at)
                if not key.data.send_next(waiting):
                    selector.unregister(key.fileobj)
                    key.data.socket.close()
    return Load(time.perf_counter() - start, sorted(latencies))


@dataclass(slots=True)
class _Line:
    """One connection, and as much of its answer as has come."""

    socket: socket.socket
    sent_at: float = 0.0
    _received: bytes = field(default=b"")

    def send_next(self, waiting: Iterator[bytes]) -> bool:
        request = next(waiting, None)
        if request is not None:
            self.sent_at = time.perf_counter()
            self.socket.sendall(request)
        return request is not None

    def receive(self) -> bool:
        """Read what is there, and tell whether the answer is whole."""
        piece = self.socket.recv(65536)
        self._received += piece
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not piece:
            raise RuntimeError(f"the server hung up after {self._received[:200]!r}")
        if not found:
            return False
        length = next(
            int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
        )
        if len(body) < length:
            return False
        if not head.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"a request was refused: {self._received[:500]!r}")
        self._received = b""
        return True
