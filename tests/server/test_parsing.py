"""This file proves that bodies which grow side by side are not all refused for want of the same room."""

import pytest
from waitress.adjustments import Adjustments

from hubbub_server.parsing import StrictParser
from hubbub_server.receiving.room import SMALL, Room

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
