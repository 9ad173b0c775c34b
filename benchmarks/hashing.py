"""This file measures local hashing against peers whose collectors hash every option for every report."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.goals import Contest, Goal, NotMeasuredError, contest_with_fastest
from benchmarks.randomizers import perturbing
from benchmarks.rivals import Rivals
from benchmarks.tallies import estimating
from hubbub.epsilon import Epsilon
from hubbub.mechanisms.local_hashing import LocalHashing, hashed_channel, total_variance
from hubbub_lab.seeded_coins import seeded_coins

EPSILON, K, REPORTS = "1.0", 1_024, 1_000_000
PEERS = ("multi_freq", "pure_ldp")
PEERS_G = round(math.e) + 1  # what both peers hash to
MOST_ERROR = 1.05


@contextmanager
def _estimating(rivals: Rivals) -> Iterator[Contest]:
    mechanism = LocalHashing(EPSILON, K)
    reports = mechanism.perturb(_values(), seeded_coins(1))
    contest = contest_with_fastest(
        rivals, estimating(mechanism, reports), "estimate local hashing", PEERS, n=400, size=K
    )
    theirs = hashed_channel(Epsilon.parse(EPSILON), PEERS_G)
    ratio = math.sqrt(float(total_variance(mechanism.channel, K) / total_variance(theirs, K)))
    if ratio > MOST_ERROR:
        raise NotMeasuredError(f"our root mean squared error is {ratio:.4f} of theirs")
    contest.notes.append(f"our root mean squared error is {ratio:.4f} of theirs, by the exact laws")
    yield contest


@contextmanager
def _perturbing(rivals: Rivals) -> Iterator[Contest]:
    ours = perturbing(LocalHashing(EPSILON, K), _values(), seeded_coins(1))
    yield contest_with_fastest(rivals, ours, "perturb local hashing", PEERS, n=50_000, size=K)


def _values() -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.random.default_rng(1).integers(0, K, REPORTS)


def goals() -> list[Goal]:
    """Return the goals of this file."""
    return [
        Goal("tally + estimate local hashing, k=1024, a million reports", "at least", 10_000, _estimating),
        Goal("perturb local hashing, k=1024, seeded coins", "at least", 50, _perturbing),
    ]
