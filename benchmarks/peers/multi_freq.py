"""This file does the tasks with multi-freq-ldpy, whose clients numba compiles, for one value a call."""

import random
from collections.abc import Callable
from typing import Any

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

DISTRIBUTION = "multi-freq-ldpy"
EPSILON = 1.0


def perturb_randomized_response(n: int, k: int) -> Callable[[], Any]:
    values = random.Random(1).choices(range(k), k=n)
    return lambda: [GRR_Client(value, k, EPSILON) for value in values]


def estimate_randomized_response(n: int, k: int) -> Callable[[], Any]:
    reports = perturb_randomized_response(n, k)()
    return lambda: GRR_Aggregator_MI(reports, k, EPSILON)


def perturb_optimized_unary(n: int, k: int) -> Callable[[], Any]:
    values = random.Random(1).choices(range(k), k=n)
    return lambda: [UE_Client(value, k, EPSILON, True) for value in values]


def estimate_optimized_unary(n: int, k: int) -> Callable[[], Any]:
    reports = perturb_optimized_unary(n, k)()
    return lambda: UE_Aggregator_MI(reports, EPSILON, True)


def perturb_subset_selection(n: int, k: int) -> Callable[[], Any]:
    values = random.Random(1).choices(range(k), k=n)
    return lambda: [SS_Client(value, k, EPSILON) for value in values]


def estimate_subset_selection(n: int, k: int) -> Callable[[], Any]:
    reports = perturb_subset_selection(n, k)()
    return lambda: SS_Aggregator_MI(reports, k, EPSILON)


def perturb_local_hashing(n: int, k: int) -> Callable[[], Any]:
    values = random.Random(1).choices(range(k), k=n)
    return lambda: [LH_Client(value, k, EPSILON, True) for value in values]


def estimate_local_hashing(n: int, k: int) -> Callable[[], Any]:
    reports = perturb_local_hashing(n, k)()
    return lambda: LH_Aggregator_MI(reports, k, EPSILON, True)


TASKS = {
    "perturb randomized response": perturb_randomized_response,
    "estimate randomized response": estimate_randomized_response,
    "perturb optimized unary": perturb_optimized_unary,
    "estimate optimized unary": estimate_optimized_unary,
    "perturb subset selection": perturb_subset_selection,
    "estimate subset selection": estimate_subset_selection,
    "perturb local hashing": perturb_local_hashing,
    "estimate local hashing": estimate_local_hashing,
}
