"""This file tells analysts what speaks for fake reports."""

from flask import Blueprint, Response

from hubbub_server.analysis.estimation import LONGEST
from hubbub_server.analysis.suspicion import suspicion
from hubbub_server.api.queries import SUSPICION, bad_queries, read_query
from hubbub_server.api.reply import tagged
from hubbub_server.collector import Collector


def routes(collector: Collector) -> Blueprint:
    """Return the route for suspicion."""
    blueprint = Blueprint("suspicion", __name__)

    @blueprint.get("/v1/suspicion")
    def get() -> Response:
        collector.require("analyst", "admin")
        asked = read_query(SUSPICION)
        with bad_queries():
            found = suspicion(
                collector.store.batches,
                collector.catalog,
                metric=asked.one("metric"),
                first=asked.one("from"),
                last=asked.one("to"),
                longest=LONGEST,
            )
        return tagged(found)

    return blueprint
