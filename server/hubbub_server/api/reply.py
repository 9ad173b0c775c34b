"""This file writes answers as JSON."""

from typing import Any

import msgspec
from flask import Response


def reply(document: Any, *, status: int = 200) -> Response:
    """Return plain data, or JSON that is ready, as a response."""
    body = document if isinstance(document, bytes) else msgspec.json.encode(document)
    return Response(body, status=status, content_type="application/json")
