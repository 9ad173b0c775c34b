"""This file hands out noisy reports to analysts, a part at a time."""

import logging
from collections.abc import Iterator
from itertools import chain, islice
from threading import BoundedSemaphore

from flask import Blueprint, Response

from hubbub.errors import RefusedError
from hubbub_server.api.queries import REPORTS, bad_queries, read_query
from hubbub_server.collector import Collector
from hubbub_server.exporting.cells import export
from hubbub_server.exporting.writers import FORMATS
from hubbub_server.logs import tell, trail

MOST_AT_ONCE = 4  # exports of a process, each of which holds a thread until all is read


def routes(collector: Collector) -> Blueprint:
    """Return the route for reports."""
    blueprint = Blueprint("reports", __name__)
    places = BoundedSemaphore(MOST_AT_ONCE)

    @blueprint.get("/v1/reports")
    def get() -> Response:
        collector.require("analyst", "admin")
        asked = read_query(REPORTS)
        form = asked.one("format", "json")
        with bad_queries():
            found = export(
                collector.store.batches,
                collector.catalog,
                metric=asked.one("metric"),
                first=asked.one("from"),
                last=asked.one("to"),
                labels=asked.each("label"),
            )
        if not places.acquire(blocking=False):
            raise RefusedError("overloaded", f"{MOST_AT_ONCE} exports are on their way already")
        try:
            parts = _begun(FORMATS[form].write(found))
        except BaseException:
            places.release()
            raise
        response = Response(parts, content_type=FORMATS[form].media)
        response.call_on_close(places.release)
        name = f"{found.question.metric.name}.{form}"
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    return blueprint


def _begun(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Make a heading and a first part: what fails there is a problem, and no answer that ends early."""
    return chain(list(islice(parts, 2)), _told(parts))


def _told(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Say in the log why an answer ends early, since its reader can't be told any more."""
    try:
        yield from parts
    except Exception as error:
        tell("an export broke off", level=logging.ERROR, fault=trail(error))
        raise
