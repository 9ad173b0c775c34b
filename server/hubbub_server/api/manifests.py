"""This file publishes manifests, shows the one in force, and hands devices the one that its maker signed."""

from flask import Blueprint, Response, request

from hubbub.errors import ManifestError, RefusedError
from hubbub.manifest import Manifest
from hubbub.signed_manifest import LONGEST, SignedManifest
from hubbub_server.api.reply import reply, tagged
from hubbub_server.collector import Collector
from hubbub_server.publication import publish, publish_signed
from hubbub_server.receiving.body import read_bytes, read_json

TOML = "application/toml"  # content type


def routes(collector: Collector) -> Blueprint:
    """Return the routes that show manifests."""
    blueprint = Blueprint("manifests", __name__)
    manifests = collector.store.manifests

    @blueprint.get("/v1/manifests/<app>")
    def get(app: str) -> Response:
        collector.require("ingest", "analyst", "admin")
        latest = manifests.latest(app)
        if latest is None:
            raise RefusedError("not_found", "no manifest of this app is published here")
        return tagged(latest[1].encode())

    @blueprint.get("/v1/manifests/<app>/signed")
    def get_signed(app: str) -> Response:
        signed = manifests.signed(app)
        if signed is None:
            raise RefusedError("not_found", "no signed manifest of this app is published here")
        return tagged(signed)

    return blueprint


def operations(collector: Collector) -> Blueprint:
    """Return the routes that publish manifests."""
    blueprint = Blueprint("publication", __name__)
    manifests = collector.store.manifests

    @blueprint.put("/v1/manifests/<app>")
    def put(app: str) -> Response:
        collector.require("admin")
        largest = collector.config.largest_inflated
        if request.mimetype == TOML:
            manifest = Manifest.from_toml(_text(read_bytes(request, (TOML,), largest=largest)))
        else:
            manifest = Manifest.from_document(read_json(request, largest=largest))
        return reply(publish(manifests, _for(app, manifest)))

    @blueprint.put("/v1/manifests/<app>/signed")
    def put_signed(app: str) -> Response:
        collector.require("admin")
        data = read_bytes(request, largest=LONGEST)
        _for(app, SignedManifest.decode(data).manifest())
        return reply(publish_signed(manifests, data))

    return blueprint


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ManifestError("not UTF-8") from None


def _for(app: str, manifest: Manifest) -> Manifest:
    if manifest.app != app:
        raise ManifestError("the manifest is for another app than the path")
    return manifest
