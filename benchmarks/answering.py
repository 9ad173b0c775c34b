"""This file stands in for a collector, well or not, in a process of its own: it answers all requests alike.

    $ python -m benchmarks.answering 200
    40123

Two statuses are none: SILENT takes requests and never answers, DOWN does not even listen.
"""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks.rivals import ROOT

SILENT, DOWN = 0, 1
BODY = b'{"accepted": 1, "refused": []}'


class Handler(BaseHTTPRequestHandler):
    """Answers with the status that this process was started with."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status = int(sys.argv[1])
        if status == SILENT:
            threading.Event().wait()
        self.send_response(status)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def answering(status: int) -> Iterator[str]:
    """Run a stand-in and give its address."""
    command = [sys.executable, "-m", "benchmarks.answering", str(status)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        if status == DOWN:
            process.kill()
            process.wait()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()
