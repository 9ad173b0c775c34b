"""This file carries requests over HTTP, and gives away nothing that a library would add by itself.

A session lives for one request: no cookies, no connection or TLS session by which two reports are linked.
"""

import requests
from requests.auth import AuthBase
from urllib3.exceptions import HTTPError

from hubbub.errors import NotReachableError
from hubbub_client.transport import LONGEST_ANSWER, USER_AGENT, Answer, Request, is_loopback


class _Bearer(AuthBase):
    """The collector's key, as an object: requests lets a .netrc replace a plain header, or a missing one."""

    def __init__(self, key: str | None) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key is not None:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


class HttpTransport:
    """A transport over HTTPS; proxies and authorities come from the environment, no redirect is followed."""

    def post(self, request: Request) -> Answer:
        """Send a request once.

        Raises NotReachableError if no answer came; its message holds neither key nor body.
        """
        fixed = {"User-Agent": USER_AGENT, "Accept": "application/json", "Accept-Encoding": "identity"}
        with requests.Session() as session:
            session.trust_env = not is_loopback(request.url)  # no proxy between a machine and itself
            try:
                with session.post(
                    request.url,
                    data=request.body,
                    headers={**fixed, **request.headers, "Connection": "close"},
                    auth=_Bearer(request.key),
                    timeout=request.timeout,
                    allow_redirects=False,
                    stream=True,
                ) as response:
                    body = response.raw.read(LONGEST_ANSWER, decode_content=True)
                    return Answer(response.status_code, body, response.headers.get("Retry-After"))
            except (requests.RequestException, HTTPError, OSError) as error:
                raise NotReachableError(f"no answer from the collector ({type(error).__name__})") from None
