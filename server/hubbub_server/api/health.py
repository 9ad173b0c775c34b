"""This file tells that the collector is alive."""

from flask import Blueprint, Response

from hubbub_server.api.reply import reply
from hubbub_server.collector import Collector


def routes(_: Collector) -> Blueprint:
    """Return the route for health checks: no key is needed, and no disk touched."""
    blueprint = Blueprint("health", __name__)

    @blueprint.get("/healthz")
    def healthz() -> Response:
        return reply({"status": "ok"})

    return blueprint
