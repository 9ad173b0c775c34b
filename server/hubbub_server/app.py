"""This file wires the collector into a Flask app that any WSGI server can run."""

import time
from collections.abc import Callable

from flask import Flask

from hubbub_server.api import collect, estimates, health, keys, manifests, metrics, openapi
from hubbub_server.collector import open_collector
from hubbub_server.config import Config
from hubbub_server.problems import answer_with_problems


def create_app(config: Config, *, clock: Callable[[], float] = time.time) -> Flask:
    """Return the app; the database is created or upgraded on the way.

    Raises StorageError.
    """
    collector = open_collector(config, clock=clock)
    app = Flask("hubbub_server", static_folder=None)
    app.url_map.merge_slashes = False  # no redirects
    app.config["MAX_CONTENT_LENGTH"] = config.largest_body
    app.extensions["hubbub"] = collector
    answer_with_problems(app)
    for part in (collect, manifests, metrics, estimates, keys, health, openapi):
        app.register_blueprint(part.routes(collector))
    return app
