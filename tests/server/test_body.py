"""This file proves that a compressed body is bounded while it is inflated, and exact."""

import gzip
import tracemalloc
import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hubbub.batch import BINARY
from hubbub.batch_json import JSON
from hubbub.errors import BatchError, RefusedError
from hubbub_server.api import collect
from hubbub_server.api.route import Route
from hubbub_server.api.table import TABLE
from hubbub_server.receiving import body
from hubbub_server.receiving.body import MOST_MEMBERS, inflate
from hubbub_server.receiving.room import Room
from tests.server.site import Site, batch, code, dark, encode, site, squeezed

LIMIT = 10_000
ROUTES = ("/v1/batches", "/v1/withdrawals")
BOMBS = {
    "in one piece": squeezed(bytes(20_000_000)),
    "in pieces": squeezed(bytes(10_000_000)) * 2,
    "after an honest piece": squeezed(bytes(LIMIT)) + squeezed(bytes(20_000_000)),
}


@given(some.binary(max_size=LIMIT), some.integers(0, 9), some.integers(0, 50))
def test_gzip_comes_back_exactly_whatever_its_level_and_padding(data: bytes, level: int, zeros: int) -> None:
    assert inflate(gzip.compress(data, level) + bytes(zeros), largest=LIMIT) == data


@given(some.lists(some.binary(max_size=50), min_size=1, max_size=MOST_MEMBERS))
def test_members_are_joined(pieces: list[bytes]) -> None:
    assert inflate(b"".join(map(gzip.compress, pieces)), largest=LIMIT) == b"".join(pieces)


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_too_large_before_it_goes_off(bomb: str) -> None:
    tracemalloc.start()

    with pytest.raises(RefusedError) as caught:
        inflate(BOMBS[bomb], largest=LIMIT)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.code == "too_large"
    assert peak < 20 * LIMIT + 2 * len(BOMBS[bomb])


@pytest.mark.parametrize("size", [LIMIT - 1, LIMIT])
def test_up_to_the_limit_all_is_taken(size: int) -> None:
    assert inflate(squeezed(bytes(size)), largest=LIMIT) == bytes(size)


def test_a_byte_over_the_limit_is_too_large() -> None:
    with pytest.raises(RefusedError):
        inflate(squeezed(bytes(LIMIT + 1)), largest=LIMIT)


def test_many_members_are_not_followed() -> None:
    with pytest.raises(BatchError, match="more than 16 members"):
        inflate(squeezed(b"") * 100_000, largest=LIMIT)


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 50, b"x", squeezed(b"x")[:-1], squeezed(b"x") + b"y", zlib.compress(b"x")]
)
def test_what_is_no_gzip_is_refused(data: bytes) -> None:
    with pytest.raises(BatchError):
        inflate(data, largest=LIMIT)


def test_a_plain_body_over_the_limit_is_too_large(home: Site) -> None:
    limit = home.collector.config.largest_body
    data = encode(batch(dark([1] * limit)))

    answer = home.post_bytes(data)

    assert (answer.status_code, code(answer)) == (413, "too_large")


@given(some.lists(some.binary(max_size=50), min_size=1, max_size=3), some.integers(1, 200))
def test_where_the_pieces_of_a_body_are_cut_does_not_matter(members: list[bytes], size: int) -> None:
    data = b"".join(map(gzip.compress, members)) + bytes(size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(body, "_PIECE", size)
        patch.setattr(body, "_STEP", size)
        inflated = inflate(data, largest=LIMIT)

    assert inflated == b"".join(members)


def test_a_body_covers_itself_as_sent_and_as_inflated_while_it_grows() -> None:
    grown: list[int] = []

    inflate(squeezed(bytes(1_000_000)), largest=1_000_000, cover=grown.append)

    assert grown[-1] == 1_000_000
    assert max(later - size for size, later in pairwise([0, *grown])) <= 2**16


def test_gzip_that_is_none_is_said_of_what_was_expected(home: Site) -> None:
    headers = home.bearer("ingest") | {"Content-Encoding": "gzip"}

    codes = [code(home.client.post(path, data=b"x", headers=headers, content_type=JSON)) for path in ROUTES]

    assert codes == ["malformed_batch", "malformed_json"]


@pytest.mark.parametrize("route", [route for route in TABLE if route.takes], ids=lambda route: route.path)
def test_a_body_of_another_type_than_its_route_takes_is_refused(home: Site, route: Route) -> None:
    url = route.path.format(app="notepad", number="00000000")
    types = {BINARY, JSON, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"}
    others = sorted(types - set(route.takes))

    answers = [
        home.client.open(
            url, method=route.method, data=b"{}", content_type=other, headers=home.bearer(route.who[0])
        )
        for other in others
    ]

    assert len(others) >= 4
    assert {(answer.status_code, code(answer)) for answer in answers} == {(415, "unsupported_media_type")}


def test_a_large_body_that_finds_no_room_may_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "Room", lambda _: Room(0))
    large = squeezed(encode(batch(dark([1] * 2**20))))

    with site(tmp_path) as home:
        refused = home.post_bytes(large, Content_Encoding="gzip")
        taken = home.post(batch())

    assert (refused.status_code, code(refused)) == (503, "overloaded")
    assert refused.headers["Retry-After"] == "10"
    assert taken.status_code == 200
