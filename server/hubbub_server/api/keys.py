"""This file lets an admin list, add, rotate and revoke access keys."""

from typing import Annotated, Literal, TypeVar

import msgspec
from flask import Blueprint, Response, request

from hubbub.errors import RefusedError
from hubbub_server.api.reply import reply
from hubbub_server.collector import Collector
from hubbub_server.keys import LONGEST_ROTATION, ROTATION, add_key, day_of, rotate_key
from hubbub_server.receiving.body import read_json

LARGEST = 4096  # bytes of a request for a key


class KeyDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key to be made, as JSON."""

    kind: Literal["ingest", "analyst", "admin"]
    note: Annotated[str, msgspec.Meta(max_length=200)] = ""


class RotationDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """In how many days from today a key that gets a successor is out of use, as JSON."""

    days: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_ROTATION)] = ROTATION


Wanted = TypeVar("Wanted", KeyDocument, RotationDocument)


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
                "expires": key.expires,
            }
            for key in keys.all()
        ]
        return reply({"keys": listed})

    @blueprint.post("/v1/keys")
    def add() -> Response:
        collector.require("admin")
        wanted = _read(KeyDocument, '{"kind": "ingest", "note": ""}')
        return reply({"key": add_key(keys, wanted.kind, note=wanted.note)}, status=201)

    @blueprint.post("/v1/keys/<number>/rotation")
    def rotate(number: str) -> Response:
        collector.require("admin")
        wanted = _read(RotationDocument, '{"days": 30}')
        key, expires = rotate_key(keys, number, days=wanted.days, now=collector.clock())
        collector.ring.forget(number)
        return reply({"key": key, "expires": expires}, status=201)

    @blueprint.delete("/v1/keys/<number>")
    def revoke(number: str) -> Response:
        collector.require("admin")
        if not keys.revoke(number, day_of(collector.clock())):
            raise RefusedError("not_found", "there is no key of this number in use")
        collector.ring.forget(number)
        return reply({"revoked": True})

    return blueprint


def _read(kind: type[Wanted], example: str) -> Wanted:
    try:
        return msgspec.convert(read_json(request, largest=LARGEST), kind)
    except msgspec.ValidationError:
        raise RefusedError("malformed_json", f"this is asked for by a body such as {example}") from None
