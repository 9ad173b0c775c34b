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
    tag = hashlib.sha256(response.data).hexdigest()
    response.set_etag(tag)
    response.vary.add("Authorization")
    if request.if_none_match.contains_weak(tag):
        response.status_code = 304
    return response
