"""This file lists every problem the collector can answer with, and what the client must do about each.

Answers follow RFC 9457. The sentence says what rule was broken; nothing that was sent is repeated, but for
words of a manifest or a question, to the admin or analyst who sent it.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from flask import Flask, Response, g
from werkzeug.exceptions import HTTPException

from hubbub.errors import (
    BatchError,
    BusyError,
    ManifestError,
    MissingExtraError,
    RefusedError,
    StorageError,
    StorageFullError,
)
from hubbub_server.logs import tell, trail

PROBLEM = "application/problem+json"  # content type
RETRY = 10  # seconds after which to come back, where nothing else is said


@dataclass(frozen=True, slots=True)
class Problem:
    """A code with its HTTP status, title, and the action that the protocol asks of a client."""

    status: int
    title: str
    action: str


DROP = "Drop the batch; sending it again cannot help."
LATER = "Keep the batch and send the same bytes later, backing off."
MEND = "Mend the request."
PROBLEMS: Mapping[str, Problem] = {
    "malformed_request": Problem(400, "The request is not proper HTTP", MEND),
    "malformed_batch": Problem(400, "The body is not a batch", DROP),
    "malformed_json": Problem(400, "The body is not the JSON expected here", MEND),
    "unknown_version": Problem(400, "This version of the batch format is not known here", DROP),
    "bad_query": Problem(400, "The query is wrong", MEND),
    "unauthorized": Problem(
        401, "A valid key is missing", "Keep the batch; ask the operator for a key, then send the same bytes."
    ),
    "forbidden": Problem(
        403,
        "The key is for other routes",
        "Keep the batch; use a key of the kind named, then send the same bytes.",
    ),
    "not_found": Problem(404, "There is no such resource", MEND),
    "method_not_allowed": Problem(405, "The resource has no such method", MEND),
    "id_conflict": Problem(
        409, "Another batch already bears this id", "Drop the batch; draw ids from 128 random bits."
    ),
    "serial_conflict": Problem(
        409, "The manifest must not change this way", "Raise the serial, after reading the differences."
    ),
    "already_replaced": Problem(
        409, "The key has a successor already", "Use the successor, or make another key."
    ),
    "withdrawn": Problem(410, "The batch was withdrawn", DROP),
    "already_folded": Problem(
        410, "The raw reports are gone, only sums are left", "Stop; the batch cannot be withdrawn any more."
    ),
    "too_large": Problem(
        413, "The body is too large", "Drop the batch; make batches smaller than the limit."
    ),
    "unsupported_media_type": Problem(415, "The type or encoding of the body is not known here", MEND),
    "unknown_metric": Problem(
        422,
        "A column's metric is not published here",
        "Keep the batch until its period closes and send the same bytes.",
    ),
    "wrong_labels": Problem(422, "A column's labels are not the metric's", DROP),
    "wrong_width": Problem(422, "A column's reports do not have the metric's width", DROP),
    "period_not_started": Problem(
        425,
        "A column's period has not started",
        "Correct the clock; keep the batch until the period has started.",
    ),
    "period_closed": Problem(
        422, "A column's period is closed", "Drop those columns; the others may go in a new batch."
    ),
    "bad_manifest": Problem(422, "The manifest is wrong", MEND),
    "rate_limited": Problem(
        429, "The key has used up its share", "Send the same bytes again, not before Retry-After."
    ),
    "header_too_large": Problem(431, "The request's headers are too large", MEND),
    "internal_error": Problem(500, "The collector failed", LATER),
    "not_installed": Problem(
        501, "A part of the collector is not installed", "Ask the operator for it, or ask for another form."
    ),
    "not_ready": Problem(
        503, "The collector can't take batches now", "Ask again later; send batches elsewhere meanwhile."
    ),
    "overloaded": Problem(503, "The collector is busy", "Send the same bytes again, not before Retry-After."),
    "storage_failed": Problem(503, "The database does not work", LATER),
    "storage_full": Problem(507, "The disk is full", LATER),
}
REPORT_CODES: Mapping[str, str] = {
    "impossible_report": "No honest device sends this report; it was not counted. Do not send it again."
}
_BY_STATUS = {
    400: "malformed_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    431: "header_too_large",
    503: "overloaded",
    501: "malformed_request",  # a transfer coding that nobody uses
}
_TROUBLE: tuple[tuple[type[StorageError], str], ...] = (
    (StorageFullError, "storage_full"),
    (BusyError, "overloaded"),
    (StorageError, "storage_failed"),
)


def document(code: str, detail: str = "", **more: object) -> bytes:
    """Return a problem as JSON.

    >>> document("too_large").decode()
    '{"type":"urn:hubbub:problem:too_large","title":"The body is too large","status":413,"code":"too_large"}'
    """
    problem = PROBLEMS[code]
    members: dict[str, object] = {
        "type": f"urn:hubbub:problem:{code}",
        "title": problem.title,
        "status": problem.status,
        "code": code,
    }
    whole = members | ({"detail": detail} if detail else {}) | more
    return json.dumps(whole, separators=(",", ":")).encode("ascii")  # which takes every str


def code_of(error: Exception) -> str:
    """Return the code for what was raised.

    >>> code_of(StorageFullError("no room")), code_of(RefusedError("withdrawn", "taken back"))
    ('storage_full', 'withdrawn')
    """
    if isinstance(error, RefusedError):
        return error.code
    return next((code for kind, code in _TROUBLE if isinstance(error, kind)), "internal_error")


def code_of_status(status: int) -> str:
    """Return the code for an HTTP status that a framework chose."""
    return _BY_STATUS.get(status, "malformed_request" if status < 500 else "internal_error")


def answer_with_problems(app: Flask) -> None:
    """Make every error of an app a problem document; headers such as Allow are kept."""

    @app.errorhandler(RefusedError)
    def refused(error: RefusedError) -> Response:
        return _response(error.code, str(error), **error.details)

    @app.errorhandler(BatchError)
    def no_batch(error: BatchError) -> Response:
        return _response(error.code, str(error))

    @app.errorhandler(ManifestError)
    def no_manifest(error: ManifestError) -> Response:
        return _response("bad_manifest", str(error))

    @app.errorhandler(MissingExtraError)
    def missing(error: MissingExtraError) -> Response:
        return _response("not_installed", str(error))

    @app.errorhandler(HTTPException)
    def http(error: HTTPException) -> Response:
        status = error.code or 500
        response = _response(code_of_status(status))
        for name, value in error.get_headers():
            if name.lower() not in {"content-type", "content-length"}:
                response.headers[name] = value
        return response

    @app.errorhandler(Exception)
    def failed(error: Exception) -> Response:
        fault = str(error) if isinstance(error, StorageError) else trail(error)
        tell("a request failed", level=logging.ERROR, fault=fault)
        return _response(code_of(error))


def _response(code: str, detail: str = "", **more: object) -> Response:
    g.problem = code  # for who counts answers
    response = Response(document(code, detail, **more), status=PROBLEMS[code].status, content_type=PROBLEM)
    if code == "unauthorized":
        response.headers["WWW-Authenticate"] = 'Bearer realm="hubbub"'
    if PROBLEMS[code].status in {429, 503, 507}:
        response.headers["Retry-After"] = str(more.get("retry_after", RETRY))
    return response
