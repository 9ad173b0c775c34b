"""This file measures the collector over HTTP: what durability, many reports and slow clients cost."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from benchmarks.goals import Contest, Goal
from benchmarks.load import drive
from benchmarks.rivals import Rivals
from benchmarks.running import Running, running

DEVICES = 32  # connections at once, as many as the collector has threads
SINGLES = 2_000
GATEWAYS = 200
QUERIES = 200
SLOW = 200
FEW, MANY = 10_000, 10_000_000


@contextmanager
def _single(_: Rivals) -> Iterator[Contest]:
    with running() as server:
        yield Contest(
            lambda: _each(server, server.singles("/v1/batches", SINGLES)),
            lambda: _each(server, server.singles("/ignored", SINGLES)),
            "the same server ignoring its body",
        )


@contextmanager
def _single_tail(_: Rivals) -> Iterator[Contest]:
    with running() as server, running("alone") as alone:
        yield Contest(partial(_tail, server), partial(_tail, alone), "one commit a request")


@contextmanager
def _gateway(_: Rivals) -> Iterator[Contest]:
    with running() as server:
        yield Contest(
            lambda: _each(server, server.gateways("/v1/batches", GATEWAYS, reports=10_000), connections=4),
            lambda: _each(server, server.gateways("/ignored", GATEWAYS, reports=10_000), connections=4),
            "the same server ignoring its body",
        )


@contextmanager
def _query(_: Rivals) -> Iterator[Contest]:
    with running() as server:
        _fill(server, FEW, metric="few")
        _fill(server, MANY)
        yield Contest(
            lambda: _each(server, server.queries("many", QUERIES), connections=1),
            lambda: _each(server, server.queries("few", QUERIES), connections=1),
            "10^4 reports",
        )


@contextmanager
def _memory(_: Rivals) -> Iterator[Contest]:
    with running() as server, running() as small:
        _fill(server, MANY)
        _fill(small, FEW)
        yield Contest(
            lambda: max(server.resident_mebibytes() - small.resident_mebibytes(), 0.1),
            lambda: 64.0,
            "64 MiB",
            words="{:.1f} MiB".format,
        )


@contextmanager
def _slow(_: Rivals) -> Iterator[Contest]:
    with running() as server:

        def ours() -> float:
            with ExitStack() as stack:
                for _ in range(SLOW):
                    line = stack.enter_context(socket.create_connection(server.address))
                    line.sendall(
                        b"POST /v1/batches HTTP/1.1\r\nHost: slow\r\nContent-Length: 1000\r\n\r\nbegun"
                    )
                return _tail(server, connections=1)

        yield Contest(ours, partial(_tail, server, connections=1), "no slow connections")


def _fill(server: Running, reports: int, *, metric: str = "many") -> None:
    at_once = min(reports, 100_000)
    batches = server.gateways("/v1/batches", reports // at_once, reports=at_once, metric=metric)
    drive(server.address, batches, connections=4)


def _each(server: Running, requests: list[bytes], *, connections: int = DEVICES) -> float:
    return drive(server.address, requests, connections=connections).seconds / len(requests)


def _tail(server: Running, *, connections: int = DEVICES) -> float:
    return drive(server.address, server.singles("/v1/batches", SINGLES), connections=connections).p99


def goals() -> list[Goal]:
    """Return the goals of this file."""
    return [
        Goal("durable single POST, rate", "at least", 0.35, _single),
        Goal("durable single POST, p99", "at most", 0.25, _single_tail),
        Goal("durable batch of 10,000 reports, rate", "at least", 0.3, _gateway),
        Goal("estimate of 10^7 reports", "at most", 1.5, _query),
        Goal(f"p99 of a healthy device beside {SLOW} slow connections", "at most", 10, _slow),
        Goal("memory for 10^7 reports beyond that for 10^4", "at most", 1, _memory),
    ]
