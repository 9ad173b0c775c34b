"""This file carries requests over HTTP, and gives away nothing that a library would add by itself.

A session lives for one request: no cookies, no connection or TLS session by which two reports are linked.
"""

import encodings.idna  # noqa: F401 - it and netrc are imported by a first request otherwise, maybe across a fork
import netrc  # noqa: F401 - as above
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from urllib3.exceptions import HTTPError

from hubbub.errors import NotReachableError
from hubbub_client.sending.transport import LONGEST_ANSWER, USER_AGENT, Answer, Request, is_loopback

BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")  # the first that is set counts


class _Bearer(AuthBase):
    """The collector's key, as an object: requests lets a .netrc replace a plain header, or a missing one."""

    def __init__(self, key: str | None) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key is not None:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


class _Adapter(HTTPAdapter):
    """Knows the socket of its connection, so that it can be cut off: every other timeout is for one read."""

    def __init__(self) -> None:
        super().__init__()
        self._sockets: list[socket.socket] = []
        self._is_over = False

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Cut off what isn't done by then, the body of the answer included."""
        timer = threading.Timer(seconds, self._cut)
        timer.daemon = True
        with suppress(RuntimeError):  # the interpreter is shutting down, and takes no new thread
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
            for one in self._sockets:
                one.close()
            if self._is_over:
                raise requests.Timeout

    def get_connection_with_tls_context(self, *arguments: Any, **options: Any) -> Any:
        """Return a pool whose connections hand their sockets over as soon as they have one."""
        pool: Any = super().get_connection_with_tls_context(*arguments, **options)
        adapter = self

        class Connection(pool.ConnectionCls):  # type: ignore[misc]
            debuglevel = 0  # an app that debugs its own requests would print our key with them

            def _new_conn(self) -> socket.socket:
                made: socket.socket = super()._new_conn()
                adapter._sockets.append(made.dup())  # TLS takes the first one over
                if adapter._is_over:
                    adapter._cut()
                return made

            def _tunnel(self) -> None:
                super()._tunnel()
                if adapter._is_over:  # the end of a proxy's words counts as the end of its headers
                    raise TimeoutError

        pool.ConnectionCls = Connection
        return pool

    def _cut(self) -> None:
        self._is_over = True
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class HttpTransport:
    """A transport over HTTPS; proxies and authorities come from the environment, no redirect is followed."""

    def send(self, request: Request) -> Answer:
        """Send a request once.

        Raises NotReachableError if no answer came; its message holds neither key nor body.
        """
        fixed = {"User-Agent": USER_AGENT, "Accept": "application/json", "Accept-Encoding": "identity"}
        with requests.Session() as session:
            adapter = _Adapter()
            for scheme in ("https://", "http://"):
                session.mount(scheme, adapter)
            session.trust_env = not is_loopback(request.url)  # no proxy between a machine and itself
            try:
                with (
                    adapter.within(request.timeout),
                    session.request(
                        request.method,
                        request.url,
                        data=request.body,
                        headers={**fixed, **request.headers, "Connection": "close"},
                        auth=_Bearer(request.key),
                        timeout=request.timeout,
                        allow_redirects=False,
                        verify=_authorities(),
                        stream=True,
                    ) as response,
                ):
                    body = response.raw.read(LONGEST_ANSWER, decode_content=True)
                    return Answer(response.status_code, body, response.headers.get("Retry-After"))
            except (requests.RequestException, HTTPError, HTTPException, OSError) as error:
                raise NotReachableError(_reason(error)) from None


def _authorities() -> str | bool:
    """Return the file of authorities that the environment names, or True for those that requests knows."""
    return next(filter(None, map(os.environ.get, BUNDLES)), True)


def _reason(error: BaseException) -> str:
    """Say why no answer came, not in a library's own words: those may hold a key."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__context__
    if cause is None:
        return f"no answer from the collector ({type(error).__name__})"
    return (
        f"the collector's certificate is not trusted ({cause.verify_message}); if an authority of your own "
        f"signed it, set {BUNDLES[0]} to that authority's file"
    )
