"""This file lets an admin list, add, rotate and revoke access keys."""

from typing import Annotated, Literal

import msgspec
from flask import Blueprint, Response, request

from hubbub.errors import RefusedError
from hubbub_server.api.documents import (
    KeysDocument,
    ListedKeyDocument,
    NewKeyDocument,
    RevokedDocument,
    RotatedDocument,
)
from hubbub_server.api.reply import reply
from hubbub_server.collector import Collector
from hubbub_server.keys import LONGEST_ROTATION, ROTATION, add_key, day_of, number_of, rotate_key
from hubbub_server.receiving.body import read_document

LARGEST = 4096  # bytes of a request for a key


class KeyDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key to be made, as JSON."""

    kind: Literal["ingest", "analyst", "admin"]
    note: Annotated[str, msgspec.Meta(max_length=200)] = ""


class RotationDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """In how many days from today a key that gets a successor is out of use, as JSON."""

    days: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_ROTATION)] = ROTATION


def routes(collector: Collector) -> Blueprint:
    """Return the routes for keys."""
    blueprint = Blueprint("keys", __name__)
    keys = collector.store.keys

    @blueprint.get("/v1/keys")
    def every() -> Response:
        collector.require("admin")
        listed = [
            ListedKeyDocument(key.number, key.kind, key.note, key.last_used, key.revoked, key.expires)
            for key in keys.all()
        ]
        return reply(KeysDocument(listed))

    @blueprint.post("/v1/keys")
    def add() -> Response:
        collector.require("admin")
        wanted = read_document(
            request, KeyDocument, largest=LARGEST, example='{"kind": "ingest", "note": ""}'
        )
        key = add_key(keys, wanted.kind, note=wanted.note)
        return reply(NewKeyDocument(key, number_of(key)), status=201)

    @blueprint.post("/v1/keys/<number>/rotation")
    def rotate(number: str) -> Response:
        collector.require("admin")
        example = f'{{"days": {ROTATION}}}, with 0 to {LONGEST_ROTATION} days'
        wanted = read_document(request, RotationDocument, largest=LARGEST, example=example)
        key, expires = rotate_key(keys, number, days=wanted.days, now=collector.clock())
        collector.ring.forget(number)
        return reply(RotatedDocument(key, number_of(key), expires), status=201)

    @blueprint.delete("/v1/keys/<number>")
    def revoke(number: str) -> Response:
        collector.require("admin")
        if not keys.revoke(number, day_of(collector.clock())):
            raise RefusedError("not_found", "there is no key of this number in use")
        collector.ring.forget(number)
        return reply(RevokedDocument(revoked=True))

    return blueprint
