"""This file talks to a collector in bytes on a socket, and never waits for long."""

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.server.case import Case
from tests.server.process import Served

LONGEST = 20.0  # seconds for an answer


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: its head in small letters, and its body."""

    status: int
    head: bytes
    body: bytes

    @property
    def is_problem(self) -> bool:
        return b"\r\ncontent-type: application/problem+json\r\n" in self.head


def exchange(served: Served, *pieces: bytes, answers: int = 1, pause: float = 0.0) -> list[Answer]:
    """Send pieces on a connection of their own, and return that many answers, or fewer if it is closed.

    pause: seconds between pieces. Raises TimeoutError if nothing comes.
    """
    with socket.create_connection(("127.0.0.1", served.port), timeout=LONGEST) as connection:
        _send(connection, pieces, pause)
        found = []
        for answer in _answers(connection):
            found.append(answer)
            if len(found) == answers:
                break
        return found


def as_bytes(case: Case, keys: dict[str, str]) -> bytes:
    """Write a request as it travels."""
    headers = {"Host": "collector", "Content-Length": str(len(case.data))}
    headers |= {"Content-Type": case.form} if case.form is not None else {}
    headers |= {"Authorization": f"Bearer {keys[case.key]}"} if case.key else {}
    lines = "".join(f"{name}: {value}\r\n" for name, value in (headers | case.headers).items())
    return f"{case.method} {case.path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1") + case.data


def _send(connection: socket.socket, pieces: tuple[bytes, ...], pause: float) -> None:
    """Send until the other side has had enough: it may answer and close before the end."""
    try:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause)
    except (BrokenPipeError, ConnectionResetError):
        pass


def _answers(connection: socket.socket) -> Iterator[Answer]:
    received = b""
    while True:
        head, end, rest = received.partition(b"\r\n\r\n")
        if end:
            head = head.lower() + b"\r\n"
            status = int(head.split(b" ")[1])
            length = 0 if status < 200 or status == 304 else _length(head)
            if len(rest) >= length:
                yield Answer(status, head, rest[:length])
                received = rest[length:]
                continue
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:  # closed while bytes were still on their way to it
            return
        if not piece:
            return
        received += piece


def _length(head: bytes) -> int:
    return next(int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
