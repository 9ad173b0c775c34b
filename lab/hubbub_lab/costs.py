"""This file takes a mechanism's times: for a report on a device, for reports and answers on a collector."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hubbub import registry
from hubbub.metric import Metric
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.crowds import KINDS

Clock = Callable[[], float]

REPORTS = 1_000  # added up at once
TIMES = 5  # of which the least counts


@dataclass(frozen=True, slots=True)
class Cost:
    """What a mechanism takes, in seconds on this machine.

    device: for one report. server: for one of 1,000 reports that are added up. answer: for an estimate.
    """

    device: float
    server: float
    answer: float


def cost(metric: Metric, *, clock: Clock = time.perf_counter) -> Cost:
    """Take the times of a metric's mechanism for made-up people."""
    mechanism, coins = registry.build(metric), system_coins()
    crowd = KINDS[metric.domain.kind].made_up(metric, REPORTS, np.random.default_rng(1))
    people = next(crowd.chunks(REPORTS))
    reports = mechanism.perturb(people, coins)
    tally = mechanism.tally(reports)
    return Cost(
        _least(clock, lambda: mechanism.perturb(people[:1], coins)),
        _least(clock, lambda: mechanism.tally(reports)) / REPORTS,
        _least(clock, lambda: mechanism.estimate(tally)),
    )


def _least(clock: Clock, work: Callable[[], object]) -> float:
    times = []
    for _ in range(TIMES):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)
