"""This file stands between a collector and its PostgreSQL, and can lose the answer to a COMMIT."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

SOCKET = ".s.PGSQL.5432"


@dataclass(slots=True)
class Relay:
    """A socket before that of a server. losing: how many answers to a COMMIT are still to be lost."""

    directory: Path
    server: Path
    losing: int = 0
    lost: int = 0
    listener: socket.socket = field(default_factory=lambda: socket.socket(socket.AF_UNIX))

    def run(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self.server / SOCKET))
            threading.Thread(target=self._forth, args=(client, server), daemon=True).start()
            threading.Thread(target=self._back, args=(server, client), daemon=True).start()

    def _forth(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if b"COMMIT" in data and self.losing:
                    self.losing, self.lost = self.losing - 1, self.lost + 1
                    client.shutdown(socket.SHUT_RDWR)
                server.sendall(data)
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
        for end in (client, server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def relay(directory: Path, server: Path) -> Iterator[Relay]:
    """Run a relay in a directory."""
    made = Relay(directory, server)
    made.listener.bind(str(directory / SOCKET))
    made.listener.listen()
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.listener.shutdown(socket.SHUT_RDWR)
        made.listener.close()
        thread.join()
