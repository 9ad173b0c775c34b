"""This file wires the collector into Flask apps that any WSGI server can run."""

import time
from collections.abc import Callable

from flask import Blueprint, Flask, Response, g, request

from hubbub.errors import RefusedError
from hubbub_server.api import (
    collect,
    estimates,
    health,
    keys,
    manifests,
    metrics,
    openapi,
    operations,
    reports,
    suspicion,
)
from hubbub_server.collector import Collector, open_collector
from hubbub_server.config import Config
from hubbub_server.headers import let_in, with_headers
from hubbub_server.problems import answer_with_problems

PREFIX = "/operations"  # of what operators ask, so that a proxy can keep it to itself
METHODS = {"DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"}

Routes = Callable[[Collector], Blueprint]
_OPEN: tuple[Routes, ...] = (
    collect.routes,
    manifests.routes,
    metrics.routes,
    estimates.routes,
    reports.routes,
    suspicion.routes,
    openapi.routes,
)
_OPERATIONS: tuple[Routes, ...] = (operations.routes, manifests.operations, keys.routes)


def create_app(config: Config, *, clock: Callable[[], float] = time.time) -> Flask:
    """Return the app; the database is created or upgraded on the way.

    It has the operators' routes unless these are to have a port of their own.

    Raises StorageError.
    """
    collector = open_collector(config, clock=clock)
    app = _app(collector, _OPEN, _OPERATIONS if config.operations_port is None else ())
    if config.cors_origins:
        let_in(app, config.cors_origins)
    return app


def create_operations_app(collector: Collector) -> Flask:
    """Return an app that has the operators' routes only, for a port of their own."""
    return _app(collector, (), _OPERATIONS)


def _app(collector: Collector, routes: tuple[Routes, ...], below_prefix: tuple[Routes, ...]) -> Flask:
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False  # no redirects
    app.config["MAX_CONTENT_LENGTH"] = collector.config.largest_body
    app.extensions["hubbub"] = collector
    answer_with_problems(app)
    for part in (*routes, health.routes):
        app.register_blueprint(part(collector))
    for part in below_prefix:
        app.register_blueprint(part(collector), url_prefix=PREFIX)
    app.wsgi_app = with_headers(app.wsgi_app)  # type: ignore[assignment, method-assign]

    @app.before_request
    def refuse_names_of_nothing() -> None:
        if "\0" in request.path:  # for which PostgreSQL fails
            raise RefusedError("not_found", "no name holds a NUL")
        if any("\0" in value for values in request.args.listvalues() for value in values):
            raise RefusedError("bad_query", "no name holds a NUL")

    @app.after_request
    def count(response: Response) -> Response:
        asked, status = request._get_current_object(), response.status_code  # type: ignore[attr-defined]  # noqa: SLF001 - looked up once
        collector.stats.request(
            asked.url_rule.rule if asked.url_rule else "none",
            asked.method if asked.method in METHODS else "other",
            status,
            g.get("problem", "") if status >= 400 else "",
        )
        return response

    return app
