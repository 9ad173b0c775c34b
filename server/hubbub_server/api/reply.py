"""This file writes answers as JSON."""

import hashlib
from typing import Any

import msgspec
from flask import Response, request


def reply(document: Any, *, status: int = 200) -> Response:
    """Return plain data, or JSON that is ready, as a response."""
    body = document if isinstance(document, bytes) else msgspec.json.encode(document)
    return Response(body, status=status, content_type="application/json")


def tagged(document: Any) -> Response:
    """Return plain data, or JSON that is ready, with its hash as ETag; 304 to who has it already."""
    response = reply(document)
    response.set_etag(hashlib.sha256(response.data).hexdigest())
    response.vary.add("Authorization")
    response.make_conditional(request)
    return response
