"""This file proves what permanent answers tell: of one device no more than its memo, of many the truth.

False alarms: a bound by Clopper and Pearson once in 10**6, a comparison by Z once in 10**9.
"""

import math
import os
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.combining import added, difference
from hubbub.declaration import metric_of
from hubbub.estimate import About, Floats
from hubbub.intervals import normal_quantile
from hubbub.longitudinal import Longitudinal
from hubbub.manifest import Manifest
from hubbub.mechanism import Reports
from hubbub.metric import Metric
from hubbub.second_step import BitStep
from hubbub_client import Client
from hubbub_client.answering.system_coins import system_coins
from hubbub_client.storage import schema
from hubbub_client.storage.memo import Memory
from hubbub_lab.clopper_pearson import at_least, at_most
from hubbub_lab.seeded_coins import seeded_coins
from tests.client.conftest import DAY, MONDAY, Clock
from tests.client.lives import KINDS, quick_directory
from tests.statistics import Z, far, far_in_variance

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


@pytest.mark.parametrize(
    ("devices", "share"), [(4_000, 0.65), pytest.param(20_000, 0.85, marks=pytest.mark.torture)]
)
@every
def test_all_reports_of_two_years_show_the_epsilon_of_their_memo_and_no_more(
    kind: str, devices: int, share: float
) -> None:
    lower = shown(kind, at_once(kind, devices))

    assert share * CLAIM <= lower <= CLAIM
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


PEOPLE, ROUNDS = 300, 1_000
CHANGED = np.arange(PEOPLE) % 5 == 0  # who holds something else later
EARLIER = np.arange(PEOPLE) * 7 % 10 * 4 // 9  # of five options
SOME_CHANGED, ALL_CHANGED = np.where(CHANGED, (EARLIER + 1) % 5, EARLIER), (EARLIER + 1) % 5


@cache
def errors(kind: str, later: tuple[int, ...], about: About) -> dict[str, tuple[Floats, Floats]]:
    """Ask the same people in two periods, over and over; return errors, and errors stated, of two answers.

    about: for the population, who is asked is drawn from these people anew each time.
    """
    more: dict[str, Any] = {} if kind == "dbitflip" else {"parameters": {"first": "1"}}
    mechanism = registry.build(asked(kind, options=list("abcde"), epsilon="2", **more))
    assert isinstance(mechanism, Longitudinal)
    coins, periods = seeded_coins(92), np.array([EARLIER, later])
    who = np.tile(np.arange(PEOPLE), ROUNDS)
    if about == "population":
        who = coins.generator.choice(PEOPLE, who.size)
    memos = [mechanism.memoize(EARLIER[who], coins)]
    states = [mechanism.state(held[who], memos[0]) for held in periods]
    changed = mechanism.memoize(periods[1][who], coins, earlier=memos[0])
    memos.append(
        np.where((states[0] == states[1]).reshape(-1, *[1] * (memos[0].ndim - 1)), memos[0], changed)
    )
    told = [np.split(mechanism.report(each, coins), ROUNDS) for each in memos]
    parts = [[(mechanism, mechanism.tally(some)) for some in week] for week in told]
    shares = [(held[:, None] == np.arange(5)).mean(axis=0) for held in periods]
    pairs = list(zip(*parts, strict=True))
    totals = [added(pair, are_correlated=True) for pair in pairs]
    changes = [difference(pair[1], pair[0], are_correlated=True) for pair in pairs]
    return {
        name: (
            np.array([one.values for one in found]) - truth,
            np.array([one.stderr(about) for one in found]),
        )
        for name, found, truth in (
            ("sum", totals, shares[0] + shares[1]),
            ("difference", changes, shares[1] - shares[0]),
        )
    }


