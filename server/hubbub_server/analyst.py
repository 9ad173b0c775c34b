"""This file asks a collector from afar, in the words and with the answers of the collector itself."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import requests

from hubbub.addresses import check_url
from hubbub.errors import DomainError, NotReachableError, RefusedError
from hubbub_server.analysis.asking import View
from hubbub_server.analysis.estimation import By
from hubbub_server.analysis.groups import Answers
from hubbub_server.analysis.suspicion import Suspicion

Bound = str | int | date  # a period's number, or a day

_KEPT = 64  # answers that are asked about by their tag
_ROOM = 2**26  # bytes that they take together
_UNCHANGED = 304
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class PublishedMetric:
    """A version of a metric. id: in hex. serial: of the newest manifest that holds it."""

    id: str
    app: str
    name: str
    serial: int
    definition: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """A noisy report: the integer that its bytes are, or those.

    period: the day on which it starts.
    """

    period: date
    labels: dict[str, str]
    report: int | list[int]


@dataclass(frozen=True, slots=True)
class _Metrics:
    metrics: tuple[PublishedMetric, ...]


@dataclass(frozen=True, slots=True)
class _Problem:
    code: str
    title: str = ""
    detail: str = ""


class Analyst:
    """A collector, asked with an analyst's key; answers that have not changed are not sent again.

    url: of the collector; plain http only to this machine. ca: a file of certificates to trust instead of the
    system's. timeout: seconds to wait for a connection, and for each part of an answer.

    Raises DomainError for a url or key that can't be one. All methods raise RefusedError where the collector
    refuses, with its code, and NotReachableError where it does not answer.
    """

    __slots__ = ("_kept", "_key", "_session", "_timeout", "_url")

    def __init__(self, url: str, key: str, *, ca: Path | None = None, timeout: float = 60.0) -> None:
        self._url = check_url(url)
        if not key.isascii() or not key.isprintable() or " " in key or not key:
            raise DomainError("a key is printable text without blanks, like hb_analyst_...")
        self._key = key
        self._timeout = timeout
        self._kept: OrderedDict[str, tuple[str, bytes]] = OrderedDict()  # by address: tag and answer
        self._session = requests.Session()
        self._session.trust_env = self._url.startswith("https:")  # no proxy sees what stays on this machine
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        if ca is not None:
            self._session.verify = str(ca)

    def __enter__(self) -> "Analyst":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def metrics(self) -> tuple[PublishedMetric, ...]:
        """Return every version of every metric that was ever published."""
        return self._get("/v1/metrics", {}, _Metrics).metrics

    def estimate(
        self,
        metric: str,
        *,
        first: Bound = "",
        last: Bound = "",
        by: By = "",
        labels: Sequence[str] = (),
        versions: Sequence[str] = (),
        against: Bound = "",
        view: View = "raw",
        top: int | None = None,
        any_of: Sequence[str] = (),
        all_of: Sequence[str] = (),
        candidates: Sequence[str] = (),
        level: float = 0.95,
    ) -> Answers:
        """Answer a metric; the options are those of ``hubbub_server.analysis.estimation.estimate``."""
        asked: dict[str, object] = {"metric": metric, "from": first, "to": last, "by": by, "against": against}
        asked |= {"view": view, "top": top, "level": f"{level:.6f}".rstrip("0")}
        asked |= {"label": labels, "versions": versions}
        asked |= {"any": any_of, "all": all_of, "candidate": candidates}
        return self._get("/v1/estimates", asked, Answers)

    def difference(self, metric: str, against: Bound, **options: Any) -> Answers:
        """Tell what changed since a period, a span, or with "before" from each period to the next.

        options: those of ``estimate``.
        """
        return self.estimate(metric, against=against, **options)

    def suspicion(self, metric: str, *, first: Bound = "", last: Bound = "") -> Suspicion:
        """Test the reports of each period by the laws that honest ones obey."""
        return self._get("/v1/suspicion", {"metric": metric, "from": first, "to": last}, Suspicion)

    def reports(
        self, metric: str, *, first: Bound = "", last: Bound = "", labels: Sequence[str] = ()
    ) -> Iterator[Report]:
        """Yield the noisy reports that are still kept, in random order within period and labels."""
        asked = {"metric": metric, "from": first, "to": last, "label": labels, "format": "ndjson"}
        decoder = msgspec.json.Decoder(Report)
        with closing(self._send("/v1/reports", asked, "")) as response, _named_errors():
            for line in response.iter_lines(chunk_size=2**16):
                yield decoder.decode(line)

    def _get(self, path: str, asked: Mapping[str, object], kind: type[_T]) -> _T:
        """Return an answer; the one that is kept, if the collector says that it has not changed."""
        place = f"{path} {sorted(asked.items())}"
        tag, body = self._kept.get(place, ("", b""))
        with closing(self._send(path, asked, tag)) as response, _named_errors():
            if response.status_code != _UNCHANGED:
                body = response.content
                self._keep(place, response.headers.get("ETag", ""), body)
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.MsgspecError:
            raise NotReachableError(
                "what answers at this url is no collector, or one of another version"
            ) from None

    def _keep(self, place: str, tag: str, body: bytes) -> None:
        if tag:
            self._kept[place] = tag, body
            self._kept.move_to_end(place)
            while len(self._kept) > _KEPT or sum(len(body) for _, body in self._kept.values()) > _ROOM:
                self._kept.popitem(last=False)

    def _send(self, path: str, asked: Mapping[str, object], tag: str) -> requests.Response:
        """Return a response whose body is not read yet: 200, or 304 where a tag was sent."""
        headers = {"Authorization": f"Bearer {self._key}", "User-Agent": "hubbub-analyst"}
        headers |= {"If-None-Match": tag} if tag else {}
        given = {name: value for name, value in asked.items() if value not in ("", None)}
        with _named_errors():
            response = self._session.get(
                self._url + path,
                params={
                    name: value if isinstance(value, list | tuple) else str(value)
                    for name, value in given.items()
                },
                headers=headers,
                auth=_as_they_are,
                timeout=self._timeout,
                allow_redirects=False,
                stream=True,
            )
            if response.status_code in (200, _UNCHANGED if tag else 200):
                return response
            with closing(response):
                raise _refusal(response)


def _as_they_are(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Leave the headers alone, so that requests does not put a password from .netrc over the key."""
    return request


def _refusal(response: requests.Response) -> RefusedError:
    """Return what a collector said about why not, or its status where something else answered."""
    status = response.status_code
    if response.is_redirect:
        return RefusedError(f"http_{status}", "the collector sent us elsewhere, where a key must not follow")
    try:
        problem = msgspec.json.decode(response.content, type=_Problem)
    except msgspec.MsgspecError:
        return RefusedError(f"http_{status}", f"status {status}, and not from a collector")
    return RefusedError(problem.code, problem.detail or problem.title, status=status)


@contextmanager
def _named_errors() -> Iterator[None]:
    try:
        yield
    except requests.RequestException as error:
        raise NotReachableError(f"the collector did not answer: {type(error).__name__}") from None
