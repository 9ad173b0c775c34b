"""This file proves that who has an answer already is told so, and gets it anew as soon as it changed."""

import pytest
from werkzeug.test import TestResponse

from tests.server.site import Site, batch, dark

PATHS = [
    "/v1/estimates?metric=dark",
    "/v1/estimates?metric=dark&format=csv",
    "/v1/metrics",
    "/v1/metrics/notepad/dark",
    "/v1/manifests/notepad",
    "/v1/openapi.json",
]


def get(home: Site, path: str, **headers: str) -> TestResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return home.client.get(path, headers=home.bearer("analyst") | named)


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_that_is_known_already_is_not_sent_again(home: Site, path: str) -> None:
    first = get(home, path)

    again = get(home, path, If_None_Match=first.headers["ETag"])

    assert (first.status_code, again.status_code) == (200, 304)
    assert first.data
    assert not again.data
    assert all(again.headers[name] == first.headers[name] for name in ("ETag", "Cache-Control"))


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_is_kept_by_nobody_for_others_and_asked_about_each_time(home: Site, path: str) -> None:
    first = get(home, path)

    assert first.headers["Cache-Control"] == "no-cache, private"
    assert "Authorization" in first.headers["Vary"]


@pytest.mark.parametrize("path", PATHS)
def test_no_other_condition_changes_an_answer(home: Site, path: str) -> None:
    first = get(home, path)

    answer = get(
        home, path, If_Match='"other"', If_Unmodified_Since="Mon, 05 Jan 1970 00:00:00 GMT", Range="bytes=0-1"
    )

    assert (answer.status_code, answer.data) == (200, first.data)


def test_an_estimate_that_changed_is_sent(home: Site) -> None:
    home.post(batch(dark([1, 0])))
    first = get(home, PATHS[0])
    home.post(batch(dark([1])))

    again = get(home, PATHS[0], If_None_Match=first.headers["ETag"])

    assert again.status_code == 200
    assert again.headers["ETag"] != first.headers["ETag"]
    assert again.json["groups"][0]["answer"]["n"] == 3  # type: ignore[index]


def test_a_key_is_asked_for_before_anything_is_said_to_be_known(home: Site) -> None:
    tag = get(home, PATHS[0]).headers["ETag"]

    answer = home.client.get(PATHS[0], headers={"If-None-Match": tag})

    assert answer.status_code == 401


def test_a_refusal_has_no_tag(home: Site) -> None:
    answer = get(home, "/v1/estimates?metric=light")

    assert answer.status_code == 404
    assert "ETag" not in answer.headers
    assert answer.headers["Cache-Control"] == "no-store"
