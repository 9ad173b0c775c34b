"""This file counts how many of the 16 most frequent of many random strings prefix extension finds.

200,000 people hold 2,000 strings of 48 random bits, Zipf of exponent 1.3: the first is held by 27.9 %, the
sixteenth by 0.76 %. Everything is in it: the coins, the hashes, and the group that tells the shares of what
was found.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.tasks import Outcome, Task
from hubbub.mechanisms.prefix_extension import PrefixExtension
from hubbub_lab.seeded_coins import seeded_coins

GOALS = {"1": 0.19, "2": 0.39, "4": 0.88}  # mean recall, by epsilon
PEOPLE, STRINGS, SEEDS, TOP = 200_000, 2_000, 40, 16

Rows = NDArray[np.uint8]


def tasks() -> list[Task]:
    """Return a task for each epsilon, and one for the bias of what was found."""
    found = [
        Task(f"heavy hitters, epsilon {epsilon}, missed", partial(missed, epsilon, goal))
        for epsilon, goal in GOALS.items()
    ]
    return [*found, Task("heavy hitters, bias of the shares found", bias)]


def missed(epsilon: str, goal: float) -> Outcome:
    """Return the goal over the mean recall of the true top 16."""
    recalls = [recall for recall, _ in collections(epsilon, SEEDS)]
    mean, stderr = np.mean(recalls), np.std(recalls, ddof=1) / len(recalls) ** 0.5
    return Outcome(
        float(goal / mean), 1.0, f"recall {mean:.3f} +- {stderr:.3f}, {len(recalls)} seeds, goal {goal}"
    )


def bias() -> Outcome:
    """Return how far the shares of what was found lie from the truth on average, over 3 standard errors."""
    off = np.concatenate([off for _, off in collections("2", SEEDS)])
    stderr = off.std(ddof=1) / off.size**0.5
    words = f"mean error {off.mean():+.5f} +- {stderr:.5f} of {off.size} shares found at epsilon 2"
    return Outcome(float(abs(off.mean()) / (3 * stderr)), 1.0, words)


def collections(epsilon: str, seeds: int) -> Iterator[tuple[float, NDArray[np.float64]]]:
    """Yield the recall, and the errors of the shares found, of collections of other people and strings."""
    shares = np.arange(1.0, STRINGS + 1) ** -1.3 / np.sum(np.arange(1.0, STRINGS + 1) ** -1.3)
    mechanism = PrefixExtension(epsilon, 6)
    for seed in range(seeds):
        generator = np.random.default_rng(seed)
        strings = generator.integers(0, 256, (STRINGS, 6)).astype(np.uint8)
        counts = generator.multinomial(PEOPLE, shares)
        tally = mechanism.tally(mechanism.perturb(np.repeat(strings, counts, axis=0), seeded_coins(seed)))
        winners = mechanism.winners(tally)
        held = dict(zip(_keys(strings), counts.tolist(), strict=True))
        top = {_keys(strings)[place] for place in np.argsort(-counts, kind="stable")[:TOP]}
        told = mechanism.last(tally).shares([""] * len(winners), winners).values
        yield (
            len(top & set(_keys(winners))) / TOP,
            told - np.array([held.get(key, 0) / PEOPLE for key in _keys(winners)]),
        )


def _keys(rows: Rows) -> list[bytes]:
    return [row.tobytes() for row in rows]
