"""This file takes batches in, and back."""

from typing import Any

import msgspec
from flask import Blueprint, Response, request

from hubbub.batch_json import Hex16
from hubbub.errors import RefusedError
from hubbub_server.api.reply import reply
from hubbub_server.collector import Collector
from hubbub_server.receiving.body import read_batch, read_json
from hubbub_server.receiving.room import Room

LARGEST = 1024  # bytes of a withdrawal


class WithdrawalDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A withdrawal as JSON."""

    id: Hex16


def routes(collector: Collector) -> Blueprint:
    """Return the routes for devices and gateways."""
    blueprint = Blueprint("collect", __name__)
    largest = collector.config.largest_inflated
    room = Room(2 * largest)

    @blueprint.post("/v1/batches")
    def receive() -> Response:
        key = collector.require("ingest")
        with room.opened() as cover:
            return reply(collector.receive(key, read_batch(request, largest=largest, cover=cover)))

    @blueprint.post("/v1/withdrawals")
    def withdraw() -> Response:
        collector.require("ingest")
        document = _withdrawal(read_json(request, largest=LARGEST))
        return reply(collector.intake.withdraw(bytes.fromhex(document.id)))

    return blueprint


def _withdrawal(data: Any) -> WithdrawalDocument:
    try:
        return msgspec.convert(data, WithdrawalDocument)
    except msgspec.ValidationError:
        raise RefusedError("malformed_json", 'a withdrawal is {"id": 32 digits in hex}') from None