@pytest.mark.parametrize("about", ["respondents", "population"])
@pytest.mark.parametrize("answer", ["sum", "difference"])
@every
def test_intervals_of_two_periods_hold_the_truth_where_some_change(
    kind: str, answer: str, about: About
) -> None:
    off, stated = errors(kind, tuple(SOME_CHANGED.tolist()), about)[answer]

    covered = (np.abs(off) <= normal_quantile(0.95) * stated).mean(axis=0)

    assert (far(off, np.zeros(5)) < Z).all()
    assert (covered > 0.95 - Z * math.sqrt(0.95 * 0.05 / ROUNDS) - 0.01).all()  # n = 300 is nearly normal
    assert ((off**2).mean(axis=0) < stated.mean(axis=0) ** 2 * (1 + Z * math.sqrt(3 / ROUNDS))).all()


@every
def test_the_error_of_a_sum_is_the_stated_one_where_nobody_changes(kind: str) -> None:
    off, stated = errors(kind, tuple(EARLIER.tolist()), "respondents")["sum"]

    assert (far_in_variance(off, (stated**2).mean(axis=0)) < Z).all()


@pytest.mark.parametrize("kind", ["l_grr", "l_osue", "rappor"])  # the others keep a hash, or buckets
def test_the_error_of_a_difference_is_the_stated_one_where_everybody_changes(kind: str) -> None:
    off, stated = errors(kind, tuple(ALL_CHANGED.tolist()), "respondents")["difference"]

    assert (far_in_variance(off, (stated**2).mean(axis=0)) < Z).all()


def plain_and_repeated() -> Manifest:
    """Ask a plain question each week, and two with memos: for every state, and for some of them."""
    wide = {"options": list("abc"), "changes": 1}
    metrics = (
        metric_of("plain", {"kind": "choice", "options": ["no", "yes"], "epsilon": "1"}),
        replace(asked("l_grr", changes=1), name="all", source="all"),
        replace(asked("l_osue", **wide), name="some", source="some"),
    )
    return Manifest(app="notepad", serial=1, metrics=metrics)


def held_by(device: int, week: int, options: int) -> int:
    """Tell what a device holds: 30 in a hundred the last option, and each fifth device changes once."""
    base = (device * 7 % 10 + 3) * options // 13
    return (base + 1) % options if device % 5 == 0 and week >= 3 else base


@pytest.mark.parametrize("devices", [40, pytest.param(1_000, marks=pytest.mark.torture)])
def test_devices_that_live_apart_give_unbiased_answers_about_each_week_and_about_two(devices: int) -> None:
    manifest, weeks = plain_and_repeated(), range(6)
    told: dict[tuple[bytes, int], list[bytes]] = {}
    with quick_directory() as top:
        for device in range(devices):
            clock = Clock()
            with Client.for_testing(manifest, data_dir=top / str(device), clock=clock) as client:
                for week in weeks:
                    clock.now = MONDAY + week * 7 * DAY + 5.0
                    for metric in manifest.metrics:
                        names = metric.domain.names
                        client.record(metric.name, names[held_by(device, week, len(names))])
                for entry in client.journal():
                    column = entry.batch.columns[0]
                    told.setdefault((column.metric, entry.starts), []).append(column.reports)

    far_off = []
    for metric in manifest.metrics:
        mechanism = registry.build(metric)
        options = np.arange(len(metric.domain.names))
        rows = [told[metric.id, MONDAY + week * 7 * DAY] for week in weeks]
        parts = [(mechanism, mechanism.tally(np.frombuffer(b"".join(row), mechanism.layout))) for row in rows]
        held = [[held_by(device, week, options.size) for device in range(devices)] for week in weeks]
        shares = [(np.array(some)[:, None] == options).mean(axis=0) for some in held]
        are_correlated = metric.name != "plain"
        answers = [
            *((mechanism.estimate(part[1]), share) for part, share in zip(parts, shares, strict=True)),
            (added(parts, are_correlated=are_correlated), sum(shares)),
            (difference(parts[-1], parts[0], are_correlated=are_correlated), shares[-1] - shares[0]),
        ]
        far_off += [np.abs(found.values - truth) / found.stderr("respondents") for found, truth in answers]

    assert {len(row) for row in told.values()} == {devices}
    assert max(map(max, far_off)) < Z
