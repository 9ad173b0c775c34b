"""This file tells whether the collector is alive."""

from flask import Blueprint, Response

from hubbub_server.api.reply import reply
from hubbub_server.collector import Collector


def routes(collector: Collector) -> Blueprint:
    """Return the route for health checks: no key needed, nothing told but that the database can be read."""
    blueprint = Blueprint("health", __name__)

    @blueprint.get("/healthz")
    def healthz() -> Response:
        collector.store.keys.find("")
        return reply({"status": "ok"})

    return blueprint
