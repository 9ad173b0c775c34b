"""This file measures how batches are perturbed: against the fastest peer, and exactly against unsafely."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from benchmarks.goals import Contest, Goal, contest_with_fastest
from benchmarks.pairs import Measure
from benchmarks.rivals import Rivals
from hubbub.coins import Coins
from hubbub.mechanism import Mechanism, Values
from hubbub.mechanisms.hadamard_response import HadamardResponse
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.mechanisms.subset_selection import SubsetSelection
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins

EPSILON = "1.0"
STEPS = 1024
NUMBERS = 300_000


@contextmanager
def _response(rivals: Rivals, *, k: int, coins: Coins) -> Iterator[Contest]:
    mechanism = RandomizedResponse(epsilon=EPSILON, k=k)
    ours = perturbing(mechanism, _categories(k, 1_000_000), coins)
    task = "perturb randomized response"
    yield contest_with_fastest(rivals, ours, task, ("multi_freq", "pure_ldp"), n=50_000, size=k)


@contextmanager
def _unary(rivals: Rivals, *, k: int, coins: Coins) -> Iterator[Contest]:
    mechanism = OptimizedUnary(epsilon=EPSILON, k=k)
    ours = perturbing(mechanism, _categories(k, 32_000_000 // k), coins)
    task = "perturb optimized unary"
    yield contest_with_fastest(rivals, ours, task, ("multi_freq", "pure_ldp"), n=2_000_000 // k, size=k)


@contextmanager
def _hadamard(rivals: Rivals, *, k: int, coins: Coins) -> Iterator[Contest]:
    mechanism = HadamardResponse(epsilon=EPSILON, k=k)
    ours = perturbing(mechanism, _categories(k, 1_000_000), coins)
    yield contest_with_fastest(rivals, ours, "perturb hadamard response", ("pure_ldp",), n=10_000, size=k)


@contextmanager
def _subsets(rivals: Rivals, *, k: int, coins: Coins) -> Iterator[Contest]:
    mechanism = SubsetSelection(epsilon=EPSILON, k=k)
    ours = perturbing(mechanism, _categories(k, 32_000_000 // k), coins)
    yield contest_with_fastest(rivals, ours, "perturb subset selection", ("multi_freq",), n=50_000, size=k)


@contextmanager
def _laplace(rivals: Rivals, *, peer: str) -> Iterator[Contest]:
    ours = _perturbing_numbers()
    yield contest_with_fastest(rivals, ours, "perturb laplace", (peer,), n=10_000, size=STEPS)


@contextmanager
def _laplace_and_unsafe(_: Rivals) -> Iterator[Contest]:
    generator = np.random.default_rng(1)
    values = generator.uniform(0, STEPS, NUMBERS)

    def unsafe() -> float:
        start = time.perf_counter()
        values + generator.laplace(0, STEPS, NUMBERS)
        return (time.perf_counter() - start) / NUMBERS

    yield Contest(_perturbing_numbers(), unsafe, "numpy's float noise (unsafe)")


def perturbing(mechanism: Mechanism, values: Values, coins: Coins) -> Measure:
    """Return a measure of the perturbing of a whole batch, in seconds a value."""

    def run() -> float:
        start = time.perf_counter()
        mechanism.perturb(values, coins)
        return (time.perf_counter() - start) / len(values)

    return run


def _perturbing_numbers() -> Measure:
    mechanism = Laplace(epsilon=EPSILON, low=0, high=STEPS, steps=STEPS)
    values = np.random.default_rng(1).uniform(0, STEPS, NUMBERS)
    return perturbing(mechanism, values, system_coins())


def _categories(k: int, n: int) -> Values:
    return np.random.default_rng(1).integers(0, k, n)


def goals() -> list[Goal]:
    """Return the goals of this file."""
    device, seeded = system_coins(), seeded_coins(1)
    response, unary, laplace = "perturb randomized response", "perturb optimized unary", "perturb laplace"
    hadamard, subsets = "perturb Hadamard response", "perturb subset selection"
    return [
        Goal(f"{response}, k=16, device coins", "at least", 20, partial(_response, k=16, coins=device)),
        Goal(f"{response}, k=1024, device coins", "at least", 50, partial(_response, k=1024, coins=device)),
        Goal(f"{response}, k=16, seeded coins", "at least", 45, partial(_response, k=16, coins=seeded)),
        Goal(f"{response}, k=1024, seeded coins", "at least", 120, partial(_response, k=1024, coins=seeded)),
        Goal(f"{unary}, k=64, seeded coins", "at least", 30, partial(_unary, k=64, coins=seeded)),
        Goal(f"{unary}, k=1024, seeded coins", "at least", 30, partial(_unary, k=1024, coins=seeded)),
        Goal(f"{hadamard}, k=1024, seeded coins", "at least", 400, partial(_hadamard, k=1024, coins=seeded)),
        Goal(f"{subsets}, k=128, seeded coins", "at least", 8, partial(_subsets, k=128, coins=seeded)),
        Goal(f"{laplace}, device coins, vector peer", "at least", 80, partial(_laplace, peer="opendp")),
        Goal(f"{laplace}, device coins, scalar peer", "at least", 80, partial(_laplace, peer="diffprivlib")),
        Goal(f"{laplace}, device coins, unsafe floats", "at most", 5, _laplace_and_unsafe),
    ]
