"""This file runs the app on waitress: no access log, errors of HTTP itself as problem documents, a clean end.

waitress buffers whole requests before a thread is taken, so slow clients cost no thread.
"""

import logging
import os
import signal
import socket
from collections.abc import Callable
from http import HTTPStatus
from types import FrameType
from typing import Any, NoReturn

from flask import Flask
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import create_server
from waitress.task import ErrorTask

from hubbub.errors import ConfigError
from hubbub_server.config import Config
from hubbub_server.problems import PROBLEM, PROBLEMS, code_of_status, document


class ProblemTask(ErrorTask):  # type: ignore[misc]  # waitress carries no types
    """Answer what waitress refuses by itself; a class of its own because waitress asks for one."""

    def execute(self) -> None:
        """Write a problem document; waitress's own text could repeat what was sent."""
        code = code_of_status(self.request.error.code)
        body = document(code)
        self.status = f"{PROBLEMS[code].status} {HTTPStatus(PROBLEMS[code].status).phrase}"
        self.response_headers.append(("Content-Type", PROBLEM))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class StrictParser(HTTPRequestParser):  # type: ignore[misc]  # waitress carries no types
    """Refuse what waitress takes too lightly; a class of its own because waitress asks for one."""

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head of a request; a refusal closes the connection.

        Raises ParsingError.
        """
        try:
            super().parse_header(header_plus)
        except ValueError:  # of a target or a length that Python can't read
            raise ParsingError("the head of the request can't be read") from None
        two_lengths = self.chunked and "CONTENT_LENGTH" in self.headers
        if two_lengths or "TRANSFER_ENCODING" in self.headers:  # which is left there in HTTP/1.0 only
            raise ParsingError("where the request ends is told in two ways")


class ProblemChannel(HTTPChannel):  # type: ignore[misc]  # waitress carries no types
    """A connection whose errors are problem documents."""

    error_task_class = ProblemTask
    parser_class = StrictParser


def serve(app: Flask, config: Config, *, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; requests that have a thread by then are still answered.

    ready: called with the URL once connections are taken.

    Raises ConfigError if the address can't be listened on.
    """
    listener = _listen(config.host, config.port)
    for name in ("waitress", "waitress.queue"):  # their messages name paths and connections
        logging.getLogger(name).setLevel(logging.CRITICAL)
    server: Any = create_server(
        app,
        sockets=[listener],
        threads=config.threads,
        connection_limit=config.connections,
        max_request_body_size=config.largest_body,
        backlog=1024,
        send_bytes=2**16,  # small answers are sent whole by the main thread, so no other waits for a socket
        channel_timeout=60,
        asyncore_use_poll=True,
        ident=None,
        clear_untrusted_proxy_headers=True,
    )
    server.channel_class = ProblemChannel
    signal.signal(signal.SIGTERM, _stop)
    host, port = listener.getsockname()[:2]
    ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    try:
        server.run()  # until a signal; then waitress waits for its threads, and sends nothing more
        for channel in list(server.active_channels.values()):
            channel.handle_write()
    finally:
        server.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise ConfigError(f"can't listen on {host} port {port}: {reason}") from None


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)
