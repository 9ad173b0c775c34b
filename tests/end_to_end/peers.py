"""This file plays what a device meets on the wire: a collector that says what it is told to, and a proxy."""

import contextlib
import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b'{"accepted": 1, "refused": []}'


@dataclass(frozen=True, slots=True)
class Heard:
    """One request; ``is_resumed`` tells whether its TLS session went on from an earlier one."""

    path: str
    headers: dict[str, str]
    body: bytes
    port: int
    is_resumed: bool


@dataclass(slots=True)
class Peer:
    """A server that keeps what it hears and says what it is told to.

    delay: seconds before each answer. failures: of connections that never came to a request.
    """

    port: int = 0
    status: int = 200
    delay: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    heard: list[Heard] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving(context: ssl.SSLContext | None = None) -> Iterator[Peer]:
    """Run a peer on this machine, over TLS if there is a context."""
    peer = Peer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # a client that wants to keep its connection may

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_resumed = isinstance(self.connection, ssl.SSLSocket) and bool(self.connection.session_reused)
            headers = dict(self.headers.items())
            peer.heard.append(Heard(self.path, headers, body, self.client_address[1], is_resumed))
            time.sleep(peer.delay)
            self.send_response(peer.status)
            for name, text in {**peer.headers, "Content-Length": str(len(BODY))}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(BODY)

        do_GET = do_POST  # noqa: N815 - the name that http.server calls; a followed redirect would arrive here

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 64

        def handle_error(self, *_: object) -> None:
            peer.failures.append("failed")

    server = Server(("127.0.0.1", 0), Handler)
    if context is not None:  # a handshake is for the handler's thread, not for the one that accepts
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    peer.port = server.server_port
    try:
        yield peer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(slots=True)
class Proxy:
    """A proxy that carries every tunnel to one port of this machine, and keeps what it sees.

    refusal: what it answers instead of carrying anything. asked: heads of requests. carried: all bytes.
    """

    target: int
    port: int = 0
    refusal: bytes = b""
    asked: list[bytes] = field(default_factory=list)
    carried: bytearray = field(default_factory=bytearray)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def proxying(target: int) -> Iterator[Proxy]:
    """Run a proxy on this machine."""
    proxy = Proxy(target)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            head = b"".join(iter(self.rfile.readline, b"\r\n"))
            proxy.asked.append(head)
            if proxy.refusal:
                self.wfile.write(proxy.refusal)
                return
            with socket.create_connection(("127.0.0.1", proxy.target)) as beyond:
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=self._pump, args=(beyond, self.connection))
                back.start()
                self._pump(self.connection, beyond)
                back.join()

        def _pump(self, source: socket.socket, sink: socket.socket) -> None:
            with contextlib.suppress(OSError):
                while data := source.recv(65536):
                    proxy.carried += data
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        proxy.port = server.server_address[1]
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def trickling(first: bytes, piece: bytes) -> Iterator[int]:
    """Answer each connection with a beginning, then a bit at a time until it is cut; give the port."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                self.request.sendall(first)
                while not is_over.wait(0.05):
                    self.request.sendall(piece)

    is_over = threading.Event()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            is_over.set()
            server.shutdown()
            thread.join()


@dataclass(slots=True)
class Hesitant:
    """A server that lets a connection in, and shakes hands once it is told to.

    met: whether a connection came. heard: what was said over it after the handshake.
    """

    port: int
    met: threading.Event = field(default_factory=threading.Event)
    told: threading.Event = field(default_factory=threading.Event)
    heard: bytes = b""


@contextmanager
def hesitating(context: ssl.SSLContext) -> Iterator[Hesitant]:
    """Run a hesitant server on this machine, for one connection; what it heard is whole when this ends."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        peer = Hesitant(listening.getsockname()[1])

        def meet() -> None:
            plain, _ = listening.accept()
            peer.met.set()
            peer.told.wait(20)
            with contextlib.suppress(OSError), context.wrap_socket(plain, server_side=True) as line:
                peer.heard = line.recv(65536)

        thread = threading.Thread(target=meet)
        thread.start()
        try:
            yield peer
        finally:
            peer.told.set()
            thread.join()


@contextmanager
def resetting() -> Iterator[int]:
    """Reset each connection as soon as a request begins to arrive; give the port."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1)
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.request.close()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def silent() -> Iterator[int]:
    """Let connections in and never answer; give the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]
