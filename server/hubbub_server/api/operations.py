"""This file tells operators whether the collector can take batches, and what it has done."""

from flask import Blueprint, Response

from hubbub.errors import RefusedError
from hubbub_server.api.reply import reply
from hubbub_server.collector import Collector
from hubbub_server.stats import TEXT


def routes(collector: Collector) -> Blueprint:
    """Return the routes for operations that are about no manifest and no key."""
    blueprint = Blueprint("operations", __name__)

    @blueprint.get("/readyz")
    def readyz() -> Response:
        fault = collector.readiness.fault()
        if fault:
            raise RefusedError("not_ready", fault)
        return reply({"status": "ready"})

    @blueprint.get("/stats")
    def stats() -> Response:
        collector.require("analyst", "admin")
        return Response(collector.stats.text(), content_type=TEXT)

    return blueprint
