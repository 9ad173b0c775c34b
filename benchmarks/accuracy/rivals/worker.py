"""This file runs one peer's whole collection again and again, and answers with its errors.

    $ echo '{"task": "randomized response", "values": [0, 0, 1], "k": 2, "epsilon": 1.0, "repeats": 2}' |
    > python -m benchmarks.accuracy.rivals.worker opendp
    {"version": "0.16.0", "raw": [0.91, 0.05], "final": null}

A task takes the values, k and epsilon and returns two estimates of the truth, as its peer's documentation
shows: one that is never clipped, and what the peer makes of it in the end, or None. An error is the sum of
squares over all categories, or the square for a mean.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np

Estimates: TypeAlias = tuple[Sequence[float], Sequence[float] | None]
Estimator: TypeAlias = Callable[[list[Any], int, float], Estimates]


def run(peer: str, request: dict[str, Any]) -> dict[str, Any]:
    """Repeat a task and return the errors of both estimates."""
    module = import_module(f"benchmarks.accuracy.rivals.{peer}")
    estimate: Estimator = module.TASKS[request["task"]]
    values, k, epsilon = request["values"], request["k"], request["epsilon"]
    truth = np.bincount(values, minlength=k) / len(values) if k else np.mean(values)
    np.random.seed(request.get("seed", 1))  # as far as the peer draws from it
    pairs = [estimate(values, k, epsilon) for _ in range(request["repeats"])]
    raw, final = zip(*pairs, strict=True)
    return {
        "version": version(module.DISTRIBUTION),
        "raw": _errors(raw, truth),
        "final": None if final[0] is None else _errors(final, truth),
    }


def _errors(estimates: Sequence[Any], truth: Any) -> list[float]:
    return [float(((np.asarray(estimate) - truth) ** 2).sum()) for estimate in estimates]


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")  # what a peer prints must not mix with the answer
    os.dup2(2, 1)
    print(json.dumps(run(sys.argv[1], json.load(sys.stdin))), file=answers, flush=True)
