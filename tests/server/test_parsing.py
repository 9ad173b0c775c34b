"""This file proves what of a request is refused before any route sees it, and what room its body takes."""

import pytest
from waitress.adjustments import Adjustments

from hubbub_server.parsing import StrictParser
from hubbub_server.receiving.room import SMALL, Room
from tests.server.malformed_framing import BROKEN

HEAD = f"POST /v1/batches HTTP/1.1\r\nHost: h\r\nContent-Length: {2 * SMALL}\r\n\r\n".encode()


@pytest.mark.parametrize("bodies", [5, 60])
def test_as_many_bodies_are_taken_as_have_room_however_many_grow_side_by_side(bodies: int) -> None:
    room, adjustments = Room(4 * SMALL), Adjustments()
    parsers = [StrictParser(adjustments, room=room) for _ in range(bodies)]
    for parser in parsers:
        parser.received(HEAD)
    growing = list(parsers)

    for _ in range(2 * SMALL // 2**16):
        for parser in growing:
            parser.received(bytes(2**16))
        growing = [parser for parser in growing if not parser.error]

    whole = [parser.completed and not parser.error for parser in parsers]
    for parser in parsers:
        parser.close()
    assert sum(whole) == 4
    with room.opened() as cover:
        cover(5 * SMALL)


def test_no_connection_holds_more_than_a_little_outside_the_room() -> None:
    room, adjustments = Room(4 * SMALL, small=2**16), Adjustments()
    parsers = [StrictParser(adjustments, room=room) for _ in range(60)]

    for parser in parsers:
        parser.received(HEAD)
        for _ in range(8):
            parser.received(bytes(2**16))

    held = [len(parser.body_rcv) for parser in parsers if parser.body_rcv]
    for parser in parsers:
        parser.close()
    assert 4 * SMALL <= sum(held) <= 4 * SMALL + 60 * 2**16


@pytest.mark.parametrize(("times", "is_heard"), [(2, True), (4, True), (5, False)])
def test_what_is_refused_is_heard_out_within_reason_and_thrown_away(times: int, is_heard: bool) -> None:
    adjustments = Adjustments(max_request_body_size=SMALL)
    parser = StrictParser(adjustments, room=Room(SMALL))
    parser.received(HEAD.replace(b"%d" % (2 * SMALL), b"%d" % (times * SMALL)))
    begun = parser.completed

    for _ in range(times * SMALL // 2**16 if is_heard else 0):
        parser.received(bytes(2**16))

    assert parser.error.code == 413
    assert begun is not is_heard
    assert parser.completed
    assert len(parser.body_rcv) == 0


TWO_ENDS = ("chunks twice", "chunks in two headers", "a length and chunks", "chunks in HTTP/1.0")


@pytest.mark.parametrize("name", [*TWO_ENDS, *(name for name in BROKEN if "coding" in name)])
def test_a_body_whose_end_two_readers_could_see_in_two_places_is_refused_before_its_key_is_asked(
    name: str,
) -> None:
    parser, left = StrictParser(Adjustments(), room=Room(SMALL)), BROKEN[name]

    while left and not parser.completed:
        left = left[parser.received(left) :]

    assert parser.completed
    assert parser.error.code in {400, 501}
