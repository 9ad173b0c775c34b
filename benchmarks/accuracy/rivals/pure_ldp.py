"""This file estimates with pure-ldp, whose last step is the projection on the simplex."""

from typing import Any

from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

from benchmarks.accuracy.rivals.worker import Estimates

DISTRIBUTION = "pure-ldp"


def randomized_response(values: list[int], k: int, epsilon: float) -> Estimates:
    client, server = DEClient(epsilon, k, index_mapper=_same), DEServer(epsilon, k, index_mapper=_same)
    return _collect(client, server, values, k)


def symmetric_unary(values: list[int], k: int, epsilon: float) -> Estimates:
    client, server = UEClient(epsilon, k, index_mapper=_same), UEServer(epsilon, k, index_mapper=_same)
    return _collect(client, server, values, k)


def optimized_unary(values: list[int], k: int, epsilon: float) -> Estimates:
    client = UEClient(epsilon, k, use_oue=True, index_mapper=_same)
    return _collect(client, UEServer(epsilon, k, use_oue=True, index_mapper=_same), values, k)


def local_hashing(values: list[int], k: int, epsilon: float) -> Estimates:
    client = LHClient(epsilon, k, use_olh=True, index_mapper=_same)
    return _collect(client, LHServer(epsilon, k, use_olh=True, index_mapper=_same), values, k)


def hadamard_response(values: list[int], k: int, epsilon: float) -> Estimates:
    server = HadamardResponseServer(epsilon, k, index_mapper=_same)
    client = HadamardResponseClient(epsilon, k, server.get_hash_funcs(), index_mapper=_same)
    return _collect(client, server, values, k)


def _collect(client: Any, server: Any, values: list[int], k: int) -> Estimates:
    for value in values:
        server.aggregate(client.privatise(value))
    raw, final = (
        server.estimate_all(range(k), suppress_warnings=True, normalization=normalization) / len(values)
        for normalization in (0, 2)
    )
    return raw, final


def _same(index: int) -> int:
    return index


TASKS = {
    "randomized response": randomized_response,
    "symmetric unary": symmetric_unary,
    "optimized unary": optimized_unary,
    "local hashing": local_hashing,
    "hadamard response": hadamard_response,
}
