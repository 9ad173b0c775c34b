"""This file tells analysts what speaks for fake reports."""

from flask import Blueprint, Response, request

from hubbub.errors import DomainError, RefusedError
from hubbub_server.analysis.estimation import LONGEST
from hubbub_server.analysis.suspicion import suspicion
from hubbub_server.api.reply import tagged
from hubbub_server.collector import Collector

PARAMETERS = ("metric", "from", "to")


def routes(collector: Collector) -> Blueprint:
    """Return the route for suspicion."""
    blueprint = Blueprint("suspicion", __name__)

    @blueprint.get("/v1/suspicion")
    def get() -> Response:
        collector.require("analyst", "admin")
        asked = request.args.to_dict(flat=False)
        if not {"metric"} <= set(asked) <= set(PARAMETERS) or any(len(texts) > 1 for texts in asked.values()):
            raise RefusedError("bad_query", f"parameters are {', '.join(PARAMETERS)}, each once at most")
        try:
            found = suspicion(
                collector.store.batches,
                collector.catalog,
                metric=request.args["metric"],
                first=request.args.get("from", ""),
                last=request.args.get("to", ""),
                longest=LONGEST,
            )
        except DomainError as error:
            raise RefusedError("bad_query", str(error)) from None
        return tagged(found.document())

    return blueprint
