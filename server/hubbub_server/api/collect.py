"""This file takes batches in, and back."""

from flask import Blueprint, Response, request

from hubbub_server.api.documents import WithdrawalDocument
from hubbub_server.api.reply import reply
from hubbub_server.collector import Collector
from hubbub_server.receiving.body import read_batch, read_document
from hubbub_server.receiving.room import Room

LARGEST = 1024  # bytes of a withdrawal
EXAMPLE = '{"id": "000102030405060708090a0b0c0d0e0f"}'


def routes(collector: Collector) -> Blueprint:
    """Return the routes for devices and gateways."""
    blueprint = Blueprint("collect", __name__)
    largest = collector.config.largest_inflated
    room = Room(2 * largest)

    @blueprint.post("/v1/batches")
    def receive() -> Response:
        key = collector.require("ingest")
        asked = request._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - looked up once
        with room.opened() as cover:
            return reply(collector.receive(key, read_batch(asked, largest=largest, cover=cover)))

    @blueprint.post("/v1/withdrawals")
    def withdraw() -> Response:
        collector.require("ingest")
        wanted = read_document(request, WithdrawalDocument, largest=LARGEST, example=EXAMPLE)
        return reply(collector.intake.withdraw(bytes.fromhex(wanted.id)))

    return blueprint
