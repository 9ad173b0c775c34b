"""This file answers analysts."""

import re

from flask import Blueprint, Response, request

from hubbub.errors import DomainError, RefusedError
from hubbub_server.analysis.estimation import estimate
from hubbub_server.analysis.rows import ABOUTS
from hubbub_server.api.reply import tagged
from hubbub_server.collector import Collector

_OF_REPORTS = ("metric", "from", "to", "by", "label", "versions", "against")
_OF_ROWS = ("view", "top", "any", "all", "candidate", "level", "about")
PARAMETERS = (*_OF_REPORTS, *_OF_ROWS)
_REPEATED = ("label", "versions", "any", "all", "candidate")
_ONCE = tuple(name for name in PARAMETERS if name not in _REPEATED)


def routes(collector: Collector) -> Blueprint:
    """Return the route for estimates."""
    blueprint = Blueprint("estimates", __name__)

    @blueprint.get("/v1/estimates")
    def get() -> Response:
        collector.require("analyst", "admin")
        asked = _query()
        about = asked.pop("about", None)
        if about not in (None, *ABOUTS):
            raise RefusedError("bad_query", "about must be population or respondents")
        try:
            answers = estimate(
                collector.store.batches,
                collector.catalog,
                metric=asked["metric"],
                first=asked.get("from", ""),
                last=asked.get("to", ""),
                by=asked.get("by", ""),
                labels=request.args.getlist("label"),
                versions=request.args.getlist("versions"),
                against=asked.get("against", ""),
                view=asked.get("view", "raw"),
                top=_top(asked.get("top")),
                any_of=request.args.getlist("any"),
                all_of=request.args.getlist("all"),
                candidates=request.args.getlist("candidate"),
                level=_level(asked.get("level", "0.95")),
            )
        except DomainError as error:
            raise RefusedError("bad_query", str(error)) from None
        return tagged(answers.document(about))

    return blueprint


def _query() -> dict[str, str]:
    asked = request.args.to_dict(flat=False)
    if "metric" not in asked:
        raise RefusedError("bad_query", "name a metric: ?metric=")
    if not set(asked) <= set(PARAMETERS) or any(len(asked[name]) > 1 for name in _ONCE if name in asked):
        once, often = ", ".join(_ONCE), ", ".join(_REPEATED)
        raise RefusedError("bad_query", f"parameters are {once}, each once at most, and {often}")
    given = {name: asked[name][0] for name in _ONCE if name in asked}
    if "" in given.values():
        raise RefusedError("bad_query", "leave a parameter out rather than empty")
    return given


def _top(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise RefusedError("bad_query", "top must be a whole number like 10")
    return int(text)


def _level(text: str) -> float:
    if not re.fullmatch(r"0\.[0-9]{1,6}", text):
        example = f"0.{text.rstrip('%')}" if re.fullmatch("[5-9][0-9]%?", text) else "0.95"
        raise RefusedError("bad_query", f"level must be from 0.5 to 0.9999; write {example}")
    return float(text)
