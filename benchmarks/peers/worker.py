"""This file runs one peer's tasks on request: a line of JSON asks, a line of JSON answers.

    $ python -m benchmarks.peers.worker opendp
    {"version": "0.16.0"}
    {"task": "perturb laplace", "n": 1000, "size": 1024}
    {"seconds": [0.0067]}

It needs the standard library and the peer only. The input of a task is made once, and one small run before
the first that counts keeps imports and compilation out of the figures.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any, TextIO

WARM_UP = 10


def serve(peer: str, requests: TextIO, answers: TextIO) -> None:
    """Answer requests until they end; a fault is answered too, in words."""

    def answer(facts: dict[str, Any]) -> None:
        print(json.dumps(facts), file=answers, flush=True)

    try:
        module = import_module(f"benchmarks.peers.{peer}")
        answer({"version": version(module.DISTRIBUTION)})
    except Exception as error:
        answer({"error": f"{type(error).__name__}: {error}"})
        return
    prepared: dict[tuple[str, int, int], Callable[[], Any]] = {}
    for line in requests:
        request = json.loads(line)
        key = (request["task"], request["n"], request["size"])
        try:
            if key not in prepared:
                make = module.TASKS[request["task"]]
                make(WARM_UP, request["size"])()
                prepared[key] = make(request["n"], request["size"])
            answer({"seconds": [_time(prepared[key]) for _ in range(request.get("repeats", 1))]})
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}"})


def _time(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")  # what a peer prints must not mix with the answers
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin, answers)
