"""This file measures a simulation that draws everybody's tally at once against one that flips every coin."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from benchmarks.goals import Contest, Goal
from benchmarks.rivals import Rivals
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub_lab.seeded_coins import seeded_coins

PEOPLE = 10_000_000
REPEATS = 20  # one draw takes microseconds


@contextmanager
def _aggregate(_: Rivals, *, mechanism: Mechanism, k: int) -> Iterator[Contest]:
    coins = seeded_coins(1)
    values = np.random.default_rng(1).integers(0, k, PEOPLE)
    counts = np.bincount(values, minlength=k)

    def ours() -> float:
        start = time.perf_counter()
        for _ in range(REPEATS):
            mechanism.simulate(counts, coins)
        return (time.perf_counter() - start) / REPEATS

    def theirs() -> float:
        start = time.perf_counter()
        mechanism.tally(mechanism.perturb(values, coins))
        return time.perf_counter() - start

    yield Contest(ours, theirs, "every person's coins")


def goals() -> list[Goal]:
    """Return the goals of this file."""
    response, unary = RandomizedResponse(epsilon="1.0", k=16), OptimizedUnary(epsilon="1.0", k=16)
    who = "simulate 10^7 people"
    return [
        Goal(
            f"{who}, {mechanism.kind}, k=16", "at least", 1000, partial(_aggregate, mechanism=mechanism, k=16)
        )
        for mechanism in (response, unary)
    ]
