"""This file proves that a collector told to end says nothing twice, as if it answered the next batch."""

import socket
from pathlib import Path

from tests.server.process import altered, set_up

SIGNALLED_AS_IT_SENDS = """
import os, signal
from waitress.channel import HTTPChannel

def send(channel, data, do_close=True, true=HTTPChannel.send):
    number = true(channel, data, do_close)
    os.kill(os.getpid(), signal.SIGTERM)
    return number

HTTPChannel.send = send
"""


def test_an_answer_that_was_sent_when_the_signal_came_is_not_sent_again(tmp_path: Path) -> None:
    served = set_up(tmp_path)
    served.start(prefix=altered(SIGNALLED_AS_IT_SENDS))
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n")
        said = b"".join(iter(lambda: connection.recv(2**16), b""))

    served.process.communicate(timeout=30)

    assert said.count(b"HTTP/1.1 200 OK") == said.count(b'{"status":"ok"}') == 1
    assert served.process.returncode == 0
