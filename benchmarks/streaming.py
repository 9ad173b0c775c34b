"""This file streams a million reports about 65,536 options through one core, and watches the memory it takes.

    $ python -m benchmarks.streaming 1
    {"mechanism": "projective_geometry", "seconds": 0.76, "peak": 0.054, "reports": 1000000, ...}

Each run is a process of its own, whose peak is the operating system's figure for it.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from benchmarks.goals import Contest, Goal
from benchmarks.pairs import duration
from benchmarks.rivals import ROOT, Rivals
from hubbub import registry
from hubbub.domains.choice import Choice
from hubbub.planning import best
from hubbub_client.answering.system_coins import system_coins

K, REPORTS, CHUNK = 65_536, 1_000_000, 1 << 16
MOST = 1.0  # GiB


def main(epsilon: str) -> None:
    """Plan, perturb, tally and estimate, and print what that took; "peak" is in GiB."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core
    mechanism = registry.build(best(Choice(tuple(f"option {i}" for i in range(K))), epsilon).metric)
    generator, coins = np.random.default_rng(1), system_coins()
    start = time.perf_counter()
    total = mechanism.tally(mechanism.perturb(np.zeros(0, dtype=np.int64), coins))
    for first in range(0, REPORTS, CHUNK):
        values = generator.integers(0, K, min(CHUNK, REPORTS - first))
        total += mechanism.tally(mechanism.perturb(values, coins))
    shares = mechanism.estimate(total).values
    facts = {
        "mechanism": mechanism.kind,
        "seconds": time.perf_counter() - start,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "reports": total.n,
        "error": float(np.sqrt(((shares - 1 / K) ** 2).mean())),
        "promised": mechanism.stderr(total.n, frequency=1 / K),
    }
    print(json.dumps(facts))


@contextmanager
def _streaming(_: Rivals, *, epsilon: str) -> Iterator[Contest]:
    facts = _run(epsilon)
    notes = [
        f"{facts['mechanism']}: {duration(facts['seconds'])} for perturb, tally and estimate on one core",
        f"root mean squared error {facts['error']:.3g}, promised {facts['promised']:.3g}",
    ]
    yield Contest(lambda: _run(epsilon)["peak"], lambda: MOST, "1 GiB", notes, lambda size: f"{size:.3f} GiB")


def _run(epsilon: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.streaming", epsilon],
        cwd=ROOT, text=True, capture_output=True, check=True,
    )  # fmt: skip
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def goals() -> list[Goal]:
    """Return the goals of this file."""
    return [
        Goal(
            f"peak memory of a million streamed reports, k=65536, epsilon={epsilon}",
            "at most",
            1,
            partial(_streaming, epsilon=epsilon),
        )
        for epsilon in ("1", "4")
    ]


if __name__ == "__main__":
    main(sys.argv[1])
