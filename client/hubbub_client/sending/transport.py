"""This file is the seam between a device and a collector: one request, one answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

USER_AGENT = "hubbub"  # the same for everybody: a version would tell devices apart
LONGEST_ANSWER = 65_536  # bytes of an answer that are read


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a collector.

    body: as it travels, ``headers`` say how it is packed. key: the collector's, sent as Bearer; never shown.
    timeout: seconds that all of it may take. method: a GET fetches, with no body. permit: to be called once a
    connection stands, right before anything is said over it, since connecting can take long; it raises
    NotReachableError where nothing may leave any more.
    """

    url: str
    body: bytes = field(repr=False)
    headers: dict[str, str]
    timeout: float
    key: str | None = field(default=None, repr=False)
    method: Literal["GET", "POST"] = "POST"
    permit: Callable[[], object] = field(default=object, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    retry_after: the header as it stands, or None.
    """

    status: int
    body: bytes = b""
    retry_after: str | None = None


class Transport(Protocol):
    """Carries a request to a collector and brings the answer back."""

    def send(self, request: Request) -> Answer:
        """Send a request once.

        Raises NotReachableError if no answer came.
        """
        ...


@dataclass(frozen=True, slots=True)
class Collector:
    """Where batches go, and how.

    transport: made at the first request, since its imports take long.
    """

    url: str
    transport: Callable[[], Transport]
    key: str | None = field(default=None, repr=False)
