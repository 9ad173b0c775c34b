"""This file has schemathesis ask a running collector what its description allows, and what it does not."""

import json
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from schemathesis.config import (
    ChecksConfig,
    GenerationConfig,
    PositiveDataAcceptanceConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
)
from schemathesis.engine import events, from_schema

from hubbub_server.api.openapi import description
from hubbub_server.api.table import TABLE
from tests.server.process import Served, run

# What a request as described may be answered with: a schema knows no app, key, metric or period,
# and not that 1.0 is no integer.
UNKNOWN = ["2xx", "304", "400", "404", "409", "410", "422", "425"]


@dataclass(slots=True)
class Found:
    """What was asked, how it was answered, and what was wrong."""

    answers: dict[str, set[int]] = field(
        default_factory=lambda: {f"{route.method} {route.path}": set() for route in TABLE}
    )
    faults: list[str] = field(default_factory=list)


def fuzz(served: Served, *, examples: int, known: dict[str, str]) -> Found:
    """Ask every route in all ways that schemathesis thinks of, at most some times each.

    known: parameters by name, to be sent instead of what is made up.
    """
    spare = run("keys", "add", "ingest", "--config", str(served.directory / "hubbub.toml")).split("_")[2]
    known = known | {"number": spare}  # else it finds the keys that it uses, and revokes them
    api = schemathesis.openapi.from_dict(json.loads(description()), config=_config(served, examples, known))
    found = Found()

    @api.auth(refresh_interval=None)
    class Keys:
        """Send a key of the first kind that a route takes."""

        def get(self, case: schemathesis.Case, _: object) -> str:
            kinds = [kind for way in case.operation.definition.raw["security"] for kind in way["key"]]
            return served.keys[kinds[0]] if kinds else ""

        def set(self, case: schemathesis.Case, data: str, _: object) -> None:
            if data:
                case.headers = {**case.headers, "Authorization": f"Bearer {data}"}

    for event in from_schema(api).execute():
        match event:
            case events.ScenarioFinished(recorder=recorder):
                _note(recorder, found)
            case events.NonFatalError() | events.FatalError():
                found.faults.append(repr(event))
    return found


def _config(served: Served, examples: int, known: dict[str, str]) -> SchemathesisConfig:
    project = ProjectConfig(
        base_url=f"http://127.0.0.1:{served.port}",
        continue_on_failure=True,
        request_timeout=20,
        parameters=known,
        checks=ChecksConfig(positive_data_acceptance=PositiveDataAcceptanceConfig(expected_statuses=UNKNOWN)),
        generation=GenerationConfig(
            max_examples=examples, deterministic=True, no_shrink=True, with_security_parameters=False
        ),
    )
    return SchemathesisConfig(seed=1, projects=ProjectsConfig(default=project))


def _note(recorder: Any, found: Found) -> None:
    for number, interaction in recorder.interactions.items():
        asked = recorder.cases[number].value.operation.label
        answer = interaction.response
        if asked.startswith(f"{interaction.request.method} ") and answer:
            found.answers[asked].add(answer.status_code)
        found.faults += [
            f"{asked}: {check.name}: {answer and (answer.status_code, answer.content[:200])}: "
            f"{check.failure_info.failure}: {check.failure_info.code_sample[:1000]}"
            for check in recorder.checks.get(number, ())
            if check.failure_info
        ]
