"""This file holds what tests, an app's and our own, put in a collector's place: no network at all."""

import io
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit
from wsgiref.util import setup_testing_defaults

from hubbub.manifest import Manifest
from hubbub.period import DAY
from hubbub_client.client import Client
from hubbub_client.sending.delivery import Delivery
from hubbub_client.sending.transport import Answer, Request

MONDAY = 1_767_571_200  # 2026-01-05 00:00 UTC: a period of 1 and one of 7 days begin
WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
BY_FLUSH = Delivery(delay=0, background=False)
ACCEPTED = Answer(200, b'{"accepted": 1, "refused": []}')
WITHDRAWN = Answer(200, b'{"withdrawn": true}')


class Clock:
    """A clock that a test moves: ``Client.for_testing(manifest, clock=Clock())``. It begins on a Monday.

    >>> clock = Clock()
    >>> before = clock()
    >>> clock.advance(days=1)
    >>> clock() - before
    86400.0
    """

    def __init__(self, now: float = MONDAY) -> None:
        self.now = float(now)

    def __call__(self) -> float:
        """Return the time that it shows."""
        return self.now

    def advance(self, *, days: float = 0, seconds: float = 0) -> None:
        """Let time pass."""
        self.now += days * DAY + seconds


class RecordingTransport:
    """Keeps every request, and answers from a list, then always with success; it has nothing to fetch.

    answers: an Answer, or an exception to raise, for each of the first requests.
    """

    def __init__(self, answers: Iterable[Answer | Exception] = ()) -> None:
        self.requests: list[Request] = []
        self._answers = list(answers)

    def send(self, request: Request) -> Answer:
        """Keep a request and return the next answer."""
        self.requests.append(request)
        success = WITHDRAWN if request.url.endswith("/v1/withdrawals") else ACCEPTED
        otherwise = success if request.method == "POST" else Answer(404)
        answer = self._answers.pop(0) if self._answers else otherwise
        if isinstance(answer, Exception):
            raise answer
        return answer


class WsgiTransport:
    """Carries requests to a WSGI app in this process.

    >>> import hubbub_client.testing as testing
    >>> def app(environ, start_response):
    ...     start_response("200 OK", [])
    ...     return [environ["PATH_INFO"].encode()]
    >>> testing.WsgiTransport(app).send(Request("http://localhost/v1/batches", b"", {}, 1)).body
    b'/v1/batches'
    """

    def __init__(self, app: WsgiApp) -> None:
        self._app = app

    def send(self, request: Request) -> Answer:
        """Call the app once."""
        environ: dict[str, Any] = {
            "REQUEST_METHOD": request.method,
            "PATH_INFO": urlsplit(request.url).path,
            "CONTENT_LENGTH": str(len(request.body)),
            "wsgi.input": io.BytesIO(request.body),
        }
        credentials = {} if request.key is None else {"Authorization": f"Bearer {request.key}"}
        for name, text in {**request.headers, **credentials}.items():
            key = name.upper().replace("-", "_")
            environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = text
        setup_testing_defaults(environ)
        started: list[tuple[str, list[tuple[str, str]]]] = []
        chunks = self._app(environ, lambda status, headers, _error=None: started.append((status, headers)))
        body = b"".join(chunks)
        close = getattr(chunks, "close", None)
        if close is not None:
            close()
        status, headers = started[-1]
        return Answer(int(status[:3]), body, _header(headers, "retry-after"))


def for_testing(manifest: Manifest | str | os.PathLike[str], **options: Any) -> Client:
    """Make a client with consent, without a network, and with files that vanish with it.

    The switches of this machine's owner don't count here. options: as for Client.
    """
    directory = tempfile.mkdtemp(prefix="hubbub-") if options.get("data_dir") is None else None
    if directory is not None:
        options["data_dir"] = directory
    defaults: dict[str, Any] = {
        "url": "https://collector.invalid",
        "transport": RecordingTransport(),
        "consent": "given",
        "delivery": BY_FLUSH,
        "environ": {},
    }
    client = Client(manifest=manifest, **{**defaults, **options})
    if directory is not None:
        weakref.finalize(client, shutil.rmtree, directory, ignore_errors=True)
    return client


def _header(headers: Iterable[tuple[str, str]], wanted: str) -> str | None:
    return next((text for name, text in headers if name.lower() == wanted), None)
