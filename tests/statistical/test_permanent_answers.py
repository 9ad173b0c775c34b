"""This file proves what permanent answers tell: of one device no more than its memo, of many the truth.

False alarms: a bound by Clopper and Pearson once in 10**6, a comparison by Z once in 10**9.
"""

import math
import os
import sqlite3
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.clopper_pearson import at_least, at_most
from hubbub.declaration import metric_of
from hubbub.longitudinal import Longitudinal
from hubbub.mechanism import Reports
from hubbub.metric import Metric
from hubbub.second_step import BitStep
from hubbub_client import schema
from hubbub_client.memo import Memory
from hubbub_client.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.client.lives import KINDS, quick_directory

CLAIM = 1.5  # epsilon
WEEKS = 104
ERROR = 5e-7  # of each of the two bounds that a verdict takes
every = pytest.mark.parametrize("kind", KINDS)
Lives = Callable[[int], Reports]  # what devices hold -> their reports, shape (devices, weeks, ...)


def asked(kind: str, **more: Any) -> Metric:
    own = {} if kind == "dbitflip" else {"parameters": {"first": "0.75"}}
    usual = {"kind": "choice", "options": ["no", "yes"], "epsilon": str(CLAIM), "mechanism": kind}
    return metric_of("asked", {**usual, **own, **more})


@cache
def built(kind: str) -> Longitudinal:
    mechanism = registry.build(asked(kind))
    assert isinstance(mechanism, Longitudinal)
    return mechanism


def shown(kind: str, lives: Lives) -> float:
    """Return the epsilon that devices show at least.

    By the event that all reports of one are nearly e^epsilon times as likely for "no" as for "yes", which by
    Neyman and Pearson tells the two apart best.
    """
    ratios = [[ratio(kind, ordered(kind, life).tobytes()) for life in lives(held)] for held in (0, 1)]
    hits = [sum(one > 0.9 * CLAIM for one in some) for some in ratios]
    devices = len(ratios[0])
    return math.log(at_least(hits[0], devices, ERROR) / at_most(hits[1], devices, ERROR))


def ordered(kind: str, reports: Reports) -> Reports:
    """Sort reports, or each bit of them, since their order tells nothing."""
    if not isinstance(getattr(built(kind), "step", None), BitStep):
        return np.sort(reports, axis=0)
    bits = np.sort(np.unpackbits(reports, axis=1, bitorder="little"), axis=0)
    return np.packbits(bits, axis=1, bitorder="little")


@cache
def ratio(kind: str, reports: bytes) -> float:
    """Return the logarithm of the likelihood ratio of one device's reports."""
    mechanism = built(kind)
    row = np.frombuffer(reports, mechanism.layout)
    return math.log(float(mechanism.sequence(0, row)) / float(mechanism.sequence(1, row)))


def on_a_disk(kind: str, devices: int, weeks: int, *, redrawn: bool = False) -> Lives:
    """Let devices answer from their files; redrawn: the fault of a new memo each week."""
    mechanism, metric, coins = built(kind), asked(kind), system_coins()

    def lives(held: int) -> Reports:
        with quick_directory() as top:
            connection = sqlite3.connect(top / "device.sqlite3")
            schema.create(connection)

            def report(own: bytes) -> Any:
                memos = Memory(connection, metric, own, mechanism).recall(held, coins)
                return mechanism.report(memos, coins)[0]

            ids = [[os.urandom(32) for _ in range(weeks if redrawn else 1)] for _ in range(devices)]
            told = np.array([[report(own[week % len(own)]) for week in range(weeks)] for own in ids])
            connection.close()
            return told.astype(mechanism.layout.base)

    return lives


def at_once(kind: str, devices: int, *, redrawn: bool = False) -> Lives:
    """Let many devices answer by the same law."""
    mechanism, coins = built(kind), seeded_coins(91)

    def lives(held: int) -> Reports:
        values = np.full(devices, held)
        memos = mechanism.memoize(values, coins)
        weeks = (
            mechanism.report(mechanism.memoize(values, coins, earlier=memos) if redrawn else memos, coins)
            for _ in range(WEEKS)
        )
        return np.stack(list(weeks), axis=1)

    return lives


@every
def test_all_reports_of_two_years_show_the_epsilon_of_their_memo_and_no_more(kind: str) -> None:
    lower = shown(kind, at_once(kind, 20_000))

    assert 0.85 * CLAIM <= lower <= CLAIM
    assert built(kind).bound(WEEKS).lower <= CLAIM


@pytest.mark.parametrize(
    ("devices", "weeks"), [(100, 20), pytest.param(400, WEEKS, marks=pytest.mark.torture)]
)
@every
def test_devices_that_answer_from_their_files_show_no_more(kind: str, devices: int, weeks: int) -> None:
    assert shown(kind, on_a_disk(kind, devices, weeks)) <= CLAIM


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "dbitflip"])
def test_memos_that_are_redrawn_are_caught(kind: str) -> None:
    assert shown(kind, at_once(kind, 1_000, redrawn=True)) > 2 * CLAIM


@pytest.mark.parametrize("kind", ["l_grr", pytest.param("rappor", marks=pytest.mark.torture)])
def test_memos_that_are_redrawn_on_devices_are_caught(kind: str) -> None:
    assert shown(kind, on_a_disk(kind, 100, WEEKS, redrawn=True)) > CLAIM
