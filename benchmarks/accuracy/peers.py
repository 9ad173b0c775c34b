"""This file sets our estimates beside those of peers: the same values, n and epsilon, a line a task.

Ours are by the planner's choice: the raw estimate beside their unclipped one, and the better view beside what
they end with. What is judged is an upper bound of the ratio of mean errors, wrong once in a thousand.
"""

import json
import math
import os
import subprocess
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.tasks import Outcome, Task
from benchmarks.rivals import INTERPRETER, ROOT, RivalError
from hubbub import registry
from hubbub.consistency import View, viewed
from hubbub.domains.choice import Choice
from hubbub.domains.number import Number
from hubbub.estimate import Estimate, Floats
from hubbub.mechanism import Mechanism
from hubbub.planning import best
from hubbub_lab.seeded_coins import seeded_coins

LIMIT = 1.03
SURE = 3.09  # standard errors: a normal variable is further up once in a thousand
REPEATS = {("multi_freq", "subset selection"): 10_000}  # as good as ours, so that more are needed to tell
DEFAULT_REPEATS = 1_000
PEERS = {
    "pure_ldp": (
        "randomized response",
        "symmetric unary",
        "optimized unary",
        "local hashing",
        "hadamard response",
    ),
    "multi_freq": (
        "randomized response",
        "symmetric unary",
        "optimized unary",
        "local hashing",
        "subset selection",
    ),
    "opendp": ("randomized response", "symmetric unary", "mean on [-1, 1]"),
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and of whom: k categories, or a number from -1 to 1 if k is 0."""

    k: int
    n: int
    epsilon: str

    @property
    def values(self) -> NDArray[Any]:
        """What people hold: categories by the law of Zipf, or numbers spread evenly."""
        if not self.k:
            return np.linspace(-1, 1, self.n)
        weights = 1 / np.arange(1, self.k + 1)
        counts = np.floor(np.cumsum(weights / weights.sum()) * self.n + 0.5).astype(int)
        return np.repeat(np.arange(self.k), np.diff(counts, prepend=0))


SHARES = Question(16, 2_000, "1")
FEW = Question(16, 200, "1")  # OpenDP takes a third of a millisecond for a row of bits
MEAN = Question(0, 2_000, "1")


def tasks() -> list[Task]:
    """Return two tasks for each of a peer's mechanisms: raw, and final where the peer has more than that."""
    return [
        Task(f"{estimate} beside {peer}, {task}", partial(compare, peer, task, estimate))
        for peer, found in PEERS.items()
        for task in found
        for estimate in ("raw", "final")
        if estimate == "raw" or peer != "opendp"
    ]


def compare(peer: str, task: str, estimate: str) -> Outcome:
    """Compare the mean errors of one kind of estimate.

    Raises RivalError if the peer is not there, or fails.
    """
    question = MEAN if task.startswith("mean") else FEW if peer == "opendp" else SHARES
    repeats = REPEATS.get((peer, task), DEFAULT_REPEATS)
    theirs, ours = (
        _theirs(peer, task, question, repeats)[estimate],
        _ours(question, 20 * DEFAULT_REPEATS)[estimate],
    )
    ratio = ours.mean() / theirs.mean()
    spread = math.sqrt(
        sum(errors.var(ddof=1) / errors.size / errors.mean() ** 2 for errors in (ours, theirs))
    )
    return Outcome(
        ratio * (1 + SURE * spread),
        LIMIT,
        f"{ratio:.4f} +- {ratio * spread:.4f} in {theirs.size:,} repeats, {question.n:,} people, epsilon "
        f"{question.epsilon}{f', k = {question.k}' if question.k else ''}",
    )


@cache
def _ours(question: Question, repeats: int) -> dict[str, Floats]:
    domain = Choice(tuple(map(str, range(question.k)))) if question.k else Number(Decimal(-1), Decimal(1))
    mechanism, values, coins = (
        registry.build(best(domain, question.epsilon).metric),
        question.values,
        seeded_coins(1),
    )
    truth = np.bincount(values) / question.n if question.k else np.array([values.mean()])
    estimates = [_estimate(mechanism, values, coins) for _ in range(repeats)]
    made = [[each.values[: truth.size] for each in estimates]]
    made += [[viewed(each, view) for each in estimates] for view in get_args(View) if question.k]
    raw, *views = (((np.array(some) - truth) ** 2).sum(axis=1) for some in made)
    return {"raw": raw, "final": min(views, key=np.mean, default=raw)}


def _estimate(mechanism: Mechanism, values: NDArray[Any], coins: Any) -> Estimate:
    inputs = mechanism.inputs(values, coins)
    tally = (
        mechanism.simulate(np.bincount(inputs, minlength=int(values.max()) + 1), coins)
        if inputs.ndim == 1
        else None
    )
    return mechanism.estimate(tally or mechanism.tally(mechanism.perturb(values, coins)))


@cache
def _theirs(peer: str, task: str, question: Question, repeats: int) -> dict[str, Floats]:
    facts = {"task": task, "values": question.values.tolist(), "k": question.k, "repeats": repeats}
    request = json.dumps(facts | {"epsilon": float(question.epsilon)})
    try:
        done = subprocess.run(
            [INTERPRETER, "-m", "benchmarks.accuracy.rivals.worker", peer],
            input=request, capture_output=True, text=True, check=True, cwd=ROOT,
            env=os.environ | {"PYTHONWARNINGS": "ignore"},
        )  # fmt: skip
    except OSError as error:
        raise RivalError(f"no environment for peers ({error.strerror}): make .venv-bench/installed") from None
    except subprocess.CalledProcessError as error:
        raise RivalError(f"{peer}: {error.stderr.strip().splitlines()[-1]}") from None
    answer = json.loads(done.stdout)
    return {name: np.array(answer[name]) for name in ("raw", "final") if answer[name]}
