"""This file proves that large bodies share a room that is bounded, and give it back whatever happens."""

import pytest

from hubbub.errors import BusyError
from hubbub_server.receiving.room import SMALL, Cover, Room


def test_small_bodies_need_no_room() -> None:
    room = Room(0)

    with room.opened() as cover, room.opened() as other:
        cover(SMALL)
        other(SMALL)

        with pytest.raises(BusyError):
            other(SMALL + 1)


def test_a_body_grows_into_what_the_others_leave() -> None:
    room = Room(1000)

    with room.opened() as cover, room.opened() as other:
        cover(SMALL + 500)
        cover(SMALL + 300)  # what it once needed stays its own
        other(SMALL + 500)

        with pytest.raises(BusyError, match="other large bodies"):
            other(SMALL + 501)


def test_the_room_is_given_back_after_an_error() -> None:
    room = Room(1000)

    with pytest.raises(BusyError), room.opened() as cover:
        _grow(cover, SMALL + 600, SMALL + 1001)

    with room.opened() as cover:
        cover(SMALL + 1000)


def _grow(cover: Cover, *sizes: int) -> None:
    for size in sizes:
        cover(size)
