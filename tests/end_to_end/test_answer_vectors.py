"""This file proves that collector, device and vectors agree on what answers mean and lead to."""

import json
from pathlib import Path
from typing import Any

import pytest

from hubbub_client.sending.delivery import judge_batch, judge_withdrawal
from hubbub_client.sending.transport import Answer
from hubbub_server.problems import PROBLEMS, document

VECTORS = Path(__file__).parents[1] / "vectors"
ANSWERS: list[dict[str, Any]] = json.loads((VECTORS / "answers.json").read_text("utf-8"))["answers"]
JUDGES = {"batch": judge_batch, "withdrawal": judge_withdrawal}
THEN = {
    "counted": "sent",
    "drop": "refused",
    "withdrawn": "withdrawn",
    "stop": "kept",
    "wait": "waiting",
    "postpone": "postponed",
}


@pytest.mark.parametrize("vector", ANSWERS, ids=lambda vector: f"{vector['to']}: {vector['name']}")
def test_a_device_does_what_the_vector_says(vector: dict[str, Any]) -> None:
    answer = Answer(vector["status"], vector["body"].encode(), vector.get("retry_after"))

    verdict = JUDGES[vector["to"]](answer)

    assert (verdict.status, verdict.pause) == (THEN[vector["then"]], vector.get("pause"))


@pytest.mark.parametrize("code", PROBLEMS)
def test_every_problem_of_a_collector_is_among_the_answers_as_it_is_written(code: str) -> None:
    found = [vector for vector in ANSWERS if (vector["to"], vector["name"]) == ("batch", code)]

    assert [(vector["status"], vector["body"]) for vector in found] == [
        (PROBLEMS[code].status, document(code).decode())
    ]


def test_a_batch_is_dropped_exactly_where_the_table_says_so() -> None:
    said = {code for code, problem in PROBLEMS.items() if problem.action.startswith("Drop")}

    done = {vector["name"] for vector in ANSWERS if vector["then"] == "drop"} & set(PROBLEMS)

    assert done == said
