"""This file estimates with multi-freq-ldpy, which clips and rescales; its sums are read before that."""

from typing import Any

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE

from benchmarks.accuracy.rivals.worker import Estimates

DISTRIBUTION = "multi-freq-ldpy"


def randomized_response(values: list[int], k: int, epsilon: float) -> Estimates:
    reports = [GRR.GRR_Client(value, k, epsilon) for value in values]
    return _read(GRR, lambda: GRR.GRR_Aggregator_MI(reports, k, epsilon))


def symmetric_unary(values: list[int], k: int, epsilon: float) -> Estimates:
    reports = [UE.UE_Client(value, k, epsilon, False) for value in values]
    return _read(UE, lambda: UE.UE_Aggregator_MI(reports, epsilon, False))


def optimized_unary(values: list[int], k: int, epsilon: float) -> Estimates:
    reports = [UE.UE_Client(value, k, epsilon, True) for value in values]
    return _read(UE, lambda: UE.UE_Aggregator_MI(reports, epsilon, True))


def local_hashing(values: list[int], k: int, epsilon: float) -> Estimates:
    reports = [LH.LH_Client(value, k, epsilon, True) for value in values]
    return _read(LH, lambda: LH.LH_Aggregator_MI(reports, k, epsilon, True))


def subset_selection(values: list[int], k: int, epsilon: float) -> Estimates:
    reports = [SS.SS_Client(value, k, epsilon) for value in values]
    return _read(SS, lambda: SS.SS_Aggregator_MI(reports, k, epsilon))


def _read(module: Any, aggregate: Any) -> Estimates:
    """Aggregate, and keep what its estimator would say if it did not clip."""
    clipped, seen = module.MI, []

    def estimator(counts: Any, n: int, p: float, q: float) -> Any:
        seen.append((np.asarray(counts) / n - q) / (p - q))
        return clipped(counts, n, p, q)

    module.MI = estimator
    try:
        final = aggregate()
    finally:
        module.MI = clipped
    return seen[0], final


TASKS = {
    "randomized response": randomized_response,
    "symmetric unary": symmetric_unary,
    "optimized unary": optimized_unary,
    "local hashing": local_hashing,
    "subset selection": subset_selection,
}
