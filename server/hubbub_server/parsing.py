"""This file reads requests off connections: more strictly than waitress alone, with problems as answers."""

import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from http import HTTPStatus
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.task import ErrorTask
from waitress.utilities import BadRequest, Error, RequestEntityTooLarge

from hubbub.errors import BusyError
from hubbub_server.headers import ALWAYS, UNKEPT
from hubbub_server.problems import PROBLEM, PROBLEMS, RETRY, code_of_status, document
from hubbub_server.receiving.room import Room

LONGEST_LINE = 2**12  # bytes between two chunks, or after the last
HEARD_OUT = 4  # times the largest body: what is refused is read so far, and thrown away
_CODINGS = re.compile(rb"\r\ntransfer-encoding:([^\r\n]*)")


class ProblemTask(ErrorTask):  # type: ignore[misc]  # waitress carries no types
    """Answer what waitress refuses by itself; a class of its own because waitress asks for one."""

    def execute(self) -> None:
        """Write a problem document; waitress's own text could repeat what was sent."""
        code = code_of_status(self.request.error.code)
        body = document(code)
        self.status = f"{PROBLEMS[code].status} {HTTPStatus(PROBLEMS[code].status).phrase}"
        self.response_headers += [("Content-Type", PROBLEM), UNKEPT, *ALWAYS]
        self.response_headers += [("Retry-After", str(RETRY))] if code == "overloaded" else []
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)
        self.channel.server.refused(PROBLEMS[code].status, code)


class NoRoomError(Error):  # type: ignore[misc]  # waitress carries no types
    """What is said where no room is left for bodies; a class of its own because waitress asks for one."""

    code, reason = 503, "Service Unavailable"


class StrictParser(HTTPRequestParser):  # type: ignore[misc]  # waitress carries no types
    """Refuse what waitress takes too lightly; a class of its own because waitress asks for one.

    room: for large bodies on their way, who sends them being unknown until they are here. is_early: whether
    to take in what has come as it is, for later.
    """

    body_rcv: Any  # what takes the body in
    error: Any  # None, or what is wrong
    expect_continue: bool

    def __init__(self, adjustments: Any, *, room: Room, is_early: bool = False) -> None:
        super().__init__(adjustments)
        self.early = bytearray() if is_early else None
        self._unheard = 0  # bytes that the sender of what is refused sends before it listens
        self._lent = ExitStack()
        self._cover = self._lent.enter_context(room.opened())

    def close(self) -> None:
        """Give back what the body took; a request that is never closed does so when it is forgotten."""
        super().close()
        self._lent.close()

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head of a request; a refusal closes the connection.

        Raises ParsingError.
        """
        try:
            super().parse_header(header_plus)
        except ValueError:  # of a target or a length that Python can't read
            raise ParsingError("the head of the request can't be read") from None
        codings = [coding.strip() for coding in _CODINGS.findall(header_plus.lower())]
        if codings and (codings != [b"chunked"] or not self.chunked or "CONTENT_LENGTH" in self.headers):
            raise ParsingError("where the request ends is told in two ways")
        if self.version not in {"1.0", "1.1"}:
            raise ParsingError("the version of HTTP is not known")

    def received(self, data: bytes) -> int:
        """Take bytes in; what is between chunks is bounded, as it is searched anew with every piece of it."""
        if self.early is not None:
            self.early += data
            return len(data)
        if self.error:
            heard = min(len(data), self._unheard)
            self._unheard -= heard
            self.completed = not self._unheard
            return heard
        consumed: int = super().received(data)
        body = self.body_rcv
        if self.chunked and body is not None:
            if len(body.control_line) + len(body.trailer) > LONGEST_LINE:
                self.error, self.completed = BadRequest("a line between chunks is too long"), True
            elif body.chunk_remainder > self.adj.max_request_body_size:
                self.error, self.completed = RequestEntityTooLarge("a chunk is too large"), True
        try:
            self._cover(self.body_bytes_received)
        except BusyError:
            self.error, self.completed = NoRoomError("other large bodies are on their way"), True
            self.close()  # at once, so that bodies that grow side by side are not all refused
            self.body_rcv = None
        if self.error and not self.expect_continue:  # of two that talk at once, the later loses what is said
            left = self.content_length - self.body_bytes_received
            self._unheard = left if left <= HEARD_OUT * self.adj.max_request_body_size else 0
            self.completed = self._unheard <= 0
        if self.completed:
            self.expect_continue = False  # whoever waits for leave to send gets the answer instead
        return consumed


class ProblemChannel(HTTPChannel):  # type: ignore[misc]  # waitress carries no types
    """A connection whose errors are problem documents, and whose requests are read one at a time.

    So no thread of ours waits for whoever asks much at once and reads slowly, but for long exports.
    """

    error_task_class = ProblemTask
    request: StrictParser | None
    requests: list[StrictParser]

    @property
    def parser_class(self) -> Callable[[Any], StrictParser]:
        """What makes a request of bytes."""
        return partial(StrictParser, room=self.server.room, is_early=bool(self.requests))

    def readable(self) -> bool:
        """Tell whether more is wanted: once all is answered and sent, and what came with it is read."""
        if self.request and self.request.early and super().readable():
            with self.requests_lock:  # as the thread that answered may not have looked for the last time
                early, self.request = self.request.early, None
            try:
                self.received(bytes(early))
            except Exception:  # which ends this connection, and no other, as where bytes are read
                self.will_close = True  # soon: closed here, its number could be a new connection's at once
        return bool(super().readable())
