"""This file does the tasks with pure-ldp, which has a client and a server object for each oracle."""

import random
from collections.abc import Callable
from typing import Any

from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

DISTRIBUTION = "pure-ldp"
EPSILON = 1.0


def perturb_randomized_response(n: int, k: int) -> Callable[[], Any]:
    values = random.Random(1).choices(range(k), k=n)
    client = DEClient(EPSILON, k, index_mapper=_same)
    return lambda: [client.privatise(value) for value in values]


def estimate_randomized_response(n: int, k: int) -> Callable[[], Any]:
    reports = perturb_randomized_response(n, k)()
    return lambda: _estimate(DEServer(EPSILON, k, index_mapper=_same), reports, k)


def perturb_optimized_unary(n: int, k: int) -> Callable[[], Any]:
    values = random.Random(1).choices(range(k), k=n)
    client = UEClient(EPSILON, k, use_oue=True, index_mapper=_same)
    return lambda: [client.privatise(value) for value in values]


def estimate_optimized_unary(n: int, k: int) -> Callable[[], Any]:
    reports = perturb_optimized_unary(n, k)()
    return lambda: _estimate(UEServer(EPSILON, k, use_oue=True, index_mapper=_same), reports, k)


def perturb_hadamard_response(n: int, k: int) -> Callable[[], Any]:
    values = random.Random(1).choices(range(k), k=n)
    client = HadamardResponseClient(EPSILON, k, None, index_mapper=_same)
    return lambda: [client.privatise(value) for value in values]


def estimate_hadamard_response(n: int, k: int) -> Callable[[], Any]:
    reports = perturb_hadamard_response(n, k)()
    return lambda: _estimate(HadamardResponseServer(EPSILON, k, index_mapper=_same), reports, k)


def perturb_local_hashing(n: int, k: int) -> Callable[[], Any]:
    values = random.Random(1).choices(range(k), k=n)
    client = LHClient(EPSILON, k, use_olh=True, index_mapper=_same)
    return lambda: [client.privatise(value) for value in values]


def estimate_local_hashing(n: int, k: int) -> Callable[[], Any]:
    reports = perturb_local_hashing(n, k)()
    return lambda: _estimate(LHServer(EPSILON, k, use_olh=True, index_mapper=_same), reports, k)


def _estimate(server: Any, reports: list[Any], k: int) -> Any:
    for report in reports:
        server.aggregate(report)
    return server.estimate_all(range(k), suppress_warnings=True)


def _same(index: int) -> int:
    return index


TASKS = {
    "perturb randomized response": perturb_randomized_response,
    "estimate randomized response": estimate_randomized_response,
    "perturb optimized unary": perturb_optimized_unary,
    "estimate optimized unary": estimate_optimized_unary,
    "perturb hadamard response": perturb_hadamard_response,
    "estimate hadamard response": estimate_hadamard_response,
    "perturb local hashing": perturb_local_hashing,
    "estimate local hashing": estimate_local_hashing,
}
