"""This file answers analysts."""

import re

from flask import Blueprint, Response

from hubbub.errors import RefusedError
from hubbub_server.analysis.estimation import estimate
from hubbub_server.analysis.formats import FORMATS, MEDIA
from hubbub_server.analysis.rows import ABOUTS
from hubbub_server.api.queries import ESTIMATES, bad_queries, read_query
from hubbub_server.api.reply import tagged
from hubbub_server.collector import Collector


def routes(collector: Collector) -> Blueprint:
    """Return the route for estimates."""
    blueprint = Blueprint("estimates", __name__)

    @blueprint.get("/v1/estimates")
    def get() -> Response:
        collector.require("analyst", "admin")
        asked = read_query(ESTIMATES)
        about = next((about for about in ABOUTS if about == asked.one("about")), None)
        with bad_queries():
            answers = estimate(
                collector.store.batches,
                collector.catalog,
                metric=asked.one("metric"),
                first=asked.one("from"),
                last=asked.one("to"),
                by=asked.one("by"),
                labels=asked.each("label"),
                versions=asked.each("versions"),
                against=asked.one("against"),
                view=asked.one("view", "raw"),
                top=_top(asked.one("top")),
                any_of=asked.each("any"),
                all_of=asked.each("all"),
                candidates=asked.each("candidate"),
                level=_level(asked.one("level", "0.95")),
            )
        form = asked.one("format", "json")
        if form == "json":
            return tagged(answers.document(about))
        return tagged(FORMATS[form](answers, about).encode(), media=MEDIA[form])

    return blueprint


def _top(text: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise RefusedError("bad_query", "top must be a whole number like 10")
    return int(text)


def _level(text: str) -> float:
    if not re.fullmatch(r"0\.[0-9]{1,6}", text):
        example = f"0.{text.rstrip('%')}" if re.fullmatch("[5-9][0-9]%?", text) else "0.95"
        raise RefusedError("bad_query", f"level must be from 0.5 to 0.9999; write {example}")
    return float(text)
