"""This file carries requests over HTTP, and gives away nothing that a library would add by itself.

A connection lives for one request: no TLS session by which two reports are linked, and no cookies.
"""

import encodings.idna  # noqa: F401 - it is imported by a first request otherwise, maybe across a fork
import io
import os
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from http.client import HTTPException, HTTPResponse
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError

from hubbub.addresses import is_loopback
from hubbub.errors import NotReachableError
from hubbub_client.sending.transport import LONGEST_ANSWER, USER_AGENT, Answer, Request

BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")  # the first that is set counts
FIXED = {
    "User-Agent": USER_AGENT,
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Connection": "close",
}


class _Adapter(HTTPAdapter):
    """Opens connections that keep to one deadline in all, and over which nothing is said without leave."""

    def __init__(self, seconds: float, permit: Callable[[], object]) -> None:
        super().__init__()
        self._deadline, self._permit, self._opened = time.monotonic() + seconds, permit, ExitStack()

    def close(self) -> None:
        """Close the connection now: a pool's finalizer would, but no more once an exit has run all others."""
        self._opened.close()
        super().close()

    def get_connection_with_tls_context(self, *arguments: Any, **options: Any) -> Any:
        """Return a pool of such connections; how long one step may take is all that an option could say."""
        pool: Any = super().get_connection_with_tls_context(*arguments, **options)
        self._opened.callback(pool.close)
        left, permit = self._left, self._permit

        class Connection(pool.ConnectionCls):  # type: ignore[misc]
            debuglevel = 0  # an app that debugs its own requests would print our key with them

            sock: socket.socket | None

            def _new_conn(self) -> socket.socket:
                line: socket.socket = super()._new_conn()
                self.sock = line  # kept, so that an error closes it
                line.settimeout(left())  # for all of a handshake
                return line

            def send(self, data: Any) -> None:
                if self.sock is None:
                    self.connect()
                permit()
                if self.sock:
                    self.sock.settimeout(left())
                super().send(data)

            def response_class(self, line: socket.socket, **options: Any) -> HTTPResponse:
                response = HTTPResponse(line, **options)
                response.fp = io.BufferedReader(_Incoming(line, response.fp.detach(), left))
                return response

        pool.ConnectionCls = Connection
        return pool

    def _left(self) -> float:
        """Return how many seconds are left, more than 0.

        Raises TimeoutError.
        """
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _Incoming(io.RawIOBase):
    """What comes in over a socket until a deadline: a socket's own timeout is for one read."""

    def __init__(self, line: socket.socket, file: io.RawIOBase, left: Callable[[], float]) -> None:
        self._line, self._file, self._left = line, file, left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        self._line.settimeout(self._left())
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


class HttpTransport:
    """A transport over HTTPS; proxies and authorities come from the environment.

    An adapter without a session follows no redirect, reads no .netrc, keeps no cookie and inflates nothing.
    """

    def send(self, request: Request) -> Answer:
        """Send a request once.

        Raises NotReachableError if no answer came; its message holds neither key nor body.
        """
        key = {} if request.key is None else {"Authorization": f"Bearer {request.key}"}
        headers = {**FIXED, **request.headers, **key}
        try:
            prepared = requests.Request(request.method, request.url, headers, data=request.body).prepare()
            with (
                closing(_Adapter(request.timeout, request.permit)) as adapter,
                adapter.send(
                    prepared,
                    stream=True,
                    timeout=request.timeout,
                    verify=_authorities(),
                    proxies=_proxies(request.url),
                ) as response,
            ):
                body = response.raw.read(LONGEST_ANSWER, decode_content=False)
                return Answer(response.status_code, body, response.headers.get("Retry-After"))
        except (requests.RequestException, HTTPError, HTTPException, OSError) as error:
            raise NotReachableError(_reason(error)) from None


def _proxies(url: str) -> dict[str, str]:
    """Return the proxies that the environment names; none stands between a machine and itself."""
    return {} if is_loopback(url) else get_environ_proxies(url)


def _authorities() -> str | bool:
    """Return the file of authorities that the environment names, or True for those that requests knows."""
    return next(filter(None, map(os.environ.get, BUNDLES)), True)


def _reason(error: BaseException) -> str:
    """Say why no answer came, not in a library's own words: those may hold a key."""
    told = f"no answer from the collector ({type(error).__name__})"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"the collector's certificate is not trusted ({cause.verify_message}); if an authority of "
                f"your own signed it, set {BUNDLES[0]} to that authority's file"
            )
        if isinstance(cause, ssl.SSLError) or (isinstance(cause, TimeoutError) and "handshake" in str(cause)):
            told = f"no TLS with the collector ({type(error).__name__}); does the url's port speak https?"
        cause = cause.__context__
    return told
