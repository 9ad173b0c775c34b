"""This file describes the routes to programs, as OpenAPI 3.1."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import msgspec
from flask import Blueprint, Response

from hubbub_server.api.documents import ProblemDocument
from hubbub_server.api.reply import tagged
from hubbub_server.api.route import Query, Route
from hubbub_server.api.table import TABLE
from hubbub_server.collector import Collector
from hubbub_server.problems import PROBLEM, PROBLEMS

_TEXT = {"type": "string"}
_KNOWN_TAG = {
    "name": "If-None-Match",
    "in": "header",
    "description": "the ETag of an answer that is known",
    "schema": _TEXT,
}
_HEADERS = {
    401: {"WWW-Authenticate": "how to send a key"},
    405: {"Allow": "the methods that there are"},
    429: {"Retry-After": "seconds to wait"},
    503: {"Retry-After": "seconds to wait"},
    507: {"Retry-After": "seconds to wait"},
}


def routes(_: Collector) -> Blueprint:
    """Return the route for the description: public, and the same for everybody."""
    blueprint = Blueprint("openapi", __name__)

    @blueprint.get("/v1/openapi.json")
    def get() -> Response:
        return tagged(description())

    return blueprint


@cache
def description() -> bytes:
    """Return the document as JSON."""
    bodies = (body for route in TABLE for body in (*route.takes.values(), *route.gives.values()))
    types = [kind for kind in dict.fromkeys((*bodies, ProblemDocument)) if kind is not bytes]
    schemas, parts = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    known = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in TABLE:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, known)
    refusals = {"-".join(codes): codes for route in TABLE for codes in _by_status(route).values()}
    info = {
        "title": "hubbub collector",
        "version": version("hubbub"),
        "description": "What bytes mean that are no JSON, and what clients must do, is in docs/protocol.md.",
        "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    }
    key = {"type": "http", "scheme": "bearer", "description": "hb_ingest_, hb_analyst_ or hb_admin_ ..."}
    components = {
        "schemas": parts,
        "responses": {name: _refusal(codes, known[ProblemDocument]) for name, codes in refusals.items()},
        "securitySchemes": {"key": key},
    }
    return msgspec.json.encode({"openapi": "3.1.0", "info": info, "paths": paths, "components": components})


def _operation(route: Route, known: Mapping[Any, Any]) -> dict[str, Any]:
    words = re.findall(r"[a-z]{3,}", route.path.removesuffix(".json"))
    names = re.findall(r"\{(\w+)\}", route.path)
    tag = [_KNOWN_TAG] if route.has_tag else []
    operation: dict[str, Any] = {
        "operationId": "_".join((route.method.lower(), *words)),
        "summary": route.about,
        "security": [{"key": [kind]} for kind in route.who],
        "parameters": [*map(_of_path, names), *map(_of_query, route.query), *tag],
        "responses": _answers(route, known),
    }
    if route.takes:
        about = {"description": "As it is, or packed by gzip with Content-Encoding.", "required": True}
        operation["requestBody"] = about | {"content": _content(route.takes, known)}
    return operation


def _answers(route: Route, known: Mapping[Any, Any]) -> dict[str, Any]:
    done: dict[str, Any] = {"description": "Done.", "content": _content(route.gives, known)}
    answers = {str(route.status): done}
    if route.has_tag:
        done["headers"] = {"ETag": {"description": "the hash of the answer", "schema": _TEXT}}
        answers["304"] = {"description": "It is what is known already."}
    for status, codes in sorted(_by_status(route).items()):
        answers[str(status)] = {"$ref": f"#/components/responses/{'-'.join(codes)}"}
    return answers


def _content(bodies: Mapping[str, Any], known: Mapping[Any, Any]) -> dict[str, Any]:
    return {media: {} if kind is bytes else {"schema": known[kind]} for media, kind in bodies.items()}


def _of_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _of_query(query: Query) -> dict[str, Any]:
    schema = {"type": "array", "items": query.schema} if query.is_list else query.schema
    about = {"name": query.name, "in": "query", "description": query.about}
    return about | {"required": query.is_required, "schema": schema}


def _by_status(route: Route) -> dict[int, list[str]]:
    """Return the codes that a route may answer with, by HTTP status."""
    found: dict[int, list[str]] = {}
    for code in route.codes:
        found.setdefault(PROBLEMS[code].status, []).append(code)
    return found


def _refusal(codes: Sequence[str], problem: Any) -> dict[str, Any]:
    """Describe problems of one status: each with what the client must do."""
    named = {"properties": {"code": {"enum": codes}}}
    headers = _HEADERS.get(PROBLEMS[codes[0]].status, {})
    return {
        "description": " ".join(f"{code}: {PROBLEMS[code].action}" for code in codes),
        "headers": {name: {"description": what, "schema": _TEXT} for name, what in headers.items()},
        "content": {PROBLEM: {"schema": {"allOf": [problem, named]}}},
    }
