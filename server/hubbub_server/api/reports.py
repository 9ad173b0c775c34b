"""This file hands out noisy reports to analysts, a part at a time."""

from collections.abc import Iterator
from itertools import chain, islice
from threading import BoundedSemaphore

from flask import Blueprint, Response, request

from hubbub.errors import DomainError, RefusedError
from hubbub_server.collector import Collector
from hubbub_server.exporting.cells import export
from hubbub_server.exporting.writers import FORMATS

PARAMETERS = ("metric", "from", "to", "label", "format")
MOST_AT_ONCE = 4  # exports of a process, each of which holds a thread until all is read


def routes(collector: Collector) -> Blueprint:
    """Return the route for reports."""
    blueprint = Blueprint("reports", __name__)
    places = BoundedSemaphore(MOST_AT_ONCE)

    @blueprint.get("/v1/reports")
    def get() -> Response:
        collector.require("analyst", "admin")
        asked = {name: request.args.getlist(name) for name in request.args}
        once = [name for name in asked if name != "label"]
        if not set(asked) <= set(PARAMETERS) or any(len(asked[name]) > 1 for name in once):
            raise RefusedError(
                "bad_query", f"parameters are {', '.join(PARAMETERS)}; only label may come twice"
            )
        if "metric" not in asked:
            raise RefusedError("bad_query", "name a metric: ?metric=")
        form = request.args.get("format", "json")
        if form not in FORMATS:
            raise RefusedError("bad_query", f"format must be one of {', '.join(FORMATS)}")
        try:
            found = export(
                collector.store.batches,
                collector.catalog,
                metric=request.args["metric"],
                first=request.args.get("from", ""),
                last=request.args.get("to", ""),
                labels=request.args.getlist("label"),
            )
        except DomainError as error:
            raise RefusedError("bad_query", str(error)) from None
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
    return chain(list(islice(parts, 2)), parts)
