"""This file puts on every answer what a browser must know of it, and lets pages of some origins in."""

from collections.abc import Collection, Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, Response, request

ALWAYS = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
]
UNKEPT = ("Cache-Control", "no-store")
CHECKED = ("Cache-Control", "no-cache, private")  # kept, but by nobody for others, and asked about each time
OPEN = {
    "/v1/batches",
    "/v1/withdrawals",
    "/v1/manifests/<app>/signed",
    "/healthz",
}  # to pages of other origins


def with_headers(app: WSGIApplication) -> WSGIApplication:
    """Return an app whose every answer has the headers, and leaves no copy unless it has an ETag."""

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        def begin(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            names = [name for name, _ in headers]
            if "Cache-Control" not in names:
                headers.append(CHECKED if "ETag" in names else UNKEPT)
            return start(status, headers + ALWAYS, *rest)

        return app(environ, begin)

    return answer


def let_in(app: Flask, origins: Collection[str]) -> None:
    """Let web pages of some origins, or of any if one is "*", use the open routes; never with cookies."""

    @app.after_request
    def share(response: Response) -> Response:
        rule, origin = request.url_rule, request.headers.get("Origin", "")
        if rule is None or rule.rule not in OPEN:
            return response
        if "*" not in origins:
            response.vary.add("Origin")
            if origin not in origins:
                return response
        response.headers["Access-Control-Allow-Origin"] = "*" if "*" in origins else origin
        response.headers["Access-Control-Expose-Headers"] = "Retry-After"
        if request.method == "OPTIONS":
            response.headers["Access-Control-Allow-Methods"] = ", ".join(sorted(rule.methods or ()))
            response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Encoding, Content-Type"
            response.headers["Access-Control-Max-Age"] = "86400"
        return response
