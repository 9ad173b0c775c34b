"""This file estimates with OpenDP, whose measurements take a value each; what it estimates is not clipped."""

import math

import numpy as np
import opendp.prelude as dp

from benchmarks.accuracy.rivals.worker import Estimates

DISTRIBUTION = "opendp"
dp.enable_features("contrib")


def randomized_response(values: list[int], k: int, epsilon: float) -> Estimates:
    p = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    measure = dp.m.make_randomized_response(list(range(k)), p)
    counts = np.bincount([measure(value) for value in values], minlength=k)
    q = (1 - p) / (k - 1)
    return (counts / len(values) - q) / (p - q), None


def symmetric_unary(values: list[int], k: int, epsilon: float) -> Estimates:
    flipped = 2 / (math.exp(epsilon / 2) + 1)
    domain = dp.bitvector_domain(max_weight=1)
    measure = dp.m.make_randomized_response_bitvec(domain, dp.discrete_distance(), f=flipped)
    assert measure.map(1) <= epsilon * (1 + 1e-9)
    bits = np.packbits(np.eye(k, dtype=np.uint8), axis=1)
    reports = [measure(bits[value].tobytes()) for value in values]
    counts = dp.m.debias_randomized_response_bitvec(reports, flipped)
    return np.array(counts) / len(values), None


def mean(values: list[float], _: int, epsilon: float) -> Estimates:
    measure = dp.m.make_laplace(
        dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), 2 / epsilon
    )
    return [sum(measure(float(value)) for value in values) / len(values)], None


TASKS = {
    "randomized response": randomized_response,
    "symmetric unary": symmetric_unary,
    "mean on [-1, 1]": mean,
}
