"""This file runs a collector to measure, in a process of its own: the real app, and a route without work.

    $ python -m benchmarks.collector DIRECTORY [together|alone]
    {"address": ["127.0.0.1", 40123], "ingest": "hb_ingest_...", "analyst": "hb_analyst_..."}

With "alone", every request commits its own change, as a collector without one writer would.
"""

import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

from flask import Response

from benchmarks.questions import manifest
from hubbub_server import collector
from hubbub_server.api.reply import reply
from hubbub_server.app import create_app
from hubbub_server.config import Config
from hubbub_server.keys import add_key
from hubbub_server.publication import publish
from hubbub_server.serving import Served, serve
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.protocol import Batches
from hubbub_server.store.records import Change, Record


class EachAlone:
    """A writer's stand-in: the thread of a request commits, and waits for all others that do."""

    def __init__(self, batches: Batches, **_: object) -> None:
        self._batches = batches

    def submit(self, change: Change) -> Record:
        """Make one change durable."""
        return self._batches.commit([change])[0]


def run(directory: Path, *, alone: bool) -> None:
    """Serve until the process is ended; one line on stdout says where, and gives the keys."""
    config = Config(database=directory / "collector.sqlite3", port=0)
    store = open_sqlite(config.database)
    keys = {kind: add_key(store.keys, kind) for kind in ("ingest", "analyst")}
    publish(store.manifests, manifest())
    store.close()
    if alone:
        collector.Writer = EachAlone  # type: ignore[attr-defined, assignment]
    app = create_app(config)

    @app.post("/ignored")
    def ignore() -> Response:
        return reply({"accepted": 1, "refused": [], "reasons": {}})

    def ready(url: str, _: str) -> None:
        parts = urlsplit(url)
        print(json.dumps({"address": [parts.hostname, parts.port]} | keys), flush=True)

    devices = Served(app, config.host, config.port, config.threads, lambda *_: None)
    serve(devices, None, config, ready=ready, stopping=lambda: None)


if __name__ == "__main__":
    run(Path(sys.argv[1]), alone=sys.argv[2:] == ["alone"])
