"""This file proves what every answer tells a browser, and which pages of other origins may do what."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from tests.server.site import Site, batch, site

PAGE = "https://app.example"
REQUESTS = [
    ("GET", "/healthz"),
    ("GET", "/v1/metrics"),
    ("GET", "/no/such"),
    ("PUT", "/healthz"),
    ("OPTIONS", "/v1/batches"),
    ("POST", "/v1/batches"),
    ("GET", "/operations/stats"),
]


@pytest.fixture
def paged(tmp_path: Path) -> Iterator[Site]:
    with site(tmp_path, cors_origins=(PAGE, "https://other.example")) as running:
        yield running


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_every_answer_is_run_guessed_framed_and_kept_by_nobody(home: Site, method: str, path: str) -> None:
    answer = home.client.open(path, method=method)

    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers.getlist("Cache-Control") == ["no-store"]
    assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]


def preflight(home: Site, path: str, *, origin: str = PAGE) -> TestResponse:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,content-encoding",
    }
    return home.client.options(path, headers=headers)


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/batches", "OPTIONS, POST"),
        ("/v1/withdrawals", "OPTIONS, POST"),
        ("/v1/manifests/notepad/signed", "GET, HEAD, OPTIONS"),
        ("/healthz", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_page_of_a_named_origin_may_ask_before_it_sends(paged: Site, path: str, methods: str) -> None:
    answer = preflight(paged, path)

    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert answer.headers["Access-Control-Allow-Methods"] == methods
    assert answer.headers["Access-Control-Allow-Headers"] == "Authorization, Content-Encoding, Content-Type"
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert answer.headers["Vary"] == "Origin"


def test_a_page_of_a_named_origin_reads_the_answer_and_when_to_come_again(paged: Site) -> None:
    answer = paged.post(batch(), Origin=PAGE)
    refused = paged.post(batch(), Origin=PAGE, Authorization="Bearer nobody")

    assert (answer.status_code, refused.status_code) == (200, 401)
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert refused.headers["Access-Control-Allow-Origin"] == PAGE
    assert answer.headers["Access-Control-Expose-Headers"] == "Retry-After"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "https://app.example.evil.example", "null", "*", ""]
)
def test_a_page_of_another_origin_is_not_let_in(paged: Site, origin: str) -> None:
    answer = preflight(paged, "/v1/batches", origin=origin)

    assert "Access-Control-Allow-Origin" not in answer.headers
    assert answer.headers["Vary"] == "Origin"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/estimates",
        "/v1/metrics",
        "/v1/manifests/notepad",
        "/operations/v1/keys",
        "/operations/stats",
        "/no",
    ],
)
def test_no_page_reads_what_is_not_for_devices(paged: Site, path: str) -> None:
    asked = preflight(paged, path)
    read = paged.client.get(path, headers=paged.bearer("admin") | {"Origin": PAGE})

    assert not [name for name in (*asked.headers.keys(), *read.headers.keys()) if name.startswith("Access-")]


def test_every_origin_is_let_in_by_a_star(tmp_path: Path) -> None:
    with site(tmp_path, cors_origins=("*",)) as home:
        answer = home.post(batch(), Origin="https://anything.example")
        asked = preflight(home, "/v1/batches", origin="https://anything.example")

    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert asked.headers["Access-Control-Allow-Origin"] == "*"
    assert "Origin" not in answer.headers.get("Vary", "")
