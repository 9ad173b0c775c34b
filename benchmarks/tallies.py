"""This file measures the way from many reports to estimates, against the fastest peer."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from benchmarks.goals import Contest, Goal, contest_with_fastest
from benchmarks.pairs import Measure
from benchmarks.rivals import Rivals
from hubbub.mechanism import Mechanism, Reports
from hubbub.mechanisms.hadamard_response import HadamardResponse
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub_lab.seeded_coins import seeded_coins

EPSILON = "1.0"
PEERS = ("multi_freq", "pure_ldp")


@contextmanager
def _response(rivals: Rivals, *, k: int) -> Iterator[Contest]:
    mechanism = RandomizedResponse(epsilon=EPSILON, k=k)
    ours = estimating(mechanism, _reports(mechanism, k, 2_000_000))
    yield contest_with_fastest(rivals, ours, "estimate randomized response", PEERS, n=100_000, size=k)


@contextmanager
def _unary(rivals: Rivals, *, k: int) -> Iterator[Contest]:
    mechanism = OptimizedUnary(epsilon=EPSILON, k=k)
    ours = estimating(mechanism, _reports(mechanism, k, 128_000_000 // k))
    yield contest_with_fastest(rivals, ours, "estimate optimized unary", PEERS, n=6_000_000 // k, size=k)


@contextmanager
def _hadamard(rivals: Rivals, *, k: int) -> Iterator[Contest]:
    mechanism = HadamardResponse(epsilon=EPSILON, k=k)
    ours = estimating(mechanism, _reports(mechanism, k, 2_000_000))
    yield contest_with_fastest(rivals, ours, "estimate hadamard response", ("pure_ldp",), n=20_000, size=k)


def estimating(mechanism: Mechanism, reports: Reports) -> Measure:
    """Return a measure of the way from reports to an estimate, in seconds a report."""

    def run() -> float:
        start = time.perf_counter()
        estimate = mechanism.estimate(mechanism.tally(reports))
        assert estimate.values.size
        return (time.perf_counter() - start) / len(reports)

    return run


def _reports(mechanism: Mechanism, k: int, n: int) -> Reports:
    values = np.random.default_rng(1).integers(0, k, n)
    return mechanism.perturb(values, seeded_coins(1))


def goals() -> list[Goal]:
    """Return the goals of this file."""
    return [
        Goal("tally + estimate randomized response, k=16", "at least", 45, partial(_response, k=16)),
        Goal("tally + estimate packed optimized unary, k=64", "at least", 20, partial(_unary, k=64)),
        Goal("tally + estimate packed optimized unary, k=1024", "at least", 12, partial(_unary, k=1024)),
        Goal("tally + estimate Hadamard response, k=1024", "at least", 50, partial(_hadamard, k=1024)),
    ]
