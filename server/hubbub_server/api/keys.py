"""This file lets an admin list, add and revoke access keys."""

from typing import Annotated, Any, Literal

import msgspec
from flask import Blueprint, Response, request

from hubbub.errors import RefusedError
from hubbub_server.api.reply import reply
from hubbub_server.collector import Collector
from hubbub_server.keys import add_key, day_of
from hubbub_server.receiving.body import read_json

LARGEST = 4096  # bytes of a request for a key


class KeyDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key to be made, as JSON."""

    kind: Literal["ingest", "analyst", "admin"]
    note: Annotated[str, msgspec.Meta(max_length=200)] = ""


def routes(collector: Collector) -> Blueprint:
    """Return the routes for keys."""
    blueprint = Blueprint("keys", __name__)
    keys = collector.store.keys

    @blueprint.get("/v1/keys")
    def every() -> Response:
        collector.require("admin")
        listed = [
            {
                "number": key.number,
                "kind": key.kind,
                "note": key.note,
                "last_used": key.last_used,
                "revoked": key.revoked,
            }
            for key in keys.all()
        ]
        return reply({"keys": listed})

    @blueprint.post("/v1/keys")
    def add() -> Response:
        collector.require("admin")
        wanted = _wanted(read_json(request, largest=LARGEST))
        return reply({"key": add_key(keys, wanted.kind, note=wanted.note)}, status=201)

    @blueprint.delete("/v1/keys/<number>")
    def revoke(number: str) -> Response:
        collector.require("admin")
        if not keys.revoke(number, day_of(collector.clock())):
            raise RefusedError("not_found", "there is no key of this number in use")
        collector.ring.forget(number)
        return reply({"revoked": True})

    return blueprint


def _wanted(data: Any) -> KeyDocument:
    try:
        return msgspec.convert(data, KeyDocument)
    except msgspec.ValidationError:
        raise RefusedError("malformed_json", 'a key is asked for by {"kind": "ingest", "note": ""}') from None
