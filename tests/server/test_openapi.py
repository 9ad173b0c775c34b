"""This file holds the app, the protocol's page and the OpenAPI document to one table of routes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from flask import Flask
from openapi_spec_validator import OpenAPIV31SpecValidator

from hubbub.declaration import KEYS
from hubbub_server.api.metric_table import MetricTable
from hubbub_server.api.openapi import description
from hubbub_server.api.route import Route
from hubbub_server.api.table import TABLE
from hubbub_server.keys import KINDS
from hubbub_server.problems import PROBLEMS
from tests.server.atlas import VECTORS
from tests.server.process import run
from tests.server.site import Site, code, site

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text("utf-8")
DOCUMENT: dict[str, Any] = json.loads(description())
ASKED = [f"{route.method} {route.path}" for route in TABLE]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One collector, which nothing here changes."""
    with site(tmp_path_factory.mktemp("described")) as running:
        yield running


def test_the_app_has_every_route_of_the_table_and_no_other(home: Site) -> None:
    assert sorted(routes_of(home.client.application)) == sorted(ASKED)


def test_the_page_has_every_route_of_the_table_in_its_order_with_who_may_ask() -> None:
    section = PAGE.partition("## Routes")[2]

    rows = re.findall(r"^\| `(\w+ /\S+)` \| ([a-z, ]+) \| .+ \|$", section, re.MULTILINE)

    assert rows == [
        (asked, ", ".join(route.who) or "none") for asked, route in zip(ASKED, TABLE, strict=True)
    ]


def test_the_document_is_openapi() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()


def test_the_document_has_every_route_of_the_table_and_no_two_of_one_name() -> None:
    operations = {
        f"{method.upper()} {path}": operation
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    }

    assert list(operations) == ASKED
    assert len({operation["operationId"] for operation in operations.values()}) == len(ASKED)


@pytest.mark.parametrize("route", TABLE, ids=ASKED)
@pytest.mark.parametrize("kind", ["none", *KINDS])
def test_who_may_ask_is_who_is_let_in(home: Site, route: Route, kind: str) -> None:
    headers = home.bearer(kind) if kind in KINDS else {}
    path = re.sub(r"\{\w+\}", "x", route.path)

    status = home.client.open(path, method=route.method, headers=headers).status_code

    let_in = not route.who or kind in route.who
    assert (status not in {401, 403}) == let_in
    assert (status == 401) == (not let_in and kind == "none")


@pytest.mark.parametrize(
    ("path", "heading"),
    [("/v1/estimates", "### Estimates"), ("/v1/reports", "### Reports"), ("/v1/suspicion", "### Suspicion")],
)
def test_the_page_names_every_parameter(path: str, heading: str) -> None:
    section = PAGE.partition(heading)[2].partition("\n### ")[0]
    (queries,) = [route.query for route in TABLE if route.path == path]

    assert [query.name for query in queries if f"`{query.name}`" not in section] == []


def test_the_routes_name_every_problem_that_there_is() -> None:
    named = {problem for route in TABLE for problem in route.codes}

    assert named == set(PROBLEMS)


def test_a_metric_is_described_with_every_key_that_a_manifest_may_have() -> None:
    described = DOCUMENT["components"]["schemas"]["MetricTable"]

    assert sorted(described["properties"]) == sorted(KEYS)
    assert described["required"] == ["kind", "epsilon"]


@pytest.mark.parametrize("vector", VECTORS["metrics"], ids=lambda vector: vector["name"])
def test_a_metric_of_every_mechanism_is_as_described(vector: dict[str, Any]) -> None:
    read = msgspec.convert(vector["manifest"], MetricTable)

    assert json.loads(msgspec.json.encode(read)) == vector["manifest"]


def test_anybody_is_given_the_document(home: Site) -> None:
    answer = home.client.get("/v1/openapi.json")

    assert (answer.status_code, answer.content_type) == (200, "application/json")
    assert answer.json == DOCUMENT


@pytest.mark.parametrize(
    "route",
    [route for route in TABLE if route.method == "GET" and not route.path.endswith("/signed")],
    ids=lambda route: route.path,
)
def test_an_answer_has_a_tag_where_the_table_says_so(home: Site, route: Route) -> None:
    path = route.path.format(app="notepad", metric="dark")
    asked = {query.name: "dark" for query in route.query if query.is_required}

    answer = home.client.get(path, query_string=asked, headers=home.bearer("admin"))

    assert (answer.status_code, "ETag" in answer.headers) == (200, route.has_tag)


def test_the_command_prints_the_document() -> None:
    assert json.loads(run("openapi")) == DOCUMENT


def test_the_document_tells_the_action_for_every_problem() -> None:
    told = json.dumps(DOCUMENT["components"]["responses"], ensure_ascii=False)

    assert all(f"{name}: {problem.action}" in told for name, problem in PROBLEMS.items())


def test_an_unknown_path_is_a_problem_too(home: Site) -> None:
    assert code(home.client.get("/v1/openapi.yaml")) == "not_found"


def routes_of(app: Flask) -> list[str]:
    """Return method and path of each rule, with parameters as OpenAPI writes them."""
    return [
        f"{method} " + re.sub(r"<(?:[a-z]+:)?([a-z]+)>", r"{\1}", rule.rule)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    ]
