"""This file lists what may stand in the query of each route for analysts, and reads it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flask import request

from hubbub.errors import DomainError, RefusedError
from hubbub_server.analysis.asking import VIEWS
from hubbub_server.analysis.formats import MEDIA
from hubbub_server.analysis.rows import ABOUTS
from hubbub_server.api.route import Query
from hubbub_server.exporting.writers import FORMATS


def _one_of(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def _like(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^({pattern})$"}


_SPAN = _like(r"[0-9]{1,10}|[0-9]{4}-[0-9]{2}-[0-9]{2}")
SUSPICION = (
    Query(
        "metric", "id or its start, name, app/name; a name stands for its newest version", is_required=True
    ),
    Query("from", "the first period, or a date on or before its start", _SPAN),
    Query("to", "the period after the last, or a date on or before its start", _SPAN),
)
_LABEL = Query("label", "name:value: the reports that count; of one label, any that is named", is_list=True)
REPORTS = (*SUSPICION, _LABEL, Query("format", "json if not given", _one_of(*FORMATS)))
ESTIMATES = (
    *SUSPICION,
    Query(
        "by",
        "one group for each period, for each combination of labels, or both",
        _one_of("period", "label", "period,label", "label,period"),
    ),
    _LABEL,
    Query("versions", "of the metric, answered together: all, or ids", is_list=True),
    Query("against", "tell what changed: since a period, a date in it, a span FROM/TO, or before, for each"),
    Query("view", "values changed to make sense together, beside the raw ones", _one_of(*VIEWS)),
    Query("top", "so many of the largest shares, with intervals that hold at once", _like("[1-9][0-9]{0,5}")),
    Query("any", "an option, or attribute = value: the share of those who hold any of these", is_list=True),
    Query("all", "attribute = value: the share of those of whom all these are true", is_list=True),
    Query("candidate", "a text to look for", is_list=True),
    Query("level", "of the intervals, from 0.5 to 0.9999", _like(r"0\.[5-9][0-9]{0,3}")),
    Query("about", "whom errors are about; both if not given", _one_of(*ABOUTS)),
    Query("format", "json if not given; of the others, a line is a row", _one_of(*MEDIA)),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The texts of a query, by name."""

    texts: Mapping[str, Sequence[str]]

    def one(self, name: str, default: str = "") -> str:
        """Return the text of a parameter that stands at most once."""
        return self.each(name)[0] if name in self.texts else default

    def each(self, name: str) -> Sequence[str]:
        """Return all texts of a parameter."""
        return self.texts.get(name, ())


@contextmanager
def bad_queries() -> Iterator[None]:
    """Refuse what is no question to answer."""
    try:
        yield
    except DomainError as error:
        raise RefusedError("bad_query", str(error)) from None


def read_query(known: Sequence[Query]) -> Asked:
    """Read the query of the current request.

    Raises RefusedError for a parameter that is unknown, missing or empty, not one of its words, or too often.
    """
    asked = request.args.to_dict(flat=False)
    once = [query.name for query in known if not query.is_list]
    unknown = set(asked) - {query.name for query in known}
    if unknown or any(len(asked.get(name, ())) > 1 for name in once):
        often = ", ".join(query.name for query in known if query.is_list)
        names = f"{', '.join(once)}, each once at most" + (f", and {often}" if often else "")
        wrong = "one is unknown; " if unknown else ""
        raise RefusedError("bad_query", f"{wrong}parameters are {names}")
    if any(asked.get(name) == [""] for name in once):
        raise RefusedError("bad_query", "leave a parameter out rather than empty")
    for query in known:
        if query.is_required and query.name not in asked:
            raise RefusedError("bad_query", f"name a {query.name}: ?{query.name}=")
        words = query.schema.get("enum")
        if words and not set(asked.get(query.name, ())) <= set(words):
            quoted = ", ".join(f'"{word}"' for word in words)
            raise RefusedError("bad_query", f"{query.name} must be one of {quoted}")
    return Asked(asked)
