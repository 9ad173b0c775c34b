"""This file writes answers: JSON, or text that is ready."""

import hashlib
from typing import Any

import msgspec
from flask import Response, request

from hubbub.batch_json import JSON


def reply(document: Any, *, status: int = 200, media: str = JSON) -> Response:
    """Return plain data as JSON, or bytes as they are, of a media type."""
    body = document if isinstance(document, bytes) else msgspec.json.encode(document)
    return Response(body, status=status, content_type=media)


def tagged(document: Any, *, media: str = JSON) -> Response:
    """Return the same with its hash as ETag; 304 to who has it already."""
    response = reply(document, media=media)
    response.set_etag(hashlib.sha256(response.data).hexdigest())
    response.vary.add("Authorization")
    response.make_conditional(request)
    return response
