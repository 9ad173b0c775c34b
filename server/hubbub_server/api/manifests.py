"""This file publishes manifests and shows the one in force."""

from flask import Blueprint, Response, request

from hubbub.errors import ManifestError, RefusedError
from hubbub.manifest import Manifest
from hubbub_server.api.reply import reply
from hubbub_server.body import read_json
from hubbub_server.collector import Collector
from hubbub_server.publication import publish


def routes(collector: Collector) -> Blueprint:
    """Return the routes for manifests."""
    blueprint = Blueprint("manifests", __name__)
    manifests = collector.store.manifests

    @blueprint.put("/v1/manifests/<app>")
    def put(app: str) -> Response:
        collector.require("admin")
        document = read_json(request, largest=collector.config.largest_inflated)
        manifest = Manifest.from_document(document)
        if manifest.app != app:
            raise ManifestError("the manifest is for another app than the path")
        published = publish(manifests, manifest)
        return reply({"app": published.app, "serial": published.serial, "changes": published.changes})

    @blueprint.get("/v1/manifests/<app>")
    def get(app: str) -> Response:
        collector.require("ingest", "analyst", "admin")
        latest = manifests.latest(app)
        if latest is None:
            raise RefusedError("not_found", "no manifest of this app is published here")
        return reply(latest[1].encode())

    return blueprint
