"""This file runs the apps on waitress: no access log, errors of HTTP as problem documents, a clean end.

waitress buffers whole requests before a thread is taken, so slow clients cost no thread.
"""

import gc
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

from flask import Flask
from waitress.server import create_server
from waitress.wasyncore import close_all, loop

from hubbub.errors import ConfigError
from hubbub_server.config import Config
from hubbub_server.logs import tell
from hubbub_server.parsing import ProblemChannel
from hubbub_server.receiving.room import Room

LONGEST_HEAD = 2**16  # bytes of a request before its body
MOST_AT_ONCE = 16  # of the largest bodies, on their way
SMALL_ON_WAY = 2**16  # bytes of a body that each connection may hold in memory
UNSENT = 2**20  # bytes of an answer that wait for who reads slowly; then what makes the rest waits, too
FILES = 256  # that are open beside a socket, and a large body's file, for each connection
LONGEST_WORK = 35.0  # seconds after a signal for requests in work: more than a batch waits for the disk
LONGEST_SENDING = 5.0  # seconds for answers that are on their way then


@dataclass(frozen=True, slots=True)
class Served:
    """An app and where it is served. refused: told status and code of what is turned away before the app."""

    app: Flask
    host: str
    port: int
    threads: int
    refused: Callable[[int, str], None]


def serve(
    devices: Served,
    operations: Served | None,
    config: Config,
    *,
    ready: Callable[[str, str], None],
    stopping: Callable[[], None],
) -> None:
    """Serve until SIGTERM or SIGINT; requests that have a thread by then are still answered.

    operations: served from threads of its own, until all that is done. ready: called with both URLs once
    connections are taken. stopping: called before the first is refused.

    Raises ConfigError if an address can't be listened on.
    """
    _allow_files(2 * config.connections + FILES)
    for name in ("waitress", "waitress.queue"):  # their messages name paths and connections
        logging.getLogger(name).setLevel(logging.CRITICAL)
    server, apart = _open(devices, config), _open(operations, config) if operations else None

    asked = threading.Event()

    def stop(signum: int, _: FrameType | None) -> None:
        signal.signal(signum, signal.SIG_DFL)  # a second one ends at once
        stopping()
        asked.set()  # and nothing is raised: what was sent, but not yet noted as sent, would be sent again
        server.trigger.pull_trigger()

    with closing(server), _beside(apart):
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, stop)
        ready(_url(server), _url(apart) if apart else "")
        gc.freeze()  # what is here by now stays, and need not be looked at by every collection
        while not asked.is_set():
            loop(timeout=1, use_poll=True, map=server._map, count=1)  # noqa: SLF001 - as its own run does
        server.del_channel()
        server.socket.close()  # so that a proxy asks another collector instead
        server.task_dispatcher.shutdown(timeout=LONGEST_WORK)
        _send_what_is_left(server)


@contextmanager
def _beside(server: Any) -> Iterator[None]:
    """Run a server, if there is one, in a thread of its own."""
    if server is None:
        yield
        return
    thread = threading.Thread(target=server.run, name="hubbub-operations", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.trigger.pull_trigger(partial(close_all, server._map, ignore_all=True))  # noqa: SLF001 - which ends its loop
        thread.join(timeout=5)


def _open(served: Served, config: Config) -> Any:
    """Listen, and return waitress's server; a connection waits until the server runs."""
    server: Any = create_server(
        served.app,
        sockets=[_listen(served.host, served.port)],
        threads=served.threads,
        connection_limit=config.connections,
        max_request_header_size=LONGEST_HEAD,
        max_request_body_size=config.largest_body + 1,  # the least that is too large
        inbuf_overflow=SMALL_ON_WAY,
        outbuf_high_watermark=UNSENT,
        backlog=1024,
        recv_bytes=2**16,  # a batch of 10,000 reports in one piece
        send_bytes=2**16,  # small answers are sent whole by the main thread, so no other waits for a socket
        channel_timeout=60,
        asyncore_use_poll=True,
        ident=None,
        clear_untrusted_proxy_headers=True,
    )
    server.channel_class, server.refused = ProblemChannel, served.refused
    server.room = Room(MOST_AT_ONCE * config.largest_body, small=SMALL_ON_WAY)
    return server


def _allow_files(number: int) -> None:
    """Let this process have so many files open at once, as far as it may."""
    try:
        import resource  # noqa: PLC0415 - which not every system has
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if most < number:
        words = "fewer files may be open than connections could need; raise the limit, or lower connections"
        tell(words, level=logging.WARNING, files=most, needed=number)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _send_what_is_left(server: Any) -> None:
    end = time.monotonic() + LONGEST_SENDING
    while any(channel.total_outbufs_len for channel in server.active_channels.values()):
        loop(timeout=0.1, use_poll=True, map=server._map, count=1)  # noqa: SLF001 - as its own run does
        if time.monotonic() > end:
            break


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise ConfigError(f"can't listen on {host} port {port}: {reason}") from None


def _url(server: Any) -> str:
    host, port = server.socket.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
