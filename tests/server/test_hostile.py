"""This file proves that bad requests change nothing: not the estimates, and not what comes after them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from tests.server import malformed_admin, malformed_http, malformed_json
from tests.server.case import MARK, Case
from tests.server.site import Site, batch, code, site

CASES = [*malformed_json.cases(), *malformed_http.cases(), *malformed_admin.cases()]


@pytest.fixture(scope="module")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One collector for all of them, with small limits and something to protect."""
    directory: Path = tmp_path_factory.mktemp("besieged")
    with site(directory, largest_body=2**20, largest_inflated=4 * 2**20) as running:
        running.post(batch())
        yield running


def test_there_are_over_five_hundred_of_them_and_no_two_alike() -> None:
    names = {case.name for case in CASES}

    assert len(names) == len(CASES) > 500


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_bad_request_gets_a_problem_and_changes_nothing(besieged: Site, case: Case) -> None:
    before, counted = besieged.estimates(), besieged.counted("dark")

    answer = send(besieged, case)

    assert 400 <= answer.status_code < 500
    assert code(answer)
    assert MARK.encode() not in answer.data
    assert besieged.estimates() == before
    assert besieged.post(batch()).json == {"accepted": 3, "refused": [], "reasons": {}}
    assert besieged.counted("dark") == counted + 3


@pytest.mark.parametrize(
    ("method", "path", "key"),
    [
        ("GET", "/v1/manifests/a%00/signed", ""),
        ("GET", "/v1/manifests/a%00", "ingest"),
        ("GET", "/v1/manifests/%ED%A0%80/signed", ""),
        ("GET", "/v1/metrics/a%00", "analyst"),
        ("GET", "/v1/estimates?metric=a%00", "analyst"),
        ("DELETE", "/operations/v1/keys/%00", "admin"),
        ("POST", "/operations/v1/keys/%00/rotation", "admin"),
    ],
)
def test_a_name_that_is_none_is_refused_by_either_database(
    either: Site, method: str, path: str, key: str
) -> None:
    case = Case("", path=path, method=method, key=key, data=b'{"days":1}', form="application/json")

    assert send(either, case).status_code in {400, 404}


def test_a_method_that_is_not_allowed_names_those_that_are(home: Site) -> None:
    answer = home.client.delete("/v1/batches")

    assert (answer.status_code, code(answer)) == (405, "method_not_allowed")
    assert set(answer.headers["Allow"].split(", ")) == {"POST", "OPTIONS"}


def send(to: Site, case: Case) -> TestResponse:
    headers = (to.bearer(case.key) if case.key else {}) | case.headers
    return to.client.open(
        case.path, method=case.method, data=case.data, content_type=case.form, headers=headers
    )
